"""The 0-1 knapsack problem: table over capacities, trace, ranks and checkpoints; and branch and bound on one lane.

Other packages import `search` and `branch_and_bound`.
Instances and their scorer belong to `core.problems`, kernels to `core.kernels.dp`.
"""
