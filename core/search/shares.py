"""Which part of the work is whose: contiguous shares of 0 .. total - 1, one per rank, in exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, lcm
from typing import Any


def alike(backend: Any, ranks: Any) -> bool:
    """Whether all ranks have devices of one kind, run in one way, and so get equal shares; all of them call this.

    Parameters
    ----------
    backend
        This rank's `backends.base.Backend`.
    ranks
        A `cluster.Communicator`.

    """
    if ranks.size == 1 or ranks.is_silent:
        return True
    every = ranks.gather((backend.name, backend.device.name, backend.capabilities))
    return bool(ranks.bcast(every is not None and len(set(every)) == 1))


def share(total: int, rank: int, size: int) -> tuple[int, int]:
    """Cut the work into equal shares, which differ by at most one item.

    Parameters
    ----------
    total
        How many items there are.
    rank, size
        Whose share is asked for, of how many.

    Returns
    -------
    begin, end : int
        The rank's items are begin to end - 1; the next rank's begin at `end`.

    Raises
    ------
    ValueError
        The total is negative, or there is no such rank.

    """
    _check(total, rank, size)
    return total * rank // size, total * (rank + 1) // size


def weighted_share(total: int, rank: int, weights: Sequence[float]) -> tuple[int, int]:
    """Cut the work in proportion to the ranks' measured speeds.

    Every bound is its exact place rounded down, so a share is less than one item away from its exact quota,
    and all ranks find the same bounds if they hold the same weights: gather them on rank 0 and broadcast.

    Parameters
    ----------
    total
        How many items there are.
    rank
        Whose share is asked for.
    weights
        Speed of each rank, in any one unit. A rank of weight 0 gets nothing.

    Returns
    -------
    begin, end : int
        The rank's items are begin to end - 1.

    Raises
    ------
    ValueError
        The total is negative, there is no such rank, or the weights are negative, infinite, NaN or all 0.

    """
    _check(total, rank, len(weights))
    if not all(isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
        raise ValueError(f"weights must be finite, not negative and not all 0, found {list(weights)}")
    # A float is an exact fraction of integers, so no rounding can open a gap between two ranks.
    ratios = [weight.as_integer_ratio() for weight in weights]
    common = lcm(*(denominator for _, denominator in ratios))
    whole = [numerator * (common // denominator) for numerator, denominator in ratios]
    before = sum(whole[:rank])
    return total * before // sum(whole), total * (before + whole[rank]) // sum(whole)


def _check(total: int, rank: int, size: int) -> None:
    if total < 0:
        raise ValueError(f"the total must not be negative, found {total}")
    if not 0 <= rank < size:
        raise ValueError(f"rank must be from 0 to {size - 1}, found {rank}")
