"""Checkpoint of a local search, by walk, from which any ranks and backend can resume.

It has no data that a problem derives from a walk's solution (differences, tables): `begin` computes them again. It has
the rows of the problem's data that do not follow from the solution (`core.local_search.problem.Problem.remembered`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from core.lang.named_arrays import size_of
from core.local_search.algorithms import SimulatedAnnealing
from core.local_search.encodings import Encoding
from core.local_search.history import AHEAD, FRONT, HistoryRecorder, join_histories
from core.local_search.kernels import moves, walks
from core.local_search.kernels.walks import WalkStatus, WalkTotals
from core.local_search.launcher import WalkLauncher
from core.local_search.memory import WalkMemory
from core.local_search.plan import Plan
from core.run.checkpoint import (
    ANY,
    ANY_WORD,
    Checkpoint,
    CheckpointArray,
    ascending_fault,
    history_fault,
    permutation_fault,
)
from core.run.stop import Stop

FIELDS = {"control": "status", **{name: name for name in ("totals", "heat", "memory", "solution", "best", "home")}}
"""Arrays of a checkpoint with a row for each walk, and the fields of `Walk` that they hold."""
OF_PROBLEM = "problem "
"""Prefix of the names of rows of the problem's data."""
DONE = "done"


def make_checkpoint(launcher: WalkLauncher, done: int, recorder: HistoryRecorder | None) -> Checkpoint | None:
    """Return the state of all walks of all ranks after ``done`` iterations, on the first rank; all call this."""
    memory = launcher.memory
    rows = {name: memory.field(field) for name, field in FIELDS.items()}
    for name, size in memory.remembered.items():
        rows[OF_PROBLEM + name] = np.array(memory.rows(getattr(memory.data, name), size))
    parts = launcher.walk_ranks.gather({**(recorder.state() if recorder is not None else {}), **rows})
    if launcher.ranks.rank or parts is None:
        return None
    state = {name: np.concatenate([part[name] for part in parts]) for name in rows}
    if recorder is not None:
        state |= join_histories(parts)
    return {**state, DONE: np.array(done, np.int64)}


def layout(plan: Plan, memory: WalkMemory, stop: Stop, before_s: float, state: Checkpoint) -> Iterator[CheckpointArray]:
    """Declare the state of all walks of all ranks; ``before_s`` is the run time at the checkpoint in seconds."""
    encoding, algorithm = plan.problem.encoding, plan.algorithm
    count = plan.simultaneous_walks
    yield CheckpointArray(DONE, np.int64, (), [(1, stop.iterations)])
    # An iteration of simulated annealing or of a rule evaluates up to `batch` draws, and a walk counts each of them.
    done = int(state[DONE])
    most = done * algorithm.batch if plan.algorithm.draws else done
    costs, anything = (plan.costs.least, plan.costs.most), (-ANY, ANY)
    words = {
        WalkStatus.cost: costs,
        WalkStatus.best_cost: costs,
        WalkStatus.iteration: (0, most),
        WalkStatus.best_at: (0, most),
        WalkStatus.stop: (walks.RUNNING, walks.RESTING),
        WalkStatus.level: (0, len(plan.neighbourhoods) - 1),
        WalkStatus.at_best: (0, 1),
    }
    ranges = [words.get(column, anything) for column in range(size_of(WalkStatus))]
    fault = partial(wrong_end, plan, stop, done)
    yield CheckpointArray("control", np.int32, (count, size_of(WalkStatus)), ranges, fault)
    yield CheckpointArray("totals", np.uint64, (count, size_of(WalkTotals)), [(0, ANY_WORD), (0, ANY)])
    heat = [(0, float(np.finfo(np.float32).max))] if isinstance(algorithm, SimulatedAnnealing) else ()
    yield CheckpointArray("heat", np.float32, (count, 1), heat)
    forbidden = most + 1 + plan.tabu.tenure + plan.tabu.span
    remembered = costs if algorithm.lag else (0, forbidden)
    yield CheckpointArray("memory", np.int32, (count, plan.memory_words), [remembered])
    for name in ("solution", "best", "home"):
        yield solution_array(name, encoding, count)
    for name, size in memory.remembered.items():
        yield CheckpointArray(OF_PROBLEM + name, getattr(memory.data, name).dtype, (count, size))
    if plan.history:
        rule = partial(front_fault, int(state["control"][:, WalkStatus.best_cost].min()))
        bounds = [(0, most), (-ANY, ANY), (0, before_s), (0, ANY)]
        yield CheckpointArray(FRONT, np.float64, (None, 4), bounds, rule)
        yield CheckpointArray(AHEAD, np.int64, (count,), [(0, most)])


def solution_array(name: str, encoding: Encoding, count: int) -> CheckpointArray:
    """Declare an array of ``count`` solutions."""
    rule = permutation_fault if encoding.code == moves.PERMUTATION else None
    return CheckpointArray(name, encoding.dtype, (count, encoding.n), [encoding.interval], rule)


def front_fault(best: int, rows: np.ndarray) -> str | None:
    """Return the fault of a front of improvements up to the best cost, or None."""
    return ascending_fault(rows[:, 0]) or history_fault(rows[:, 1], best)


def wrong_end(plan: Plan, stop: Stop, done: int, status: np.ndarray) -> str | None:
    """Return the fault of walks that cannot have this state, or None."""
    columns = (WalkStatus.iteration, WalkStatus.best_at, WalkStatus.best_cost)
    iteration, best_at, best = (status[:, column] for column in columns)
    # Conditions of each stop code. A walk that adopts a solution continues behind the others, better than its own best.
    is_apart = plan.settings.exchange == 0
    right = np.choose(
        status[:, WalkStatus.stop],
        [
            (iteration >= done) | (not is_apart),
            np.full(len(status), plan.ends_itself),
            best <= stop.target,
            iteration - best_at >= stop.patience,
            iteration >= stop.iterations,
            np.full(len(status), plan.history),
        ],
    ) & ((best <= status[:, WalkStatus.cost]) | (not is_apart))
    wrong = np.flatnonzero(~right)
    if not wrong.size:
        return None
    walk = status[wrong[0]]
    return (
        f"found walk {wrong[0]} with stop code {walk[WalkStatus.stop]} after {walk[WalkStatus.iteration]} of "
        f"{done} iterations, expected a walk that these stop criteria allow"
    )


def resume_walks(launcher: WalkLauncher, state: Checkpoint, recorder: HistoryRecorder | None) -> int:
    """Set this rank's walks, which have begun, to a checkpoint. Return the number of iterations made."""
    memory = launcher.memory
    first, end = (memory.first, memory.end) if launcher.plan.settings.by_walks else (0, 1)
    rows = {name: state[name][first:end].copy() for name in FIELDS}
    memory.write(memory.walkers.solution, rows["solution"])
    launcher.begin()
    # The next iteration finds the state of `begin`, not that of an earlier iteration.
    rows["control"][:, WalkStatus.changed] = walks.EVERYTHING
    for name, field in FIELDS.items():
        memory.write(getattr(memory.walkers, field), rows[name])
    for name in memory.remembered:
        memory.write(getattr(memory.data, name), state[OF_PROBLEM + name][first:end].copy())
    if recorder is not None:
        recorder.begin_at(state, first, end)
    return int(state[DONE])
