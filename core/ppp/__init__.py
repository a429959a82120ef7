"""Permuted perceptron problem: instance and scorer, evaluations of moves, and the problem for local search.

Others import `problem` (class `Ppp`); tests also import `perceptron`, its instances. All evaluations share `products`,
and all but `luong2013`'s in `histograms` share `row_groups`. `one_flip` evaluates single flips.
"""
