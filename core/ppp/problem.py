"""The permuted perceptron problem for local search: evaluations by groups of rows, and by histograms (the paper's).

See `core.ppp.kernels.bit_parallel`, `core.ppp.kernels.one_flip`, and for `luong2013`, section 6.2,
`core.ppp.kernels.histograms`.
"""

from __future__ import annotations

import copy
import os
from dataclasses import replace

import numpy as np

from core.arguments import Matrix, Numbers, loaded_instance
from core.errors import UserError
from core.lang.bundles import RowArray, fields_of
from core.local_search.encodings import Bits
from core.local_search.kernels.hooks import Evaluation
from core.local_search.problem import Problem
from core.ppp import perceptron
from core.ppp.kernels.bit_parallel import added, added_by_words, added_in_parts, added_in_parts_by_planes, fill_planes
from core.ppp.kernels.histograms import DELTAS, LAYOUTS, LOCAL, GlobalCounts, LocalCounts
from core.ppp.kernels.one_flip import added_by_sums, sum_columns
from core.ppp.kernels.products import MARGIN, Products, count_products, flip_products
from core.ppp.kernels.row_groups import ProductGroups, begin_groups, update_groups


class Ppp(Problem):
    """Permuted perceptron problem: find a vector of +-1. Its products with the rows of a matrix have a given histogram.

    Parameters
    ----------
    instance : array_like, shape (m, n), or str or core.ppp.perceptron.PerceptronInstance
        Matrix of entries +1 and -1. Or the name, path or specification of an instance (see
        `core.ppp.perceptron.load`), or an instance.
    targets : array_like, shape (m,)
        With a matrix, the multiset of its rows' products with the vector: integers from 0 to n.
    layout
        Place of lanes' histograms in the evaluation by histograms: see `core.ppp.kernels.histograms`.

    Raises
    ------
    InstanceError
        See `core.ppp.perceptron.PerceptronInstance`.
    """

    published = "histogram"
    tested = True

    def __init__(
        self,
        instance: perceptron.PerceptronInstance | str | Matrix,
        targets: Numbers | None = None,
        *,
        layout: str = LOCAL,
    ) -> None:
        if targets is not None:
            instance = perceptron.PerceptronInstance("arrays", instance, targets)  # type: ignore[arg-type]
        instance = loaded_instance(instance, perceptron.PerceptronInstance, perceptron.load, "a matrix and targets")
        if layout not in LAYOUTS:
            raise UserError(f"histograms in layout {layout!r}: expected {', '.join(LAYOUTS)}")
        m, n = instance.m, instance.n
        targets = np.zeros(n + 1 + 2 * MARGIN, np.int32)
        targets[MARGIN : n + 1 + MARGIN] = instance.target_histogram[::2]
        words = n + 1 + m // 32
        groups = ProductGroups(
            matrix=instance.matrix,
            targets=targets,
            rows=m,
            inputs=n,
            negative_weight=perceptron.NEGATIVE_WEIGHT,
            histogram_weight=perceptron.HISTOGRAM_WEIGHT,
            groups=n + 1,
            most_words=words,
            most_slots=32 * words,
            most_cells=words * n,
        )
        super().__init__(instance.name, Bits(n), groups)
        self.instance = instance
        self.layout = layout
        self.optimum = instance.optimum
        self.sha256 = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None, seed: int = 0, layout: str = LOCAL) -> Ppp:
        return cls(perceptron.load(spec, data, seed), layout=layout)

    def cost(self, solution: np.ndarray) -> int:
        """Return the weighted sum of negative products and of differences of histograms."""
        return perceptron.cost(self.instance, solution)

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        return perceptron.costs(self.instance, solutions)

    def cost_range(self) -> tuple[int, int]:
        """Return 0 and the cost of products that are all -n, with no product among the targets."""
        return 0, perceptron.largest_cost(self.instance.m, self.instance.n)

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``bit-parallel``, ``linear``, ``histogram`` (the paper's), and for one flip ``column-sums``."""
        m, n = self.instance.m, self.encoding.n
        linear = Evaluation(added, begin=begin_groups, update=update_groups, partial=added_in_parts, work=m)
        words = replace(
            linear,
            quick=added_by_words,
            refresh=fill_planes,
            partial=added_in_parts_by_planes,
            work=n // 4 + 8,
            quick_for=("flip1", "flip2", "flip3"),
        )
        sums = replace(words, quick=added_by_sums, refresh=sum_columns, partial=None, quick_for=("flip1",))
        return {
            **({"column-sums": sums} if neighbourhood == "flip1" else {}),
            "bit-parallel": words,
            "linear": linear,
            "histogram": Evaluation(DELTAS[self.layout], begin=count_products, update=flip_products, work=m + 2 * n),
        }

    def data_for(self, evaluation: str) -> object:
        """Return the signs and targets, with the rows of a walk or the memory of a lane for the evaluation."""
        if evaluation != "histogram":
            return self.data
        kinds = fields_of(Products).items()
        numbers = {name: getattr(self.data, name) for name, kind in kinds if not isinstance(kind, RowArray)}
        count = numbers["groups"]
        if self.layout == LOCAL:
            return LocalCounts(**numbers, bins=count)
        return GlobalCounts(**numbers, cells=count, lanes=1)

    def with_room(self, data: object, lanes: int) -> object:
        """Return the data with a histogram for each of ``lanes`` lanes, if histograms are in global memory.

        Raises `UserError` if they have more elements than 32 bits count.
        """
        if not isinstance(data, GlobalCounts):
            return data
        enlarged = copy.copy(data)
        enlarged.cells, enlarged.lanes = lanes * data.groups, lanes
        if enlarged.cells >= 2**31:
            raise UserError(
                f"histograms of {data.groups} groups for {lanes} neighbours side by side in global memory: expected "
                f"less than 2^31 elements in all; use layout {LOCAL}"
            )
        return enlarged
