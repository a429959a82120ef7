"""The 0-1 knapsack problem: table over capacities, trace, ranks, checkpoints; branch and bound; an expanding core.

Other packages import `search`, `branch_and_bound` and `expanding_core`.
Instances and their scorer belong to `core.problems`, kernels to `core.kernels.dp`.
"""
