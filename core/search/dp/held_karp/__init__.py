"""Tours by dynamic programming: Held and Karp's recursion, and the best tour of Balas and Simonetti's neighbourhood.

Other packages import `search` and `balas_simonetti`.
Exact search without tables is in `core.search.exact`.
"""
