"""Linear ordering problem: one order of rows and columns with the largest sum above the diagonal.

Others import `problem` (class `LinearOrdering`); `matrices` has instances, LOLIB's files and the generator. Other
problems on permutations do not belong here.
"""
