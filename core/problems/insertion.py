"""Costs of insertions, which a problem of orders may offer for iterated greedy search."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.arguments import checked_class
from core.lang import Function, i32
from core.lang.types import Array
from core.problems.signatures import check_function


@checked_class
class Insertion(NamedTuple):
    """Costs of insertions into partial orders, and suitable parameters of the search.

    Attributes
    ----------
    costs : Function
        ``costs(order, count, element, changes, data)``, all ``i32`` and arrays of it: write to ``changes[p]``, p = 0 to
        ``count``, the change of the cost of the first ``count`` elements of ``order`` if ``element`` is inserted at
        position p. The cost of a partial order is any; that of complete ones is the problem's up to a constant. All
        lanes of one team call it.
    data : bundle
        Data of the function; its rows are memory of a walk that is not kept between calls.
    temperature : float
        Suitable temperature of acceptance in units of the cost; 0: only orders that are not worse are accepted.
    removed : int
        Suitable number of elements to remove.
    """

    costs: Function
    data: Any
    temperature: float = 0.0
    removed: int = 4


def check_insertion(name: str, insertion: Insertion) -> None:
    """Refuse a function that the kernels of iterated greedy search could not call; ``name`` is the problem's.

    Raises `UserError` if it is no ``@function``, `KernelError` for other parameters or a result.
    """
    kinds = {"order": Array(i32), "count": i32, "element": i32, "changes": Array(i32), "data": type(insertion.data)}
    check_function(name, "costs", insertion.costs, kinds, None)
