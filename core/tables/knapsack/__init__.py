"""The 0-1 knapsack problem: table over capacities, trace, ranks; branch and bound; an expanding core.

`KnapsackSearch` chooses a `KnapsackTable`, or two `KnapsackHalf` tables on two ranks, and returns a `Selection`.
`KnapsackBranchAndBound` and `KnapsackCore` are a `OneLaneSearch` each and return the same type. `problem` has the
items, their readers and the scorer.

Other packages import `search`, `branch_and_bound`, `expanding_core` and `problem`.
"""
