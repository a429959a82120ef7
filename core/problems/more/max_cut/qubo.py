"""QUBO for local search: bits that minimise a quadratic form."""

import os

import numpy as np

from core.arguments import loaded_instance
from core.problems.encodings import Bits
from core.problems.more.max_cut import beasley, quadratic_forms
from core.problems.more.max_cut.fields import (
    LocalFields,
    QuadraticCoefficients,
    SparseFields,
    added,
    added_by_fields,
    changed_flip,
    changed_flips,
    sum_fields,
    sum_sparse_fields,
    update_fields,
    update_sparse_fields,
)
from core.problems.problem import Evaluation, Problem


class Qubo(Problem):
    """Find bits with the least value of a quadratic form.

    Parameters
    ----------
    instance : core.problems.more.max_cut.quadratic_forms.QuadraticForm or str
        See `core.problems.more.max_cut.quadratic_forms.of_matrix` for any square matrix; or a form's path, name or
        generator, see `core.problems.more.max_cut.beasley.load`: ``bqp50:3``, ``random:50:density=0.1``.
    data : path, optional
        Folder of instances, searched first.
    """

    tested, tenures = True, {"flip1": (10, 10)}

    def __init__(self, instance: quadratic_forms.QuadraticForm | str, data: str | os.PathLike | None = None) -> None:
        instance = loaded_instance(instance, quadratic_forms.QuadraticForm, lambda name: beasley.load(name, data))
        super().__init__(instance.name, Bits(instance.n), QuadraticCoefficients(instance.coefficients, instance.n))
        self.instance, self.sha256 = instance, instance.sha256

    def cost(self, solution: np.ndarray) -> int:
        return int(self.instance.values(np.asarray(solution)[None])[0])

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        return self.instance.values(solutions)

    def cost_range(self) -> tuple[int, int]:
        """Return bounds: at best all negative coefficients count and no other, at worst the others."""
        return self.instance.cost_range

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``local-fields`` (O(1), from those of a walk) and ``linear`` (O(n)).

        ``sparse-fields`` of sparse forms updates only the fields that a move changes.
        """
        faster = Evaluation(added_by_fields, begin=sum_fields, update=update_fields, work=2)
        sparse = faster._replace(
            begin=sum_sparse_fields,
            update=update_sparse_fields,
            touches=changed_flips,
            touched=changed_flip,
            touched_for=("flip1",),
        )
        usual = {"local-fields": faster, "linear": Evaluation(added, work=self.encoding.n)}
        return {"sparse-fields": sparse, **usual} if self.instance.is_sparse else usual

    def data_for(self, evaluation: str) -> QuadraticCoefficients:
        """Return the form; with memory for a walk's fields, if the evaluation reads them."""
        coefficients, n = self.data.coefficients, self.encoding.n
        if evaluation == "sparse-fields":
            columns, entries, starts = self.instance.rows
            return SparseFields(coefficients=coefficients, n=n, columns=columns, entries=entries, starts=starts)
        return LocalFields(coefficients, n) if evaluation == "local-fields" else self.data
