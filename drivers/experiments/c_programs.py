"""C programs that do a workload's work on one core: reference programs, compiled with gcc and recorded like ours.

python -m drivers.experiments.c_programs FORM WORKLOAD ...    as `python -m drivers.WORKLOAD ...`, on one core in C
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from core.errors import UserError
from drivers.cli.exit_codes import DONE, run_driver
from drivers.experiments.case import Case, seed_words
from drivers.experiments.configurations import ONE_CORE, Configuration

if TYPE_CHECKING:
    from core.run.protocol import SearchResult
    from drivers.options.declaration import AnyOptions
    from drivers.workload.declaration import Task, Workload

SOURCES = Path(__file__).parents[1] / "bench" / "reference_programs"
FLAGS = ("-O3", "-march=native")
BACKEND = "C"
"""Backend in records of these programs."""


def write_distances(path: Path, distances: np.ndarray, options: object) -> None:
    path.write_bytes(struct.pack("<Q", len(distances)) + distances.astype("<u4").tobytes())


def write_colony(path: Path, distances: np.ndarray, options: Any) -> None:
    """Write cities renumbered along a nearest-neighbour tour, its length, the distances and the heuristic values.

    NumPy computes the heuristic values for all, since another power function may differ in the last bit.
    """
    from core.ant_colony.settings import heuristic
    from core.tours.start_tours import nearest_neighbour_tour

    tour = nearest_neighbour_tour(distances)
    renumbered = distances[np.ix_(tour, tour)]
    length = int(distances[tour, np.roll(tour, -1)].sum(dtype=np.int64))
    header, values = struct.pack("<QQ", len(tour), length), heuristic(renumbered, options.settings().beta)
    path.write_bytes(header + renumbered.astype("<u4").tobytes() + values.astype("<f4").tobytes())


def colony_arguments(options: Any) -> tuple[object, ...]:
    """Return ants, iterations, the fraction of 2^32 that evaporates, and the seed."""
    from core.ant_colony.settings import part_of_32_bits

    settings = options.settings()
    return settings.ants, options.iterations, part_of_32_bits(settings.rho), options.seed


class CProgram(NamedTuple):
    """A C program of a workload.

    Attributes
    ----------
    forms : mapping
        Further arguments of gcc by name.
    write
        Writes a matrix of distances to a file.
    arguments
        Makes the arguments after that file from the options.
    execution : mapping
        Settings in records that it shares with our kernels.
    """

    source: str
    forms: Mapping[str, tuple[str, ...]]
    write: Callable[[Path, np.ndarray, Any], None]
    arguments: Callable[[Any], tuple[object, ...]]
    execution: Mapping[str, Any]


PROGRAMS = {
    "ihc": CProgram(
        "hill_climbing.c",
        {"C, plain loops": (), "C, ordered copies": ("-DORDERED",)},
        write_distances,
        lambda options: (options.climbers,),
        {"mapping": "native", "scan": "full"},
    ),
    # The strategies are equal on one core, where one lane does everything.
    "aco": CProgram(
        "ant_system.c",
        {"C, plain loops": (), "C, vector types": ("-DVECTORS",)},
        write_colony,
        colony_arguments,
        {"mapping": "native", "strategy": "fine-deposit"},
    ),
}


@dataclass(frozen=True)
class CProgramCase(Case):
    """A case that a C program runs; the name of its configuration is the form."""

    @classmethod
    def of_form(cls, case: Case, form: str) -> CProgramCase:
        place = Configuration(BACKEND, "0", form, kind=ONE_CORE)
        return cls(**{**vars(case), "asked": {**case.asked, "program": form}, "configuration": place})

    def command(self) -> list[str]:
        command = [sys.executable, "-m", "drivers.experiments.c_programs", self.configuration.device_name]
        command += [self.workload.name, *self.arguments, *seed_words(self.seeds)]
        return [*command, *self.repetition_words, "--record", str(self.records)]


def compiler_obstacle(wanted: bool) -> str:
    """Return the reason against C programs, or an empty text."""
    if not wanted:
        return "no reference programs in C: --reference-programs compiles them with gcc"
    return "" if shutil.which("gcc") else "no reference programs in C: they need gcc, which is not here"


def compile_program(source: str, flags: Sequence[str], folder: Path) -> Path:
    """Compile a file of `SOURCES` with further arguments of gcc. Raises `UserError` if gcc fails."""
    program = folder / Path(source).stem
    command = ["gcc", *FLAGS, *flags, str(SOURCES / source), "-o", str(program)]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode:
        raise UserError(f"gcc does not compile {source}: {' '.join(compiled.stderr.split())[:200]}")
    return program


def run_program(program: Path, *arguments: object) -> dict[str, str]:
    """Run a program; return its printed values by name. Raises `CalledProcessError` if it refuses its arguments."""
    command = [str(program), *map(str, arguments)]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def main(argv: Sequence[str] | None = None) -> int:
    from drivers.runs.workload_main import parse_options
    from drivers.workload.registry import get_workload

    form, name, *arguments = sys.argv[1:] if argv is None else argv
    workload, chosen = get_workload(name), PROGRAMS[name]
    task = workload.load(parse_options(workload, None, arguments), 1)
    with tempfile.TemporaryDirectory(prefix="onekernel-bench-") as folder:
        program = compile_program(chosen.source, chosen.forms[form], Path(folder))
        instance = Path(folder) / "instance"
        chosen.write(instance, task.problem.distances, task.options)
        record_runs(workload, form, task, lambda options: run_program(program, instance, *chosen.arguments(options)))
    return DONE


def record_runs(
    workload: Workload[AnyOptions], form: str, task: Task, run: Callable[[AnyOptions], Mapping[str, str]]
) -> None:
    """Make the repetitions that are not recorded yet, of a fixed amount or of a rate, and record each.

    A repetition is a process; its time is that of the work in it. A run is verified if the file has a verified run of
    the same work with the same hash.
    """
    from backends.device import DeviceInfo
    from cluster import Solo
    from cluster.mpi.proxies import TimedCommunicator
    from drivers.runs.measuring import repetition_plan
    from drivers.runs.recording import RunRecorder
    from drivers.workload.declaration import PreparedRun, RepetitionResult
    from reports.records.environment import environment
    from reports.records.files import load_existing, merge_lines
    from reports.records.meters import Meter
    from reports.records.schema import Repetition

    chosen, options, problem = PROGRAMS[workload.name], task.options, task.problem
    version = subprocess.run(["gcc", "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()

    class CRecorder(RunRecorder):
        @property
        def execution(self) -> dict[str, Any]:
            program = " ".join((chosen.source, *chosen.forms[form]))
            return {**chosen.execution, "program": program, "compiler": f"gcc {version} {' '.join(FLAGS)}"}

    core = DeviceInfo("0", environment()["cpu_model"], "gcc", 0, 1)
    backend = SimpleNamespace(name=BACKEND, device=core, is_reference=False, launched=())
    search = SimpleNamespace(unit=workload.unit, backend=backend)
    prepared = PreparedRun[Any, Any, Any](options, problem, task.source, search, TimedCommunicator(Solo()))
    unit = workload.work_unit(options, problem)
    recorder = CRecorder(workload, prepared, unit)
    plan, meter = repetition_plan(options, unit), Meter(ONE_CORE, "0")
    name, recorded = recorder.find()
    plan.resume(recorded)
    first: Mapping[str, str] = {}
    while (work := plan.next_work()) is not None:
        amount: dict[str, Any] = {unit.option: work.amount} if unit.option else {}
        with meter:
            reported = [run(replace(options, **amount)) for _ in range(work.runs)]
        first = first or reported[0]
        seconds = sum(float(one["seconds"]) for one in reported)
        kind = plan.add(seconds)
        spent = Repetition(
            *(0.0, 0.0, seconds, seconds),
            kind=kind,
            turn=plan.turn,
            work=work.total * unit.each,
            evaluations=sum(int(one["evaluations"]) for one in reported) if kind in ("trial", "rate") else None,
            **meter.values,
        )
        cost, evaluations, digest = int(first["best"]), int(first["evaluations"]), first["digest"]
        outcome = cast("SearchResult", SimpleNamespace(cost=cost, evaluations=evaluations, hash=digest, history=None))
        result = RepetitionResult(outcome, "", int(first["index"]), {"cities": problem.n})
        same = (workload.name, problem.sha256, digest)
        verified = any(
            one.verified
            for one in load_existing(recorder.path)
            if (one.workload, one.instance_sha256, one.hash) == same
        )
        recorder.append(result, spent, verified, {"options": {**options.asked(), "program": form}})
    merge_lines(recorder.path, name)


if __name__ == "__main__":
    sys.exit(run_driver(main))
