"""Iterated greedy search of orders: elements are removed, and inserted again at the cheapest position.

`order_walk` has the state of a walk. `iterated_greedy` makes the kernels from a problem's costs of insertions.
Neighbourhoods that are scanned move by move belong to `local_search`.
"""
