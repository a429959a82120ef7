"""Pages of reports: comparison, overview, paper, ranks and gallery.

Each module takes records or rates, renders Markdown by `markdown.fill` with `templates/`, and writes it with its
plots into a folder. Computations from records belong in `reports.rates` and `reports.papers`.
"""
