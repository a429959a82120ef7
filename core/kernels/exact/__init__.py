"""Exact search for shortest tours: enumeration (`xavier2022`), and branch and bound with 1-trees (Held and Karp).

`published_search` has the thesis' own mapping; `core.search.exact` launches the kernels.
Dynamic programming for tours is in `core.kernels.dp`; splitting of work over ranks is in `core.search.exact`.
"""
