"""Generic engines for recurrences by waves, grids and cells, with packed decisions and host memory.

A problem derives from `Waves`, `Diagonals` or `Grid`. `WaveEngine` computes it by `PublishedWaves` or `GridTiles`,
and returns a `WaveResult`. `DecisionRows` stores choices. A `TableSearch` chooses a `TableStrategy`.

Only `core.tables` imports these modules; users of the engines import `core.tables`.
Nothing here knows one of the problems.
"""
