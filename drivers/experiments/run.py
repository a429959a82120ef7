"""Run of a plan: recorded cases are skipped, results are checked, and progress is shown.

Each case has a separate process, so that no backend warms, slows or breaks another.
"""

from __future__ import annotations

import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from cluster.mpi.failures.abort import USER_ERROR
from drivers.cli.exit_codes import DONE
from drivers.cli.messages import print_note, print_status
from drivers.experiments.case import Case, counted_environment
from drivers.experiments.executors import Executor, Finished
from drivers.runs.repetitions import RECORDED_MESSAGE
from reports.rates import NotRun
from reports.records.files import Record, UnequalWorkError, load_existing

WIDTH = 80


class CaseOutcome(NamedTuple):
    """Result of a case.

    Attributes
    ----------
    records : list of Record
        One for each seed; empty if the case has no result.
    reason : str
        Reason for a missing result.
    kind : str
        "refused" if the program refused it like a user error: the device cannot do it, and ``reason`` is the message.
        "elsewhere" if the records have it with other options, such as an explicit default.
    """

    case: Case
    records: list[Record]
    reason: str = ""
    kind: Literal["done", "failed", "refused", "elsewhere"] = "done"

    @property
    def not_run(self) -> NotRun:
        return self.case.configuration.not_run("refused: " * (self.kind == "refused") + self.reason)


def results_of(outcomes: Iterable[CaseOutcome]) -> tuple[list[Record], list[NotRun]]:
    """Return the records of outcomes, and the cases without a result."""
    listed = list(outcomes)
    return [record for one in listed for record in one.records], [one.not_run for one in listed if one.kind != "done"]


class PlanRun:
    """Runs cases and shows the number of finished ones and the remaining time.

    Parameters
    ----------
    total
        Number of cases, including recorded ones.
    wait
        Called before each case that runs: waits for an idle host.
    refuses
        Returns the reason for not running a case; empty for none.
    brief
        True to show a line for each case, and its end only if it has no result.
    """

    def __init__(
        self, total: int, executor: Executor, wait: Callable[[], None] | None = None, *, brief: bool = False
    ) -> None:
        self.total = total
        self.wait = wait
        self.refuses: Callable[[Case], str] = lambda case: ""
        self.brief = brief
        self.executor = executor
        self.environment = counted_environment(elsewhere=executor.elsewhere)
        self.shown = 0
        self.ran = 0
        self.began = time.perf_counter()
        self.warned = False

    def run(self, cases: Sequence[Case]) -> list[CaseOutcome]:
        """Run the cases that are not recorded; return the outcomes in the order of the cases."""
        outcomes: list[CaseOutcome] = []
        try:
            for case, finished in self.executor.run(self._left(cases, outcomes)):
                self.ran += 1
                if self.executor.elsewhere:
                    self._show_case(case)
                outcomes.append(self._outcome(case, finished))
        except KeyboardInterrupt:
            print_status(f"\nthe same command continues with the records in {cases[0].records}")
            raise
        order = {id(case): number for number, case in enumerate(cases)}
        return sorted(outcomes, key=lambda one: order[id(one.case)])

    def _left(self, cases: Sequence[Case], outcomes: list[CaseOutcome]) -> Iterator[Case]:
        """Yield cases to run; add the outcomes of recorded and refused ones."""
        for case in cases:
            if reason := self.refuses(case):
                outcomes.append(CaseOutcome(case, [], reason, "refused"))
                continue
            if not self.executor.elsewhere:
                self._show_case(case)
            try:
                records = self._recorded(case)
            except UnequalWorkError as error:
                outcomes.append(self._failed(case, str(error), "differs from repetition to repetition"))
                continue
            if not case.is_complete(records):
                if self.wait:
                    self.wait()
                yield case
                continue
            if self.executor.elsewhere:
                self._show_case(case)
            if not self.brief:
                show(f"recorded already: {describe_outcome(records)}", indent=4)
            self.warn_of_changes(case.records)
            if case.runs_peers and all("reference_solvers" not in one.details for one in records):
                print_note(f"{case.records}: recorded without reference solvers; --rerun runs them too")
            if "--history" in case.arguments and any(run.history is None for one in records for run in one.repetitions):
                print_note(f"{case.records}: recorded without --history; --rerun runs again with it")
            outcomes.append(CaseOutcome(case, records))

    def _show_case(self, case: Case) -> None:
        self.shown += 1
        line = f"[{self.shown}/{self.total}] {case}"
        if self.brief:
            print_status(textwrap.shorten(line, WIDTH, placeholder=" ..."))
        else:
            show(f"{line} ...")

    def _recorded(self, case: Case) -> list[Record]:
        return case.records_among(load_existing(case.records), self.environment)

    def _outcome(self, case: Case, finished: Finished) -> CaseOutcome:
        took = f" ({finished.seconds:.1f} s{self.time_left()})"
        try:
            records = self._recorded(case)
        except UnequalWorkError as error:
            return self._failed(case, str(error), f"differs from repetition to repetition{took}")
        # A run with a rejected result ends with 1 and has records: the comparison has the reason.
        if case.is_complete(records) and (finished.returncode == DONE or not all(one.verified for one in records)):
            if not self.brief:
                show(f"{describe_outcome(records)}{took}", indent=4)
            return CaseOutcome(case, records)
        lines = finished.stderr.strip().splitlines()
        telling = find_error_line(lines)
        if finished.returncode == USER_ERROR and telling:
            line = re.sub(r"^error( \(rank \d+\))?: ", "", telling)
            show(f"refused: {line}{took}", indent=4)
            return CaseOutcome(case, [], line, "refused")
        reason = f"failed with exit code {finished.returncode}"
        if finished.returncode == DONE:
            reason = self._why_unrecorded(finished.stdout)
        failed = self._failed(case, reason + (f": {telling}" if telling else ""), f"{reason}{took}")
        print("\n".join(f"    {line}" for line in lines[-20:]), file=sys.stderr)
        elsewhere = finished.returncode == DONE and RECORDED_MESSAGE in finished.stdout
        return failed._replace(kind="elsewhere") if elsewhere else failed

    def _failed(self, case: Case, reason: str, shown: str) -> CaseOutcome:
        show(shown, indent=4)
        return CaseOutcome(case, [], reason, "failed")

    def _why_unrecorded(self, printed: str) -> str:
        """Return the reason why a successful run left no record that counts."""
        if RECORDED_MESSAGE in printed:
            return "recorded already with other options of the same meaning (such as a default): --rerun runs it again"
        if counted_environment(elsewhere=self.executor.elsewhere) != self.environment:
            return "its record is of another version: sources changed while it ran"
        return "wrote no record, or added to one with other options of the same meaning (such as a default)"

    def time_left(self) -> str:
        """Return the estimated duration of the remaining cases as text, from the mean of those that ran."""
        left_s = (self.total - self.shown) * (time.perf_counter() - self.began) / max(1, self.ran)
        words = f"{left_s:.0f} s" if left_s < 120 else f"{left_s / 60:.0f} min"
        return f", about {words} left" if self.shown < self.total else ""

    def warn_of_changes(self, records: Path) -> None:
        """Report once that records may be of other sources."""
        commit = str(self.environment["commit"])
        if not self.warned and (commit == "None" or commit.endswith("+changes")):
            self.warned = True
            print_note(
                f"{records}: sources may have changed since, because the records name no commit; --rerun runs again"
            )


def show(words: str, indent: int = 0) -> None:
    """Print a status in lines of 80 columns; the first is indented, the others further."""
    first, wrapper = " " * indent, textwrap.TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False)
    wrapper.initial_indent, wrapper.subsequent_indent = first, first + "    "
    print_status(wrapper.fill(words))


def describe_outcome(records: Sequence[Record]) -> str:
    several = f" of {len(records)} seeds" if len(records) > 1 else ""
    return f"best {min(one.best_cost for one in records)}{several}, hash {records[0].hashed}"


def find_error_line(lines: Sequence[str]) -> str:
    """Return the line with the error, outside a launcher's banners between dashes; empty if there is none."""
    errors = [line for line in lines if re.match(r"(error\b|[\w.]*(Error|Exception)\b)", line)]
    return errors[-1] if errors else next(remove_banners(lines), "")


def remove_banners(lines: Iterable[str]) -> Iterator[str]:
    within = False
    for line in lines:
        if re.fullmatch("-{5,}", line.strip()):
            within = not within
        elif line.strip() and not within:
            yield line
