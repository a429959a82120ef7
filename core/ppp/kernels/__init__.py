"""Evaluations of the permuted perceptron problem as kernel functions, and the data of a walk for each.

`core.ppp.problem` makes `Evaluation`s of them.
"""
