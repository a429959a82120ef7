"""Time ten workloads by one rank alone and by all ranks together, in turn, on GPUs or on cores.

mpirun -n 2 python -m drivers.bench --workload ranks                    GPUs if each rank has one, else a core each
mpirun -n 2 python -m drivers.bench --workload ranks --rows ppp,lcs     some rows of the table
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

from core.errors import UserError
from drivers.bench.runner import format_spread, speedup
from drivers.options.declaration import Options, options_for_rank
from drivers.options.output_files import require_writable_files
from drivers.runs.device_selection import gpus_here, select_backend
from drivers.runs.repetitions import RepetitionMeasurement, Repetitions, confirming_verifiers, overall_verdict
from drivers.runs.seeds import load_task, prepare_search
from drivers.runs.workload_main import parse_options
from drivers.workload.declaration import PreparedRun, RepetitionResult, Workload
from drivers.workload.registry import get_workload
from reports.text.formatting import duration


class RankBenchmarkRow(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    name : str
        What is run, in words; `--rows` takes parts of it.
    workload : str
        Whose.
    arguments : str
        Its command line.
    one_by_one : bool
        Whether a device has no room for both searches at once, so that all turns of one rank come first.

    """

    name: str
    workload: str
    arguments: str
    one_by_one: bool = False


PAPER_TSP_SEARCH = "--algorithm tabu --neighbourhood exchange2"
"""The paper's search for tours; the driver's own is another."""
ON_GPUS = (
    RankBenchmarkRow(
        "ppp 1301-1317, flip2, 2,000 iterations", "ppp", "--instance 1301-1317 --walks 1 --iterations 2000"
    ),
    RankBenchmarkRow(
        "tsp rl5915, exchange2, 2,000 iterations",
        "tsp",
        f"--instance rl5915 {PAPER_TSP_SEARCH} --walks 1 --iterations 2000",
    ),
    RankBenchmarkRow(
        "weierstrass n = 100, solution level, 500 iterations",
        "weierstrass",
        "--instance 100 --walks 1 --level solution --iterations 500",
    ),
    RankBenchmarkRow(
        "qap tai60a, 1,024 walks, 2,000 iterations", "qap", "--instance tai60a --walks 1024 --iterations 2000"
    ),
    RankBenchmarkRow("ihc kroA100, 100,000 climbers", "ihc", "--instance kroA100 --climbers 100000"),
    RankBenchmarkRow("aco lu980, 8,192 ants, 50 iterations", "aco", "--instance lu980 --ants 8192 --iterations 50"),
    RankBenchmarkRow("exact gr24, the thesis' bound", "exact", "--instance gr24 --bound edges"),
    RankBenchmarkRow("lcs 1,000,000 letters, length", "lcs", "--instance random:1000000 --no-trace"),
    RankBenchmarkRow("lcs 4,000,000 letters, length", "lcs", "--instance random:4000000 --no-trace"),
    RankBenchmarkRow("knapsack 1,500 items, capacity 10^7", "knapsack", "--items 1500 --capacity 10000000"),
    RankBenchmarkRow(
        "knapsack 1,500 items, capacity 10^9, value", "knapsack", "--items 1500 --capacity 1000000000 --no-trace"
    ),
    RankBenchmarkRow("heldkarp 30 cities", "heldkarp", "--instance uniform:30:seed=1"),
    RankBenchmarkRow("heldkarp 34 cities", "heldkarp", "--instance uniform:34:seed=1", one_by_one=True),
    RankBenchmarkRow("heldkarp 36 cities", "heldkarp", "--instance uniform:36:seed=1", one_by_one=True),
)
ON_CORES = (
    RankBenchmarkRow("ppp 201-217, flip2, 600 iterations", "ppp", "--instance 201-217 --walks 1 --iterations 600"),
    RankBenchmarkRow(
        "tsp 600 cities, exchange2, 900 iterations",
        "tsp",
        f"--instance uniform:600:seed=1 {PAPER_TSP_SEARCH} --walks 1 --iterations 900",
    ),
    RankBenchmarkRow(
        "weierstrass n = 100, solution level, 6 iterations",
        "weierstrass",
        "--instance 100 --walks 1 --level solution --iterations 6",
    ),
    RankBenchmarkRow("qap tai60a, 64 walks, 4,000 iterations", "qap", "--instance tai60a --walks 64 --iterations 4000"),
    RankBenchmarkRow("ihc kroA100, 6,000 climbers", "ihc", "--instance kroA100 --climbers 6000"),
    RankBenchmarkRow("aco pcb442, 442 ants, 80 iterations", "aco", "--instance pcb442 --ants 442 --iterations 80"),
    RankBenchmarkRow("exact gr17, the thesis' bound", "exact", "--instance gr17 --bound edges"),
    RankBenchmarkRow("lcs 150,000 letters, length", "lcs", "--instance random:150000 --no-trace"),
    RankBenchmarkRow("knapsack 1,500 items, capacity 10^6", "knapsack", "--items 1500 --capacity 1000000"),
    RankBenchmarkRow("knapsack 1,500 items, capacity 4 x 10^6", "knapsack", "--items 1500 --capacity 4000000"),
    RankBenchmarkRow("heldkarp 21 cities", "heldkarp", "--instance gr21"),
    RankBenchmarkRow("heldkarp 24 cities", "heldkarp", "--instance uniform:24:seed=1"),
)


DETAILS = {"recorded_by": "drivers.bench"}


class RankBenchmarkRuns:
    """The repetitions of a row by one rank or by all, on this rank, and what they came to on the first.

    Attributes
    ----------
    seconds, shares : list of float
        Of each repetition: its time, and the part of it in which the ranks communicated.
    result : Result or None
        Of the first repetition; every other must find the same.
    verdict : str
        Whether it is confirmed, in words.

    """

    def __init__(self, repetitions: Repetitions, hosts: int) -> None:
        self.repetitions: Any = repetitions
        repetitions.hosts = hosts
        self.seconds: list[float] = []
        self.shares: list[float] = []
        self.result: RepetitionResult | None = None
        self.confirmed: bool | None = None
        self.verdict = ""
        self.judges: list[str] = []

    def take(self) -> None:
        """Make a repetition; judge the first one, and record it if that is asked."""
        outcome, spent = self.repetitions.measure()
        if self.repetitions.ranks.rank:
            return
        self.seconds.append(spent.times.running_s)
        self.shares.append(spent.communication_share)
        result = self.repetitions.workload.result(self.repetitions.run, outcome)
        if self.result is None:
            self.judge(outcome, result)
        elif result.hash != self.result.hash:
            raise RuntimeError(f"{self.name}: hash {result.hash}, and {self.result.hash} in the first repetition")
        self.record(result, spent)

    @property
    def name(self) -> str:
        """The problem's name, and who works on it."""
        return f"{self.repetitions.run.problem.name} on {describe_ranks(self.repetitions.ranks.size)}"

    def judge(self, outcome: Any, result: RepetitionResult) -> None:
        """Have the first repetition confirmed."""
        opinions = list(self.repetitions.workload.judges(self.repetitions.run, outcome, result))
        self.result = result
        self.confirmed, self.verdict = overall_verdict(opinions, result, self.repetitions.unasked())
        self.judges = confirming_verifiers(opinions)
        if self.confirmed is False:
            raise RuntimeError(f"{self.name}: {self.verdict}")

    def record(self, result: RepetitionResult, spent: RepetitionMeasurement) -> None:
        """Append a repetition to the file of records, if there is one."""
        if self.repetitions.options.record:
            self.repetitions.append(result, spent, self.confirmed is True, self.judges)

    @property
    def hash(self) -> str:
        """What all repetitions found."""
        return "" if self.result is None else self.result.hash

    def fold(self) -> None:
        """Make one line of the lines of this run in the file of records."""
        if self.repetitions is not None and self.repetitions.options.record:
            from reports.records.files import identity, merge_lines

            merge_lines(self.repetitions.options.record, identity(**self.repetitions.identified()))


class RankBenchmarkLine(NamedTuple):
    """A row of the table when it is measured: seconds of one rank (None: it has no room) and of all."""

    name: str
    alone_s: float | None
    together_s: float
    ratio: float | None
    share: float


class RankBenchmarkTable:
    """All rows; every rank makes the same calls.

    Parameters
    ----------
    options
        Of the bench, as `drivers.bench.command_line` reads them.
    ranks
        The communicator, which measures its own time.

    """

    def __init__(self, options: argparse.Namespace, ranks: Any) -> None:
        self.options = options
        self.ranks = ranks
        self.hosts = (ranks.gather(ranks.local_rank) or [0]).count(0)
        self.began = time.monotonic()
        self.lines: list[RankBenchmarkLine] = []

    def say(self, line: str) -> None:
        """Print a line, on the first rank."""
        if self.ranks.rank == 0:
            print(line, flush=True)

    @property
    def is_over(self) -> bool:
        """Whether the time is over, by the first rank's clock."""
        passed = time.monotonic() - self.began
        over: bool = self.ranks.bcast(self.options.time_budget is not None and passed > self.options.time_budget)
        return over

    def run(self) -> None:
        """Measure all rows that are asked for, and print the table."""
        rows, places = self.rows()
        self.say(
            f"{len(rows)} rows, one rank alone and {self.ranks.size} together in turn, {self.options.repeats} "
            f"repetitions each; medians (minimum .. maximum); {places}"
        )
        for number, row in enumerate(rows, 1):
            if self.is_over:
                self.say(
                    f"\n{duration(self.options.time_budget)} have passed: {len(rows) - number + 1} rows not measured"
                )
                break
            self.say(f"\n[{number}/{len(rows)}] {row.name}")
            self.measure(row)
            gc.collect()
        if self.lines:
            self.say("\n" + "\n".join(format_table(self.lines, self.ranks.size)))

    def rows(self) -> tuple[list[RankBenchmarkRow], str]:
        """The rows for the devices that the ranks have, and those devices in words."""
        backend = select_backend(self.settled(Options()), self.ranks, gpus_here(), one_core=False)
        device = backend.device
        backend.close()
        found = self.ranks.bcast(self.ranks.gather((device.kind, f"{backend.name} ({device.name})")))
        all_rows = ON_GPUS if all(kind == "gpu" for kind, _ in found) else ON_CORES
        parts = self.options.rows.lower().split(",") if self.options.rows else [""]
        rows = [row for row in all_rows if any(part in row.name.lower() for part in parts)]
        if not rows:
            names = "; ".join(row.name for row in all_rows)
            raise UserError(f"--rows {self.options.rows}: expected a part of one of: {names}")
        return rows, ", ".join(dict.fromkeys(place for _, place in found))

    def settled(self, own: Any) -> Any:
        """A workload's options with what the bench says of all rows."""
        given = self.options
        return replace(
            own, data=given.data, seed=given.seed, backend=given.backend, progress=False, distribute="always",
            record=given.record,
        )  # fmt: skip

    def measure(self, row: RankBenchmarkRow) -> None:
        """All turns of a row."""
        workload = get_workload(row.workload)
        own = self.settled(parse_options(workload, None, row.arguments.split()))
        task = self.task(workload, own)
        if isinstance(task, str):
            self.say(f"    not measured ({task})")
            return
        options = options_for_rank(task.options, own)
        single: RankBenchmarkRuns | None = None
        if row.one_by_one and self.ranks.rank == 0:
            single = self.before_the_others(workload, PreparedRun(options, task.problem, task.source, None, self.ranks))
        self.ranks.assemble()
        search = prepare_search(workload, self.ranks, task.problem, options)
        try:
            run = PreparedRun(options, task.problem, task.source, search, self.ranks)
            together = RankBenchmarkRuns(Repetitions(workload, run, DETAILS), self.hosts)
            if self.ranks.rank == 0 and not row.one_by_one:
                single = self.alone(workload, run)
            for repetition in range(self.options.repeats):
                if repetition and self.is_over:
                    break
                if single is not None and not row.one_by_one:
                    single.take()
                together.take()
            if self.ranks.rank == 0:
                self.conclude(row, single, together)
        finally:
            search.backend.close()

    def task(self, workload: Workload[Any], own: Any) -> Any:
        """What the first rank makes of a row's command line, or in words why it cannot."""
        task: Any = None
        if self.ranks.rank == 0:
            try:
                task = load_task(workload, own, self.ranks.size)
            except UserError as error:
                task = str(error)
        self.ranks.assemble()
        return self.ranks.bcast(task)

    def before_the_others(self, workload: Workload[Any], run: PreparedRun[Any]) -> RankBenchmarkRuns | None:
        """All turns of one rank, whose device is free again afterwards."""
        backend = select_backend(run.options, self.ranks, gpus_here(), one_core=False)
        try:
            single = self.alone(workload, replace(run, search=SimpleNamespace(backend=backend)))
            if single is not None:
                for _ in range(self.options.repeats):
                    single.take()
                single.fold()
                single.repetitions = None
            return single
        except MemoryError as error:
            self.say(f"    1 rank: not measured ({error})")
            return None
        finally:
            backend.close()
            gc.collect()

    def alone(self, workload: Workload[Any], run: PreparedRun[Any]) -> RankBenchmarkRuns | None:
        """The turns of one rank, on the first; None, and says why, where it has no room for all of the work."""
        from cluster import Solo
        from cluster.mpi.proxies import TimedCommunicator

        try:
            search = workload.search(run.search.backend, Solo(), run.problem, run.options)
        except (MemoryError, UserError) as error:
            self.say(f"    1 rank: not measured ({error})")
            return None
        return RankBenchmarkRuns(
            Repetitions(workload, replace(run, search=search, ranks=TimedCommunicator(Solo())), DETAILS), 1
        )

    def conclude(self, row: RankBenchmarkRow, single: RankBenchmarkRuns | None, together: RankBenchmarkRuns) -> None:
        """Show a row, on the first rank, if both found the same."""
        ratio = None
        if single is not None:
            if single.hash != together.hash:
                raise RuntimeError(f"{row.name}: hash {single.hash} by one rank, {together.hash} by all of them")
            print(f"    {'1 rank':10} {format_spread(single.seconds)}")
            count = len(together.seconds)
            ratio = speedup(together.seconds, single.seconds[:count])
        share = statistics.median(together.shares)
        told = "" if ratio is None else f"  {ratio:.2f}x as fast"
        times = f"{describe_ranks(self.ranks.size):10} {format_spread(together.seconds)}{told}"
        print(f"    {times}, {share:.1%} in communication")
        print(f"    same result: hash {together.hash}, {together.verdict}", flush=True)
        for turns in (single, together):
            if turns is not None:
                turns.fold()
        alone_s = None if single is None else statistics.median(single.seconds)
        self.lines.append(RankBenchmarkLine(row.name, alone_s, statistics.median(together.seconds), ratio, share))


def describe_ranks(count: int) -> str:
    """A number of ranks."""
    return "1 rank" if count == 1 else f"{count} ranks"


def format_table(lines: Sequence[RankBenchmarkLine], ranks: int) -> Iterator[str]:
    """The table of all rows."""
    yield f"| workload | 1 rank, s | {ranks} ranks, s | times as fast | in communication |"
    yield "|---|--:|--:|--:|--:|"
    for name, alone_s, together_s, ratio, share in lines:
        alone, times = (
            "not enough memory" if alone_s is None else f"{alone_s:.4g}",
            "" if ratio is None else f"{ratio:.2f}",
        )
        yield f"| {name} | {alone} | {together_s:.4g} | {times} | {share:.1%} |"


def measure_table(options: argparse.Namespace) -> int:
    """Measure the table over the ranks of this job.

    Raises
    ------
    UserError
        There is one rank alone, the ranks were not started alike, or a file cannot be written at the end.

    """
    from cluster import default_communicator, require_equal_arguments
    from cluster.mpi.proxies import TimedCommunicator

    ranks = default_communicator()
    if ranks.size == 1:
        raise UserError("--workload ranks: found one rank, expected several, as in mpirun -n 2")
    given = {name: str(value) for name, value in sorted(vars(options).items())}
    require_equal_arguments(ranks, {"program": "python -m drivers.bench", **given})
    if ranks.rank == 0:
        require_writable_files(options)
    RankBenchmarkTable(options, TimedCommunicator(ranks)).run()
    return 0
