"""Kernels that call a problem's functions one at a time, to compare them with its scorer."""

from __future__ import annotations

from functools import lru_cache

from core.lang import *
from core.local_search.kernels.hooks import D, Evaluation
from core.local_search.kernels.moves import change
from core.local_search.kernels.walks import AnyMove, Draw, Move, S, Share


def evaluation_kernels(evaluation: Evaluation, change_kind: int) -> tuple[Kernel, Kernel, Kernel]:
    """Make `HookChecks.ask`, `HookChecks.ask_quick` and `HookChecks.ask_parts`."""
    delta, quick, partial, value = evaluation.delta, evaluation.quick, evaluation.partial, evaluation.value

    @kernel
    def ask(count: i32, listed: Array[i32], differences: Array[i32], solution: Array[S], data: D):
        """Compute the change of cost by each listed move."""
        for m in range(team_rank() * team_size() + lane(), count, team_count() * team_size()):
            move = AnyMove(listed[3 * m], listed[3 * m + 1], listed[3 * m + 2], change_kind)
            if delta is not None:
                difference = delta(solution, move, data)
                differences[m] = difference
            else:
                cost = value(solution, move, data)
                differences[m] = cost

    @kernel
    def ask_quick(
        count: i32, indices: Array[u32], listed: Array[i32], differences: Array[i32], solution: Array[S], data: D
    ):
        """Compute the same changes from the data of `refresh`."""
        for m in range(team_rank() * team_size() + lane(), count, team_count() * team_size()):
            move = AnyMove(listed[3 * m], listed[3 * m + 1], listed[3 * m + 2], change_kind)
            difference = quick(solution, indices[m], move, data)
            differences[m] = difference

    @kernel
    def ask_parts(count: i32, listed: Array[i32], parts: Array[i32], solution: Array[S], data: D):
        """Compute every lane's part of the same changes."""
        for m in range(team_rank(), count, team_count()):
            move = AnyMove(listed[3 * m], listed[3 * m + 1], listed[3 * m + 2], change_kind)
            part = partial(lane(), team_size(), solution, move, data)
            parts[m * team_size() + lane()] = part

    return ask, ask_quick, ask_parts


def state_kernels(evaluation: Evaluation, change_kind: int, apply: Function | None) -> tuple[Kernel, Kernel, Kernel]:
    """Make `HookChecks.build`, `HookChecks.refresh` and `HookChecks.make`."""
    begin, update, move_by, refresh = evaluation.begin, evaluation.update, evaluation.move, evaluation.refresh

    @kernel
    def build(solution: Array[S], data: D):
        """Build the state of a walk with this solution."""
        if begin is not None:
            begin(solution, data)

    @kernel
    def refresh_all(share: Share, changed: i32, move: Move, solution: Array[S], data: D):
        """Refresh the data of `quick` for the neighbours of the share."""
        worker, workers = team_rank() * team_size() + lane(), team_count() * team_size()
        any_move = AnyMove(move.i, move.j, move.k, change_kind)
        refresh(Share(worker, workers, share.first, share.end), changed, any_move, solution, data)

    @kernel
    def make(n: i32, move: Move, solution: Array[S], data: D):
        """Update the state and make a move, as the search does."""
        any_move = AnyMove(move.i, move.j, move.k, change_kind)
        barrier()
        if update is not None:
            update(solution, any_move, data)
            barrier()
        if move_by is not None:
            move_by(solution, any_move, data)
        elif apply is not None:
            apply(solution, any_move, n)
        else:
            change(change_kind, solution, move)
        barrier()

    return build, refresh_all, make


class HookChecks:
    """Kernels that call the functions of an `Evaluation`: `build` and `make` in one team, the others in any number.

    A move makes the change ``change_kind``, or ``apply`` makes it.

    Attributes
    ----------
    build : Kernel
        ``build(solution, data)``: `begin`.
    refresh : Kernel
        ``refresh(share, changed, move, solution, data)``: `refresh`, every lane a worker.
    ask : Kernel
        ``ask(count, listed, differences, solution, data)``: `delta` of the moves (i, j, k) in ``listed``, or
        `value` if there is no `delta`.
    ask_quick : Kernel
        ``ask_quick(count, indices, listed, differences, solution, data)``: `quick` of the same moves with their
        indices as neighbours.
    ask_parts : Kernel
        ``ask_parts(count, listed, parts, solution, data)``: `partial`, every lane of a team a worker.
    make : Kernel
        ``make(n, move, solution, data)``: `update`, then `move` or the neighbourhood's own change.
    """

    def __init__(self, evaluation: Evaluation, change_kind: int, apply: Function | None = None) -> None:
        self.build, self.refresh, self.make = state_kernels(evaluation, change_kind, apply)
        self.ask, self.ask_quick, self.ask_parts = evaluation_kernels(evaluation, change_kind)


hook_check_kernels = lru_cache(maxsize=64)(HookChecks)
"""Returns the kernels for one evaluation, made at the first call."""


@lru_cache(maxsize=64)
def rule_check_kernel(accepts: Function, has_parameters: bool) -> Kernel:
    """Make ``ask(verdict, draw)`` or ``ask(verdict, draw, parameters)``, the kernel that calls a rule of acceptance."""
    if has_parameters:

        @kernel
        def ask_with(verdict: Array[i32], draw: Draw, parameters: D):
            """Write 1 if the draw is accepted, else 0."""
            is_accepted = accepts(draw, parameters)
            verdict[0] = 1 if is_accepted else 0

        return ask_with

    @kernel
    def ask(verdict: Array[i32], draw: Draw):
        """Write 1 if the draw is accepted, else 0."""
        is_accepted = accepts(draw)
        verdict[0] = 1 if is_accepted else 0

    return ask
