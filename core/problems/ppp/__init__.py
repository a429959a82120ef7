"""Permuted perceptron problem: instance and scorer, evaluations of moves, and the problem for local search.

Others import `problem` (class `Ppp`); tests also import `perceptron`, its instances.
`products` is shared by all evaluations, `row_groups` by all but `luong2013`'s, which `histograms` holds.
`one_flip` holds the evaluation of single flips.
"""
