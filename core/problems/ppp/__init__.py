"""Permuted perceptron problem: instance and scorer, evaluations of moves, and the problem for local search.

Others import `problem` (class `Ppp`); tests also import `perceptron`, its instances.
`products` is shared by all evaluations, `histograms` holds the evaluation of `luong2013`.
"""
