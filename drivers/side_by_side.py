"""A comparison from Python, as a notebook makes it: `drivers.compare` on a problem, and what came out to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends import NAMES
from core.arguments import integer, path, refuse, several, text
from core.errors import UserError
from core.problems.problem import Problem, checked_problem
from core.search.local_search import Algorithm
from core.search.local_search.algorithms import checked_algorithm
from drivers import compare as program
from drivers import handed_over
from drivers.algorithms import options_of_algorithm
from drivers.compare_options import read
from drivers.own_problem import workload_of
from drivers.workload import Workload
from drivers.workloads import named
from reports import experiment, table
from reports.plots import shown_speedups
from reports.runs import Runs
from reports.sections import Compared


@dataclass(frozen=True)
class Comparison:
    """What a comparison found, and where its files are.

    Attributes
    ----------
    sections : list of reports.sections.Compared
        One for each instance: rows with their speed-ups, and what has to be said of them.
    report : Path
        The report in Markdown; LaTeX and charts lie beside it.
    records : Path
        The file of records.
    complete : bool
        Whether all ran that could have been run.

    """

    sections: list[Compared]
    report: Path
    records: Path
    complete: bool

    def __str__(self) -> str:
        """Word the tables, for a terminal of 80 columns."""
        several = len(self.sections) > 1
        told = [table.lines(one, titled=several, explained=not n) for n, one in enumerate(self.sections)]
        return "\n".join(line for lines in told for line in lines)

    __repr__ = __str__

    @property
    def runs(self) -> Runs:
        """The records that are compared."""
        return Runs(record for section in self.sections for record in section.records)

    def plot(self, axes: Any = None, section: int = 0) -> Any:
        """Draw the speed-ups of a section over one core.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; by default in a figure of its own.
        section : int
            Of which instance.

        Returns
        -------
        matplotlib Axes

        """
        if not 0 <= integer("section", section) < len(self.sections):
            refuse("section", section, f"0 to {len(self.sections) - 1}")
        return shown_speedups(self.sections[section], axes)


def compare(
    problem: Problem | str,
    algorithm: Algorithm | None = None,
    *,
    backends: Sequence[str] | None = None,
    ranks: Sequence[int] = (),
    out: str | Path = "reports/out",
    **options: Any,
) -> Comparison:
    """Run the same work on several devices, each in a process of its own, check that it was the same, and report.

    What is recorded in ``out`` already is not run again.

    Parameters
    ----------
    problem
        A problem, also one that a notebook's cells define, or a workload's name, such as ``"ihc"``.
    algorithm
        Of local search; by default tabu search.
    backends
        By default all that are usable here.
    ranks
        Numbers of MPI ranks to run besides.
    out
        The folder of records and reports.
    **options
        Further options of ``python -m drivers.compare``: ``repeats=7``, ``seeds="0..9"``, ``iterations=1000``, ...

    Raises
    ------
    UserError
        Of the command line; or nothing ran.
    UnequalWorkError
        Devices did not do the same work.

    """
    if not isinstance(problem, str):
        checked_problem(problem)
    counts = [integer("ranks", one, 1) for one in several("ranks", ranks, "several integers, such as [2, 4]")]
    words = ["--out", path("out", out), "--ranks", *map(str, counts)]
    if backends is not None:
        names = several("backends", backends, f"some of {', '.join(NAMES)}")
        words += ["--backends", *(text("backends", one) for one in names)]
    given = {**(options_of_algorithm(checked_algorithm(algorithm)) if algorithm is not None else {}), **options}
    words += [word for name, value in given.items() for word in words_of(name, value)]
    workload, asked, rest = read(words, declared(problem, Path(out)))
    ran = program.contested(workload, asked, rest, program.House(program.survey))
    if not any(section.records for section in ran.sections):
        raise UserError(f"{workload.name}: nothing ran, so there is nothing to compare")
    sections = experiment.side_by_side(ran.sections)
    written = experiment.write(sections, asked.out, ran.name)
    return Comparison(sections, written[0], ran.records, not ran.failed and not ran.missing)


def declared(problem: Problem | str, folder: Path) -> Workload[Any]:
    """The workload of that name, or that of a problem, which other processes read from a file in the folder."""
    if isinstance(problem, str):
        return named(problem)
    workload = workload_of(problem, ())
    file = folder / f"{workload.name}-{problem.sha256[:12]}.problem"
    handed_over.save(problem, file)
    return workload_of(problem, handed_over.started(str(file)))


def words_of(name: str, value: Any) -> list[str]:
    """An option as the command line has it: True is a flag, None is nothing, several values follow one another."""
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, range):
        return [flag, ",".join(map(str, value))]
    return [flag, *map(str, value)] if isinstance(value, (list, tuple)) else [flag, str(value)]
