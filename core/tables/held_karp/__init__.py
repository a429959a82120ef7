"""Tours by dynamic programming: Held and Karp's recursion, and the best tour of Balas and Simonetti's neighbourhood.

`HeldKarp` makes a `HeldKarpPlan` of the rows of all ranks, fills `HeldKarpLayers`, joins both halves and traces a
`ShortestTour`. `BalasSimonettiSearch` searches the `TourNeighbourhood` of a start tour.

Other packages import `search` and `balas_simonetti`.
Exact search without tables is in `core.exact`.
"""
