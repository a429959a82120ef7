"""Generic engines for recurrences by waves, grids and cells, with packed decisions, host memory and row checkpoints.

Only `core.search.dp` imports these modules; users of the engines import `core.search.dp`.
Nothing here knows one of the problems.
"""
