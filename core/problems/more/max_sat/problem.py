"""MAX-SAT for local search: bits that satisfy as many clauses as possible, or clauses of the largest weight."""

import os
from functools import cached_property

import numpy as np

from core.arguments import loaded_instance
from core.kernels.local_search.member_sets import set_sizes
from core.problems.encodings import Bits
from core.problems.more.max_sat import formulas
from core.problems.more.max_sat.clauses import (
    Formula,
    SparseLiteralCounts,
    TrueLiteralCounts,
    added,
    added_by_counts,
    changed_variable,
    changed_variables,
    count_true_literals,
    update_counts,
)
from core.problems.more.max_sat.repairs import FOCUS, UnsatisfiedClauses, find_unsatisfied, update_unsatisfied
from core.problems.problem import Evaluation, Problem

SPARSE_FORMULA, MOST_PAIRS = 4, 1 << 23
"""Least number of pairs of variables for each pair that shares a clause in a sparse formula, and most such pairs."""


class MaxSat(Problem):
    """Find values of variables so that the unsatisfied clauses have the least weight.

    Parameters
    ----------
    instance : core.problems.more.max_sat.formulas.SatInstance or str
        The formula, or its path, name or generator, see `core.problems.more.max_sat.formulas.load`:
        ``random:50:ratio=4.2:seed=1``.
    data : path, optional
        Folder of instances, searched first.
    """

    neighbourhoods = ("flip1",)
    tested = True

    def __init__(self, instance: formulas.SatInstance | str, data: str | os.PathLike | None = None) -> None:
        self.instance = sat = loaded_instance(instance, formulas.SatInstance, lambda name: formulas.load(name, data))
        arrays = (sat.literals, sat.starts, sat.weights, *formulas.clauses_by_variable(sat))
        self.formula = [*arrays, len(sat.weights)]
        super().__init__(sat.name, Bits(sat.variables), Formula(*self.formula))
        self.sha256 = sat.sha256

    def cost(self, solution: np.ndarray) -> int:
        """Return the weight of the unsatisfied clauses."""
        return int(self.costs(np.asarray(solution)[None])[0])

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        literals, starts = self.instance.literals, self.instance.starts
        are_true = (solutions[:, literals >> 1] ^ (literals & 1)) == 1
        satisfied = np.logical_or.reduceat(are_true, starts[:-1], axis=1)
        return (~satisfied).astype(np.int64) @ self.instance.weights

    def cost_range(self) -> tuple[int, int]:
        return 0, int(self.instance.weights.sum(dtype=np.int64))

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``literal-counts`` (of true literals, kept by a walk) and ``delta`` (which counts them anew).

        ``sparse-literal-counts`` of sparse formulas lists the variables that a flip concerns.
        ``unsatisfied-clauses`` also keeps the set of these clauses, for focused search (WalkSAT).
        """
        each = len(self.instance.literals) // self.encoding.n + 1
        faster = Evaluation(added_by_counts, begin=count_true_literals, update=update_counts, work=each)
        focused = faster._replace(begin=find_unsatisfied, update=update_unsatisfied, focus=FOCUS)
        sparse = faster._replace(touches=changed_variables, touched=changed_variable, touched_for=("flip1",))
        delta = Evaluation(added, work=8 * each)
        usual = {"literal-counts": faster, "delta": delta, "unsatisfied-clauses": focused}
        return {"sparse-literal-counts": sparse, **usual} if self.is_sparse else usual

    @cached_property
    def is_sparse(self) -> bool:
        pairs = int(np.square(np.diff(self.instance.starts), dtype=np.int64).sum()) + self.encoding.n
        return pairs <= MOST_PAIRS and SPARSE_FORMULA * pairs <= self.encoding.n**2

    @cached_property
    def partners(self) -> tuple[np.ndarray, np.ndarray]:
        return formulas.variables_by_variable(self.instance)

    def data_for(self, evaluation: str) -> Formula:
        """Return the formula; with memory for a walk's counts, if the evaluation reads them."""
        if evaluation == "unsatisfied-clauses":
            words, groups = set_sizes(len(self.instance.weights))
            return UnsatisfiedClauses(*self.formula, words=words, groups=groups)
        if evaluation == "sparse-literal-counts":
            partners, begins = self.partners
            return SparseLiteralCounts(*self.formula, partners=partners, begins=begins)
        return TrueLiteralCounts(*self.formula) if evaluation == "literal-counts" else self.data
