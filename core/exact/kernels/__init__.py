"""Exact search for shortest tours: enumeration (`xavier2022`), and branch and bound with 1-trees (Held and Karp).

Lanes take items from a worklist (`Worklist`, or open nodes of a `TreeSearch`) and share the least length in a
`TourSearch`. Each lane writes its `BestTour`.

`published_search` has the mapping of the thesis.
"""
