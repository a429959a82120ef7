"""Comparisons from Python and notebooks: `drivers.compare` on a problem, and its tables and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backends import NAMES
from core.arguments import checked_call, integer, path, refuse, sequence, text
from core.errors import UserError
from core.local_search import Algorithm
from core.local_search.algorithms import ALGORITHMS
from core.local_search.problem import Problem, checked_problem
from drivers.experiments.options import flag_words
from drivers.experiments.presets.compare import compared, run_comparison
from drivers.experiments.presets.compare_options import read_options
from drivers.library import serialised_problem
from drivers.library.custom_problem import declare_workload
from drivers.library.minimize import refuse_algorithm
from drivers.options.local_search import SearchOptions, algorithm_options
from drivers.workload.declaration import Workload
from drivers.workload.registry import get_workload
from reports.pages import comparison as comparison_page
from reports.plots.rates import show_rates
from reports.rates import RateSection
from reports.runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison, and its files.

    Attributes
    ----------
    sections : list of reports.rates.RateSection
        A section for each instance, with a data frame of rates.
    report
        File of the report in Markdown; charts are beside it.
    records
        File of records.
    complete
        True if no run failed and none is missing.
    """

    sections: list[RateSection]
    report: Path
    records: Path
    complete: bool

    def __str__(self) -> str:
        """Return the tables, for a terminal of 80 columns."""
        return "\n".join(comparison_page.lines(self.sections))

    __repr__ = __str__

    @property
    def runs(self) -> Runs:
        return Runs(record for section in self.sections for record in section.records)

    def plot(self, axes: Axes | None = None, section: int = 0) -> np.ndarray:
        """Draw the rates of a section; the result is of the kind of `Results.plot`.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Axes to draw in; by default those of a new figure.
        section : int
            Index of the section.

        Returns
        -------
        ndarray of matplotlib Axes, shape (1,)
        """
        if not 0 <= integer("section", section) < len(self.sections):
            refuse("section", section, f"0 to {len(self.sections) - 1}")
        return np.asarray([show_rates(self.sections[section], axes)])


@checked_call
def compare(
    problem: Problem | str,
    algorithm: Algorithm | None = None,
    *,
    backends: Sequence[str] | None = None,
    ranks: Sequence[int] = (),
    out: str | Path = "reports/out",
    **options: object,
) -> Comparison:
    """Run equal work on several devices, each in a separate process, compare the hashes, and write a report.

    Runs that are recorded in ``out`` are not repeated.

    Parameters
    ----------
    problem
        A problem, which the cells of a notebook may define, or the name of a workload, such as ``"ihc"``.
    algorithm
        Algorithm of local search; by default tabu search.
    backends
        Names of backends; by default all that are usable here.
    ranks
        Numbers of MPI ranks, each of which is another run.
    out
        Folder of records and reports.
    **options
        Further options of ``onekernel compare``: ``measure=10``, ``seeds="0..9"``, ``iterations=1000``, ...

    Raises
    ------
    UserError
        A wrong option, or no run succeeded.
    UnequalWorkError
        The hashes of two devices differ.
    """
    if not isinstance(problem, str):
        checked_problem(problem)
    counts = [integer("ranks", one, 1) for one in sequence("ranks", ranks, "several integers, such as [2, 4]")]
    words = ["--out", path("out", out), "--ranks", *map(str, counts)]
    if backends is not None:
        names = sequence("backends", backends, f"some of {', '.join(NAMES)}")
        words += ["--backends", *(text("backends", name) for name in names)]
    chosen_options = {**(options_of_algorithm(algorithm) if algorithm is not None else {}), **options}
    words += [word for name, value in chosen_options.items() for word in option_words(name, value)]
    workload, asked, rest = read_options(words, shareable_workload(problem, Path(out)))
    ran = run_comparison(workload, asked, rest)
    if not any(section.records for section in ran.sections):
        raise UserError(f"{workload.name}: nothing ran, so there is nothing to compare")
    sections = compared(ran)
    written = comparison_page.write(sections, asked.out, ran.name)
    return Comparison(sections, written[0], ran.records, not ran.failed and not ran.missing)


def shareable_workload(problem: Problem | str, folder: Path) -> Workload[Any]:
    """Return the workload of that name, or of a problem, which other processes read from a file in the folder."""
    if isinstance(problem, str):
        return get_workload(problem)
    workload = declare_workload(problem, ())
    file = folder / f"{workload.name}-{problem.sha256[:12]}.problem"
    serialised_problem.save_problem(problem, file)
    return declare_workload(problem, serialised_problem.start_command(str(file)))


def options_of_algorithm(algorithm: Algorithm) -> dict[str, Any]:
    """Return the options by which the compared processes make an algorithm. Raises `UserError` if there are none."""
    if not isinstance(algorithm, Algorithm):
        refuse_algorithm(algorithm)
    parameters = algorithm_options(algorithm)
    if parameters["algorithm"] not in ALGORITHMS or SearchOptions(**parameters).chosen_algorithm() != algorithm:
        raise UserError(f"{algorithm}: no options describe it: expected best improvement with {algorithm.name}")
    return parameters


def option_words(name: str, value: object) -> list[str]:
    """Return an option as words of the command line; None and False are no option."""
    if value is None or value is False:
        return []
    listed = ",".join(map(str, value)) if isinstance(value, range) else value
    listed = integer(name, value) if isinstance(value, int) and value is not True else listed
    return flag_words("--" + name.replace("_", "-"), listed)
