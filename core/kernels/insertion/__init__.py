"""Iterated greedy search of orders: elements are removed, and inserted again where they cost least.

`order_walk` has the state of a walk, `iterated_greedy` the kernels, made for a problem's costs of insertions.
Neighbourhoods that are scanned move by move belong to `local_search`.
"""
