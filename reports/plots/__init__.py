"""Pictures of runs and comparisons as SVG and PNG, in one style; matplotlib is imported only when one is drawn.

Imported by drivers: `history`, `speedup_bars`, `scaling`, `tour`, `style` (`user_pyplot`).
Figures of papers do not belong here: see `reports.papers.plots`.
"""
