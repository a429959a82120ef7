"""Pages of reports: comparison, overview, paper, ranks and gallery.

Each module takes compared runs, renders Markdown by `markdown.fill` with `templates/`, and writes it with its plots
into a folder; `terminal` prints the tables of a comparison. Computations from records belong in `reports.comparison`
and `reports.papers`.
"""
