"""Pages of reports: comparison, overview, paper, ranks, search statistics, cluster model, gallery and results.

Drivers import `experiment`, `overview`, `paper`, `terminal`, `cluster_model`. Templates are in `reports/pages/templates`.
What a page computes from records does not belong here: see `reports.comparison` and `reports.papers`.
"""
