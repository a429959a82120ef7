"""The 0-1 knapsack problem: table over capacities, trace, ranks; branch and bound; an expanding core.

`KnapsackSearch` runs passes over a `KnapsackTable`, or two `KnapsackHalf` tables on two ranks, and traces a
`Selection`. `KnapsackBranchAndBound` and `KnapsackCore` return the same type.

Other packages import `search`, `branch_and_bound` and `expanding_core`.
Instances and their scorer belong to `core.problems`, kernels to `core.kernels.dp`.
"""
