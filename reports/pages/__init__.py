"""Pages of reports: comparison, overview, paper, ranks, search statistics, cluster model, gallery and results.

Drivers import `experiment`, `overview`, `paper`, `terminal` and `cluster_model`. `templates/` has the templates.
What a page computes from records does not belong here: see `reports.comparison` and `reports.papers`.
"""
