"""The 0-1 knapsack problem: table over capacities, trace, ranks and checkpoints; and branch and bound on one lane.

Other packages import `search`, `branch_and_bound` and, for the paper's mapping, `diagonals`.
Instances and their scorer belong to `core.problems`.
"""
