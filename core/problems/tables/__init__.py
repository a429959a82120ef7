"""Problems for dynamic programming: 0-1 knapsack instances, and pairs of strings for a common subsequence.

A `Knapsack` or a `StringPair` is an instance: a reader or generator makes it, a search computes on it, and its scorer
checks the result.

Others import both modules, `knapsack` and `strings`: instances, scorers, generators and readers.
The tables themselves are computed by `core.kernels` and `core.search.dp`.
"""
