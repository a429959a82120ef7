"""Exact search for shortest tours: enumeration (`xavier2022`), and branch and bound with 1-trees (Held and Karp).

Lanes take items from a worklist (`Worklist`, or open nodes of a `TreeSearch`), share the `TourSearch` with the least
length, and write each their `BestTour`.

`published_search` has the thesis' own mapping; `core.search.exact` launches the kernels.
Dynamic programming for tours is in `core.kernels.dp`; splitting of work over ranks is in `core.search.exact`.
"""
