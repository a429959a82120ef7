"""`--peers`: reference solvers on the problem of a run, and their verdicts on its result."""

from __future__ import annotations

import os
import statistics
import textwrap
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.atomic_files import read_text
from drivers.workload.declaration import RepeatedRun, RepetitionResult, VerifierVerdict, Workload

if TYPE_CHECKING:
    from drivers.peers.measurement import PeerRace
    from drivers.peers.peer import PeerMeasurement


THIS_SEARCH = "this search"


class ReferenceSolvers:
    """Reference solvers of one run.

    Attributes
    ----------
    measured : list of drivers.peers.peer.PeerMeasurement
        They run once after each repetition of ours, with time and cost of the first as targets.
    """

    def __init__(self, workload: Workload[Any], run: RepeatedRun) -> None:
        from drivers.peers import peers_for

        self.peers = peers_for(workload.name)
        self.noun = workload.noun
        self.optimum = run.problem.optimum
        # A proved result is optimal, so a better one rejects it.
        self.proves = workload.hash_scope == "result"
        self.proved = False
        self.problem = workload.for_peers(run.problem)
        self.first_seed = 1 + (run.options.seed or 0)
        self.races: list[PeerRace] = []
        self.measured: list[PeerMeasurement] = []
        self.cost: int | None = None
        self.own_s: list[float] = []
        self.startup_s: float | None = None

    def verdicts(self, result: RepetitionResult, running_s: float, before_s: float = 0.0) -> Iterator[VerifierVerdict]:
        """Yield the solvers' verdicts on a result; of its ``running_s`` an earlier process took ``before_s``."""
        from drivers.peers.measurement import PeerRace, PeerTask
        from drivers.peers.peer import confirming_peers, peer_rejections

        self.own_s.append(running_s)
        self.cost = cost = result.outcome.cost
        self.proved = self.proves and not result.gave_up
        if not self.races:
            self.startup_s = process_age_s() + before_s - running_s
            task = PeerTask(self.problem, running_s, cost)
            self.races = [PeerRace(peer, task) for peer in self.peers]
        for race in self.races:
            race.repeat(self.first_seed + len(self.own_s) - 1)
        self.measured = [race.measured() for race in self.races]
        if self.proved:
            for objection in peer_rejections(self.peers, self.measured, cost, self.noun):
                yield VerifierVerdict("", objection)
            for name in confirming_peers(self.measured, cost):
                yield VerifierVerdict(name)

    def recorded(self) -> list[dict[str, Any]]:
        return [{**peer._asdict(), "costs": list(peer.costs)} for peer in self.measured]

    def table(self) -> list[str]:
        """Return the lines of a table of all solvers for a terminal, ours first."""
        from reports.pages.reference_solvers import Solver, table_of
        from reports.text.tables import TERMINAL

        if not self.measured:
            return ["nothing to compare the reference solvers with: all repetitions are recorded"]
        median_s = statistics.median(self.own_s)
        own = Solver(THIS_SEARCH, self.proved, "", self.cost, median_s, self.startup_s, median_s)
        solvers = [own, *(Solver.of(entry) for entry in self.recorded() if not entry["failure"])]
        notes = [_spread(peer) for peer in self.measured if len({*peer.costs}) > 1]
        notes += [f"{peer.name}: {peer.failure}" for peer in self.measured if peer.failure]
        wrapped = [line for note in notes for line in textwrap.wrap(note, TERMINAL, subsequent_indent="  ")]
        return [*table_of("", (("", one, self.optimum) for one in solvers)).terminal().splitlines(), *wrapped]


def _spread(peer: PeerMeasurement) -> str:
    """Return a note on a solver with several results, of which the table has the worst."""
    other = max(peer.costs) if peer.cost == min(peer.costs) else min(peer.costs)
    remark = f"the best, {other}, was found in {peer.costs.count(other)}"
    return f"{peer.name}: its cost is the worst of {len(peer.costs)} repetitions; {remark}"


def process_age_s() -> float:
    """Return the seconds since this process began, including imports, the device and compilation."""
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux
        # psutil adds the system's start in whole seconds, and an age would be up to one second too long.
        ticks = int(read_text("/proc/self/stat").rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    import psutil

    return time.time() - float(psutil.Process().create_time())
