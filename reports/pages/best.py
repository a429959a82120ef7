"""Page of best algorithms: our fastest algorithm of each work on one core next to other solvers.

The records are those of `python -m drivers.bench --workload best`, or of any program with `--peers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from core.errors import UserError
from reports.comparison.best_algorithms import BestAlgorithm, SolverRuns
from reports.comparison.machines import describe_machines
from reports.pages.markdown import fill, written_into
from reports.pages.provenance import devices
from reports.records.parameters import parameters_text
from reports.text.formatting import cost, counted, gap, ratio, seconds
from reports.text.tables import TextTable

NAME = "best"


def make_table(work: BestAlgorithm) -> TextTable:
    def costs(row: SolverRuns) -> str:
        middle = median(row.costs)
        return " ".join(filter(None, (cost(middle), gap(middle, work.optimum))))

    columns: dict[str, Callable[[SolverRuns], str]] = {
        "solver": lambda row: row.name,
        ">runs": lambda row: str(len(row.costs)),
        ">median cost": costs,
        ">worst": lambda row: cost(work.worst(row.costs)),
        ">time": lambda row: seconds(median(row.seconds)),
        ">to our cost": _to_cost,
        ">start-up": lambda row: seconds(row.startup_s),
        "notes": lambda row: "; ".join(row.notes),
    }
    return TextTable.of(work.record.work_name, work.rows, columns)


def _to_cost(row: SolverRuns) -> str:
    if not row.to_cost:
        return "not reached"
    some = f" in {len(row.to_cost)} of {row.seeds}" if len(row.to_cost) < row.seeds else ""
    return seconds(median(row.to_cost)) + some


def verdict(work: BestAlgorithm) -> str:
    """Return a sentence on the solver that has our cost first, if one has it for most seeds.

    A search that proves its result is compared only with solvers that prove theirs.
    """
    ours, *others = work.rows
    own = median(ours.to_cost)
    reached = [row for row in others if 2 * len(row.to_cost) > row.seeds]
    able = [row for row in reached if row.proves >= ours.proves]
    if not able:
        proof = ", with a proof" if ours.proves else ""
        return f"No solver reached our cost for most seeds{proof}"
    first = min(able, key=lambda row: median(row.to_cost))
    theirs = median(first.to_cost)
    if theirs < own:
        return f"Ahead of ours: {first.name}, {ratio(own / theirs)} as fast to our cost"
    proving = " that prove theirs" if ours.proves else ""
    text = f"Ours is {ratio(theirs / own)} as fast to its cost as the best of the others{proving}, {first.name}"
    soonest = min(reached, key=lambda row: median(row.to_cost))
    if median(soonest.to_cost) < own:
        text += f"; {soonest.name} has that cost {ratio(own / median(soonest.to_cost))} as fast, without a proof"
    return text


def headline(works: Sequence[BestAlgorithm]) -> str:
    """Return the number of works on which ours has its cost first, and the others' names, as text."""
    behind = [work.record.work_name for work in works if verdict(work).startswith("Ahead of ours")]
    text = f"Ours has its cost first on {len(works) - len(behind)} of {len(works)} works"
    return f"{text}; a solver is ahead on {', '.join(behind)}" if behind else text


def write(works: Sequence[BestAlgorithm], out: Path, made_by: str = "") -> list[Path]:
    """Write the report.

    Raises `UserError` without solvers beside runs, or if the folder cannot be written.
    """
    if not works:
        raise UserError("no confirmed run on one core has reference solvers: expected runs with --peers")
    report = out / f"{NAME}.md"
    with written_into(out):
        report.write_text(render(works, made_by), encoding="utf-8")
    return [report]


def render(works: Sequence[BestAlgorithm], made_by: str = "") -> str:
    records = [run for work in works for run in work.runs]
    sections = [
        {
            "title": work.record.work_name,
            "what": parameters_text(work.record.parameters),
            "seeds": counted(len(work.runs), "seed"),
            "repetitions": counted(len(work.record.repetitions), "repetition"),
            "table": make_table(work),
            "verdict": verdict(work),
            "missing": [f"{name}: {reason}" for name, reason in work.missing.items()],
        }
        for work in works
    ]
    return fill(
        "best.md.j2",
        made_by=made_by,
        sections=sections,
        devices=devices(records),
        machines=describe_machines(records),
    )
