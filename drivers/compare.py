"""`make compare`: iterative hill climbing on every device of this machine, proof of equal work, and a report.

Each configuration runs in a process of its own, so that no backend warms, slows or breaks another.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import UserError
from drivers import guardian
from drivers.options import DONE, FAILED, add_work_options, natural, positive, run_driver
from reports import markdown, plots
from reports.comparison import Comparison, NotRun, compare
from reports.records import Record, RecordError, UnequalWorkError, load
from reports.table import print_table

RECORDS = "compare.jsonl"
ONE_CORE = "core"
"""The kind of device that a rank takes, and that the baseline has."""
# One repetition on one core is to take about a second, at the 10^9 moves per second that a core reaches.
MOVES_PER_REPETITION = 10**9


@dataclass(frozen=True)
class Configuration:
    """One way to run the workload."""

    backend: str
    device: str
    device_name: str
    ranks: int = 1

    def __str__(self) -> str:
        """Name it as messages do."""
        ranks = f", {self.ranks} ranks" if self.ranks > 1 else ""
        return f"{self.backend} (device {self.device}: {self.device_name}{ranks})"


@dataclass(frozen=True)
class Work:
    """What every configuration computes, and where it is recorded."""

    instance: str
    data: str | None
    climbers: int
    repeats: int
    seed: int
    records: Path
    scan: str = "full"


@dataclass(frozen=True)
class House:
    """The parts of the suite that a comparison calls; the tests hand in others.

    Attributes
    ----------
    survey : callable
        Devices of all backends, as `backends.survey` lists them.
    find_instance : callable
        (spec or None, data folder or None) -> (spec, loaded instance, why this one).
    command : callable
        (Configuration, Work) -> the command line that runs it.
    """

    survey: Callable[[], Iterable[Any]]
    find_instance: Callable[[str | None, str | None], tuple[str, Any, str]]
    command: Callable[[Configuration, Work], list[str]]


def main(argv: Sequence[str] | None = None, house: House | None = None) -> int:
    """Compare; returns 0 when every configuration ran and did the same work, 1 when not.

    Raises
    ------
    UserError
        A backend that does not exist or is not usable here was named, or kept records are of other work.
    """
    options = _parser().parse_args(argv)
    house = house or House(_survey, _find_instance, driver_command)
    configurations, not_run = plan(list(house.survey()), options.backends, options.ranks)
    spec, instance, why = house.find_instance(options.instance, options.data)
    work = Work(
        instance=spec,
        data=options.data,
        climbers=options.climbers or sensible_climbers(instance.n),
        repeats=options.repeats,
        seed=options.seed,
        records=options.out / RECORDS,
        scan=options.scan,
    )
    _prepare(options.out, work, instance, options.keep)
    print(f"{instance.name}, {instance.n} cities ({why}); {work.climbers} climbers, {work.repeats} repetitions")
    failures = [failure for failure in (_run(c, house.command(c, work), work) for c in configurations) if failure]
    return _conclude(work, [*not_run, *failures], bool(failures), options.out, why)


def plan(
    devices: Sequence[Any], backends: Sequence[str] | None, ranks: Sequence[int]
) -> tuple[list[Configuration], list[NotRun]]:
    """Choose which configurations to run, the one-core baseline first, and which not and why.

    Parameters
    ----------
    devices : sequence
        Objects with `backend, device, name, usable, reason, kind, oracle`, as `backends.survey` has them.
    backends : sequence of str, optional
        Only these; None: all but the oracle, which is thousands of times slower.
    ranks : sequence of int
        Numbers of MPI ranks to run one core's backend over besides.

    Raises
    ------
    UserError
        A named backend is unknown or not usable here, or nothing is left to run.
    """
    chosen: list[Configuration] = []
    kinds: dict[Configuration, str] = {}
    not_run: list[NotRun] = []
    _refuse_unusable(devices, backends or ())
    for device in devices:
        if backends is not None and device.backend not in backends:
            continue
        if backends is None and device.oracle:
            why = f"the oracle, far too slow to race: --backends {device.backend}"
            not_run.append(NotRun(device.backend, device.device, 1, why))
        elif device.usable:
            chosen.append(Configuration(device.backend, device.device, device.name))
            kinds[chosen[-1]] = "" if device.oracle else device.kind
        else:
            not_run.append(NotRun(device.backend, device.device, 1, _one_line(device.reason)))
    chosen.sort(key=lambda configuration: kinds[configuration] != ONE_CORE)
    if not chosen:
        raise UserError("no backend is usable here: `python -m backends` says why")
    if kinds[chosen[0]] == ONE_CORE:
        obstacle = mpi_obstacle()
        for count in ranks:
            ranked = replace(chosen[0], ranks=count)
            if count > 1 and obstacle:
                not_run.append(NotRun(ranked.backend, ranked.device, count, obstacle))
            elif count > 1:
                chosen.append(ranked)
    return chosen, not_run


def sensible_climbers(cities: int) -> int:
    """Choose climbers for about a second on one core: a climb takes about n steps of (n-1)(n-2)/2 moves."""
    climbers = MOVES_PER_REPETITION // max(1, cities * (cities - 1) * (cities - 2) // 2)
    rounded = int(float(f"{climbers:.0e}"))
    return min(100_000, max(16, rounded))


def driver_command(configuration: Configuration, work: Work) -> list[str]:
    """Return the command line that runs one configuration and records it."""
    command = [sys.executable, "-m", "drivers.ihc", "--instance", work.instance]
    command += ["--data", work.data] if work.data else []
    command += ["--climbers", str(work.climbers), "--scan", work.scan, "--backend", configuration.backend]
    command += ["--device", configuration.device, "--repeats", str(work.repeats), "--seed", str(work.seed)]
    command += ["--record", str(work.records), "--no-progress"]
    launcher = mpirun()
    if configuration.ranks > 1 and launcher:
        return [launcher, "-n", str(configuration.ranks), "--map-by", ":OVERSUBSCRIBE", *command]
    return command


def mpirun() -> str | None:
    """Find the MPI launcher: the one installed beside this Python, else the one on the path, else None."""
    beside = Path(sys.executable).with_name("mpirun")
    return str(beside) if beside.exists() else shutil.which("mpirun")


def mpi_obstacle() -> str | None:
    """Say why several ranks cannot run here; None when they can."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is missing: pip install -e '.[mpi]'"
    if mpirun() is None:
        return "no mpirun beside this Python or on the path: pip install -e '.[mpi]'"
    return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m drivers.compare",
        description="Run iterative hill climbing on every usable device, check that all did the "
        "same work, and write a speed-up report.",
    )
    add_work_options(parser, repeats=7)
    parser.add_argument(
        "--climbers",
        type=positive,
        metavar="C",
        help="random restarts (default: about a second of one core's work)",
    )
    parser.add_argument(
        "--scan",
        choices=("full", "pruned"),
        default="full",
        help="evaluate every move, as the paper does, or leave out those that cannot win (%(default)s)",
    )
    parser.add_argument(
        "--backends",
        nargs="+",
        metavar="B",
        help="only these backends (default: all usable ones but the oracle, python)",
    )
    parser.add_argument(
        "--ranks",
        nargs="*",
        type=natural,
        default=[2, 4],
        metavar="N",
        help="numbers of MPI ranks to run one core's backend over (default: 2 4; nothing after it: none)",
    )
    parser.add_argument("--out", type=Path, default=Path("reports/out"), metavar="DIR", help="folder (%(default)s)")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="continue the records of the last comparison: run only what is missing",
    )
    return parser


def _survey() -> Iterable[Any]:
    import backends

    return backends.survey()


def _find_instance(spec: str | None, data: str | None) -> tuple[str, Any, str]:
    from core.problems import sources, tsp

    why = "as asked for"
    if spec is None:
        spec, why = sources.default_instance(data)
    return spec, tsp.load(spec, data), why.rstrip(".")


def _refuse_unusable(devices: Sequence[Any], named: Sequence[str]) -> None:
    known = list(dict.fromkeys(device.backend for device in devices))
    for name in named:
        if name not in known:
            raise UserError(f"--backends: expected some of {', '.join(known)}, found {name!r}")
        if not any(device.usable for device in devices if device.backend == name):
            reasons = "; ".join(_one_line(device.reason) for device in devices if device.backend == name)
            raise UserError(f"--backends: {name} is not usable here: {reasons}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _prepare(folder: Path, work: Work, instance: Any, keep: bool) -> None:
    """Make room: no report of an earlier comparison may be taken for this one's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stale in (markdown.REPORT, *(f"speedup.{form}" for form in plots.FORMATS)):
            (folder / stale).unlink(missing_ok=True)
        if not keep and work.records.exists():
            work.records.replace(work.records.with_suffix(".previous.jsonl"))
    except OSError as error:
        raise UserError(f"{folder}: cannot write there: {error.strerror}") from None
    if work.records.exists():
        for record in load(work.records):
            found = (record.instance_sha256, record.parameters.get("climbers"), record.seed)
            if found != (instance.sha256, work.climbers, work.seed):
                raise UserError(
                    f"{record.origin}: --keep would mix work: the record has another instance, seed or "
                    f"number of climbers than {instance.name}, {work.seed}, {work.climbers}"
                )


def _run(configuration: Configuration, command: list[str], work: Work) -> NotRun | None:
    """Run one configuration; None when it left its record, else why not."""
    print(f"  {configuration} ...", end=" ", flush=True)
    environment = dict(os.environ)
    if configuration.ranks > 1 and os.geteuid() == 0:
        # Containers are often root-only; without these two Open MPI refuses to start there.
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    result = guardian.run(command, environment)
    record = _record_of(configuration, work)
    if result.returncode == 0 and record is not None:
        print(f"best {record.best_cost}, hash {record.hashed}")
        return None
    said = result.stderr.strip().splitlines()
    reason = f"failed with exit code {result.returncode}" if result.returncode else "wrote no record"
    print(reason)
    print("\n".join(f"    {line}" for line in said[-20:]), file=sys.stderr)
    reason += f": {_telling_line(said)}" if said else ""
    return NotRun(configuration.backend, configuration.device, configuration.ranks, reason)


def _telling_line(said: Sequence[str]) -> str:
    """Pick the line that names the error; a launcher's own lines come after it."""
    errors = [line for line in said if re.match(r"(error\b|[\w.]*(Error|Exception)\b)", line)]
    return errors[-1] if errors else said[0]


def _record_of(configuration: Configuration, work: Work) -> Record | None:
    if not work.records.exists():
        return None
    key = (configuration.backend, configuration.device, configuration.ranks)
    found = (r for r in load(work.records) if r.ways.get("scan", work.scan) == work.scan)
    return next((r for r in found if (r.backend, r.device, r.ranks) == key), None)


def _conclude(work: Work, not_run: Sequence[NotRun], failed: bool, folder: Path, why: str) -> int:
    if not work.records.exists():
        print("error: nothing ran, so there is nothing to compare", file=sys.stderr)
        return FAILED
    try:
        comparison = compare(load(work.records), not_run)
    except (UnequalWorkError, RecordError) as error:
        # The records are our own programs' doing: no mistake of the user.
        print(f"error: {error}. No report was written; the records are in {work.records}", file=sys.stderr)
        return FAILED
    print()
    print_table(comparison)
    for path in markdown.write(comparison, folder, why):
        print(path)
    return FAILED if failed or _doubted(comparison) else DONE


def _doubted(comparison: Comparison) -> bool:
    """Say which runs the NumPy scorer contradicted, and whether there are any."""
    doubted = [row for row in comparison.not_run if row.wrong]
    for row in doubted:
        print(f"error: {row}", file=sys.stderr)
    return bool(doubted)


if __name__ == "__main__":
    sys.exit(run_driver(main))
