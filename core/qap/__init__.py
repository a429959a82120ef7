"""Quadratic assignment problem: instance and scorer, QAPLIB's files, Taillard's generator, and the problem.

Others import `problem` (class `Qap`) and `instance`; the catalogue of collections imports `qaplib`. Search algorithms
do not belong here.
"""
