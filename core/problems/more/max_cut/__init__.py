"""Cuts of weighted graphs in two parts (max-cut) or k (max-k-cut), and quadratic forms over bits (QUBO).

Others import `problem` (`MaxCut`), `k_cut` (`MaxKCut`), `qubo` (`Qubo`) and `graphs`; `beasley` reads quadratic forms.
Problems that are only reducible to QUBO do not belong here.
"""
