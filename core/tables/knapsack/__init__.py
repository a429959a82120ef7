"""The 0-1 knapsack problem: table over capacities, trace, ranks; branch and bound; an expanding core.

`KnapsackSearch` runs passes over a `KnapsackTable`, or two `KnapsackHalf` tables on two ranks, and traces a
`Selection`. `KnapsackBranchAndBound` and `KnapsackCore` return the same type. `problem` has the items, their readers
and the scorer.

Other packages import `search`, `branch_and_bound`, `expanding_core` and `problem`.
"""
