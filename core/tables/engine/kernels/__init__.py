"""Kernels of the generic engines: wavefronts, diagonals of the paper's mapping, and grids.

A kernel reads a bundle with the problem and rows of the table. It writes the next rows and packed choices, which trace
kernels read backwards. Users' recurrences take `grid.Near` and `waves.Window`.
"""
