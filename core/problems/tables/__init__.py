"""Problems for dynamic programming: 0-1 knapsack instances, and pairs of strings for a common subsequence.

A `Knapsack` or a `StringPair` is an instance with its scorer; others import both modules, `knapsack` and `strings`.
`core.kernels` and `core.search.dp` compute the tables.
"""
