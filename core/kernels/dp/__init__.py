"""Dynamic programming (`oconnell2014`): wavefronts and grids, strings, knapsacks, Held-Karp and restricted tours.

A kernel reads a bundle with the problem (`PaddedStrings`, `Passes`, `Sets`) and rows of the table. It writes the next
rows and packed choices. Trace kernels read the choices backwards.

`core.search.dp` launches the kernels; users' recurrences take `grid.Near` and `waves.Window`.
Branch and bound for knapsacks (`knapsack_branch_and_bound`) is here with the other knapsack kernels; host code is not.
"""
