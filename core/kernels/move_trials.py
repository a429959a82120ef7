"""A problem's functions one at a time, for the plain-Python run that holds them to its scorer: no search, no rule."""

from __future__ import annotations

from typing import NamedTuple

from core.kernels.local_search import Hooks, nothing
from core.kernels.moves import change
from core.lang import Array, Generic, Kernel, barrier, i32, kernel, lane, team_size, u32

S = Generic("S")


class Trials(NamedTuple):
    """The kernels of `trial_kernels`; each runs in one team.

    Attributes
    ----------
    build : Kernel
        ``build(solution, ...)``: `Hooks.begin`.
    refresh : Kernel
        ``refresh(first, end, changed, i, j, k, solution, ...)``: `Hooks.refresh`, every lane a worker.
    ask : Kernel
        ``ask(count, listed, found, solution, ...)``: `Hooks.delta` of the moves (i, j, k) in ``listed``.
    ask_quick : Kernel
        ``ask_quick(first, count, listed, found, solution, ...)``: `Hooks.quick` of neighbours ``first`` and on.
    ask_parts : Kernel
        ``ask_parts(count, listed, found, solution, ...)``: `Hooks.partial`, every lane a worker.
    make : Kernel
        ``make(i, j, k, solution, ...)``: `Hooks.update`, then `Hooks.move` or the neighbourhood's own change.

    """

    build: Kernel
    refresh: Kernel
    ask: Kernel
    ask_quick: Kernel
    ask_parts: Kernel
    make: Kernel


def trial_kernels(hooks: Hooks, change_kind: int) -> Trials:
    """Make the kernels that try one problem's functions; ``change_kind`` is what a move does."""
    data = hooks.data
    delta = hooks.delta
    quick = hooks.quick or nothing
    begin, has_begin = hooks.begin or nothing, hooks.begin is not None
    update, has_update = hooks.update or nothing, hooks.update is not None
    move, has_move = hooks.move or nothing, hooks.move is not None
    refresh = hooks.refresh or nothing
    partial = hooks.partial or nothing

    @kernel(pack=data)
    def build(solution: Array[S], *data):
        """The state of a walk that stands at the solution."""
        if has_begin:
            begin(solution, *data)

    @kernel(pack=data)
    def refresh_all(first: u32, end: u32, changed: i32, i: i32, j: i32, k: i32, solution: Array[S], *data):
        """What `quick` needs for neighbours ``first`` to ``end - 1``."""
        refresh(lane(), team_size(), first, end, changed, i, j, k, solution, *data)

    @kernel(pack=data)
    def ask(count: i32, listed: Array[i32], found: Array[i32], solution: Array[S], *data):
        """What each listed move adds."""
        for m in range(lane(), count, team_size()):
            difference = delta(solution, listed[3 * m], listed[3 * m + 1], listed[3 * m + 2], *data)
            found[m] = difference

    @kernel(pack=data)
    def ask_quick(first: u32, count: i32, listed: Array[i32], found: Array[i32], solution: Array[S], *data):
        """The same from what `refresh` has left."""
        for m in range(lane(), count, team_size()):
            difference = quick(solution, first + u32(m), listed[3 * m], listed[3 * m + 1], listed[3 * m + 2], *data)
            found[m] = difference

    @kernel(pack=data)
    def ask_parts(count: i32, listed: Array[i32], found: Array[i32], solution: Array[S], *data):
        """The same by all lanes together: every lane's part of each."""
        for m in range(count):
            share = partial(lane(), team_size(), solution, listed[3 * m], listed[3 * m + 1], listed[3 * m + 2], *data)
            found[m * team_size() + lane()] = share

    @kernel(pack=data)
    def make(i: i32, j: i32, k: i32, solution: Array[S], *data):
        """Follow and make a move, as the search does."""
        barrier()
        if has_update:
            update(solution, i, j, k, *data)
            barrier()
        if has_move:
            move(solution, i, j, k, *data)
        else:
            change(change_kind, solution, i, j, k)
        barrier()

    return Trials(build, refresh_all, ask, ask_quick, ask_parts, make)
