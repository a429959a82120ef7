"""Permutation flow shop: one order of jobs on all machines with the least makespan.

Others import `problem` (class `FlowShop`); `shops` has instances, Taillard's generator and the scorer. Other scheduling
problems do not belong here.
"""
