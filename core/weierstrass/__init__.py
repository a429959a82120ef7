"""Weierstrass function, a continuous problem: float64 scorer, and the problem for local search.

Others import `problem` (class `Weierstrass`) and `scorer` (instance, value and cost). Other continuous problems do not
belong here.
"""
