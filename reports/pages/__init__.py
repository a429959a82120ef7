"""Pages of reports: comparison, overview, paper, ranks, search statistics, cluster model, gallery and results.

Each module takes compared runs, renders Markdown by `markdown.fill` and writes it with its plots into a folder;
`terminal` prints the tables of a comparison.

Drivers import `experiment`, `overview`, `paper`, `terminal` and `cluster_model`. `templates/` has the templates.
Computations from records belong in `reports.comparison` and `reports.papers`.
"""
