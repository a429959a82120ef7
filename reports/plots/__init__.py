"""Pictures of runs and comparisons as SVG and PNG, in one style; matplotlib is imported only for drawing.

A function takes rates or histories, and writes files by `style.draw`, or draws into the caller's axes. Figures
of papers belong in `reports.papers.plots`.
"""
