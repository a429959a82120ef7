"""Pictures of runs and comparisons as SVG and PNG, in one style; matplotlib is imported only when one is drawn.

A function takes compared runs or histories, and writes files by `style.draw`, or draws into axes of the caller.

Imported by drivers: `history`, `speedup_bars`, `scaling`, `tour`, `style` (`user_pyplot`).
Figures of papers do not belong here: see `reports.papers.plots`.
"""
