"""MAX-SAT: weighted clauses, of which as many as possible are to be satisfied.

Others import `problem` (class `MaxSat`); `formulas` has instances, DIMACS files and the generator. Solvers of the
decision problem do not belong here.
"""
