"""Problems for dynamic programming: 0-1 knapsack instances, and pairs of strings for a common subsequence.

Others import both modules, `knapsack` and `strings`: instances, scorers, generators and readers.
The tables themselves are computed by `core.kernels` and `core.search.dp`.
"""
