"""Measurement of reference solvers: packages in process and warm, programs as whole processes.

Each runs in separate processes, so that its threads and memory do not disturb ours. A package's call in a warm process
is compared with our search in a warm process, a program with a whole process of ours. The start of a solver is listed
separately: a minimal problem is timed too.
"""

from __future__ import annotations

import os
import pickle
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cluster.launch.commands import ROOT
from drivers.peers.peer import Peer, PeerAnswer, PeerError, PeerMeasurement, PeerPackage, PeerProgram, median_run

StartAndRuns = tuple[float, list[tuple[float, PeerAnswer]]]
"""Seconds of the start, and for each time limit the seconds of a run with its answer."""
LIMIT_S = 60.0
"""Time limit of a single run in seconds, unless ours took longer."""
SUITE = ("backends", "cluster", "core", "drivers", "reports")
"""Packages that the child imports by links: the folder of an installed suite has all the suite's requirements too."""
HALVINGS = 6
"""Number of halvings: a solver with a time limit also runs with a half of it, a quarter and so on."""


class PeerTask(NamedTuple):
    """Task of all solvers: the problem, and time (seconds) and cost of our search."""

    problem: object
    seconds: float
    cost: int | None

    @property
    def limit_s(self) -> float:
        return max(LIMIT_S, self.seconds)


class PeerRace:
    """Repetitions of one solver, one at a time, so that other programs can run in between."""

    def __init__(self, peer: Peer, task: PeerTask) -> None:
        self.peer, self.task = peer, task
        self.limits = _limits(peer, task)
        self.starts: list[float] = []
        self.runs: list[list[tuple[float, PeerAnswer, int]]] = []
        why_not = peer.refuses(task.problem)
        self.found = None if why_not is not None else peer.find()
        self.failure = f"left out: {why_not}" if why_not is not None else ""
        if why_not is None and self.found is None:
            self.failure = f"not found: {peer.how_to_get}"

    def repeat(self, seed: int) -> None:
        """Run the solver with a seed from 1 on, for the full and each shorter time; never again after a failure."""
        if self.failure or self.found is None:
            return
        try:
            with tempfile.TemporaryDirectory(prefix="onekernel-peer-") as folder:
                startup_s, timed = _solved(self.peer, self.found[0], Path(folder), self.task, self.limits, seed)
            run = [(took_s, answer, _cost(self.peer, self.task.problem, answer)) for took_s, answer in timed]
        except PeerError as error:
            self.failure = f"failed: {error}"
            return
        self.starts.append(startup_s)
        self.runs.append(run)

    def measured(self) -> PeerMeasurement:
        peer, is_package = self.peer, isinstance(self.peer, PeerPackage)
        nothing = PeerMeasurement(peer.name, kind=peer.kind, failure=self.failure)
        if self.failure or not self.starts or self.found is None:
            return nothing
        by_limit, startup_s = [*zip(*self.runs, strict=True)], statistics.median(self.starts)
        medians = [statistics.median(seconds for seconds, _, _ in runs) for runs in by_limit]
        costs = [tuple(cost for _, _, cost in runs) for runs in by_limit]
        return nothing._replace(
            version=self.found[1],
            proved=all(answer.proved for _, answer, _ in by_limit[0]),
            cost=peer.subject.worst(costs[0]),
            solve_s=medians[0] if is_package else max(0.0, medians[0] - startup_s),
            startup_s=startup_s,
            time_to_cost_s=_to_cost(peer, costs, medians, self.task.cost),
            time_limit_s=self.limits[0] if isinstance(peer, PeerPackage) and peer.timed else None,
            repetitions=len(self.runs),
            costs=costs[0],
        )


def installed_peers(peers: Sequence[Peer]) -> list[str]:
    return [peer.name for peer in peers if peer.find()]


def _limits(peer: Peer, race: PeerTask) -> tuple[float, ...]:
    """Return a solver's time limits: its time and, if our cost is known, shorter ones; or the limit of a run."""
    if not isinstance(peer, PeerPackage) or not peer.timed:
        return (race.limit_s,)
    halvings = 0 if race.cost is None else HALVINGS
    return tuple(dict.fromkeys([max(race.seconds / 2**k, peer.shortest_s) for k in range(halvings + 1)]))


def _solved(peer: Peer, path: str, folder: Path, task: PeerTask, limits: Sequence[float], seed: int) -> StartAndRuns:
    """Return the seconds of the start and, for each limit, a run with its seconds."""
    if isinstance(peer, PeerProgram):
        return _program(peer, path, folder, task, seed)
    assert isinstance(peer, PeerPackage)
    request = peer.solve, peer.form(peer.subject.minimal), peer.form(task.problem), limits, seed
    return _in_child_process(path, request, folder, 2 * task.limit_s + (sum(limits) if peer.timed else 0.0))


def _to_cost(peer: Peer, costs: Sequence[tuple[int, ...]], seconds: Sequence[float], ours: int | None) -> float | None:
    """Return the shortest of descending times down to which all costs are as good as ours."""
    reached = None
    for found, took in zip(costs, seconds, strict=True):
        if ours is None or not peer.subject.as_good(peer.subject.worst(found), ours):
            break
        reached = took
    return reached


def _in_child_process(python: str, request: Sequence[Any], folder: Path, limit: float) -> StartAndRuns:
    asked, result = folder / "request.pickle", folder / "result.pickle"
    asked.write_bytes(pickle.dumps(request))
    for package in SUITE:
        (folder / package).symlink_to(ROOT / package)
    command = [python, "-P", "-m", "drivers.peers.child", str(asked), str(result)]
    _run(command, limit, result, "result", env=os.environ | {"PYTHONPATH": str(folder)})
    return pickle.loads(result.read_bytes())


def _program(peer: PeerProgram, path: str, folder: Path, task: PeerTask, seed: int) -> StartAndRuns:
    peer.write(peer.subject.minimal, folder, "minimal")
    peer.write(task.problem, folder, "instance")

    def run(name: str) -> tuple[float, PeerAnswer]:
        answer = folder / peer.answer_file
        answer.unlink(missing_ok=True)
        command = [path, *peer.command(folder, name, seed)]
        began = time.perf_counter()
        _run(command, task.limit_s, answer, "answer", cwd=folder)
        return time.perf_counter() - began, peer.read(answer)

    run("minimal")  # the first run reads the program from the disk
    startup_s, _ = median_run(partial(run, "minimal"))
    return startup_s, [median_run(partial(run, "instance"))]


def _run(command: Sequence[str], limit: float, file: Path, what: str, **place: Any) -> None:
    """Run a program that must leave a file, with further arguments of `subprocess.run`."""
    form: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace"}
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=limit, **form, **place)
    except subprocess.TimeoutExpired:
        raise PeerError(f"no answer within {limit:g} s") from None
    except OSError as error:
        raise PeerError(f"cannot be started: {error.strerror}") from None
    if done.returncode:
        raise PeerError(f"ended with code {done.returncode}: {_last_line(done.stderr or done.stdout)}")
    if not file.exists():
        raise PeerError(f"no {what}; its last line: {_last_line(done.stdout)}")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "it printed nothing"


def _cost(peer: Peer, problem: object, answer: PeerAnswer) -> int:
    try:
        cost = int(peer.subject.cost(problem, answer.solution))
    except ValueError as error:
        raise PeerError(f"no solution: {error}") from None
    if answer.reported_cost not in (None, cost):
        raise PeerError(f"it reports {answer.reported_cost}, the scorer finds {cost}")
    return cost
