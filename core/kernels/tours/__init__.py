"""Iterated local search for tours of up to 10^5 cities: 2-opt and Or-3opt moves over neighbour lists.

`or_opt` has the kernel and the walks, `three_opt` the moves, `tour_array` the tour and its queue of cities.
"""
