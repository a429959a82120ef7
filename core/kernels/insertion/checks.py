"""A kernel that computes a problem's costs of insertions once, to compare them with its scorer."""

from __future__ import annotations

from functools import lru_cache

from core.lang import *

D = Generic("D")


@lru_cache(maxsize=32)
def insertion_check_kernel(insertion: Function) -> Kernel:
    """Make the kernel for a function of `core.problems.insertion.Insertion`."""

    @kernel
    def ask(order: Array[i32], count: i32, element: i32, changes: Array[i32], data: D):
        """Compute the changes of cost by inserting an element at every position; one team."""
        insertion(order, count, element, changes, data)

    return ask
