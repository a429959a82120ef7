"""Pictures of runs and comparisons as SVG and PNG, in one style; matplotlib is imported only for drawing.

A function takes rates, cells of an exhibit or histories, and writes files by `style.draw`, or draws into the caller's
axes.
"""
