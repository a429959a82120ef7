"""Pages of reports: comparison, overview, paper, ranks, search statistics, cluster model, gallery and results.

Drivers import `experiment`, `overview`, `paper`, `terminal` and `cluster_model`. `templates/` has the templates.
Computations from records belong in `reports.comparison` and `reports.papers`.
"""
