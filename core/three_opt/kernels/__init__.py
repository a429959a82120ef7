"""Iterated local search for tours of up to 10^5 cities: 2-opt and Or-3opt moves over neighbour lists.

`or_opt` has the walks, `three_opt` the moves and descents by them, `chains` further edges of a move, `tour_array` the
tour and its queue of cities.
"""
