"""Results of benchmark cases: equal work is checked, and a table shows medians, spreads, rates and ratios."""

from __future__ import annotations

import importlib.util
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from core.errors import UserError
from drivers.bench.c_programs import BACKEND, CProgramCase
from drivers.bench.cases import BenchmarkCase, Candidate
from drivers.experiments.case import Case
from reports.records.files import Record, require_equal_work
from reports.text import formatting
from reports.text.tables import TextTable

DEFAULT = "default"
LEVEL = 0.05
"""Significance level of a corrected p."""
Results = Mapping[Candidate, Sequence[Record]]
"""Records of the candidates with results, one for each seed."""


class EqualWork:
    """Results of equal work, which must be equal on every device and in every case."""

    def __init__(self) -> None:
        self.known: dict[str, Record] = {}

    def check(self, case: BenchmarkCase, results: Results) -> None:
        """Compare a case's results with one another and with earlier cases.

        Raises `UserError` if candidates differ, or a result is not confirmed.
        """
        costs: dict[int, tuple[Any, str]] = {}
        for candidate, records in results.items():
            for record in records:
                work = json.dumps(
                    [record.workload, record.instance_sha256, record.parameters, record.seed], sort_keys=True
                )
                require_equal_work([self.known.setdefault(work, record), record])
                cost, name = costs.setdefault(record.seed, (record.best_cost, candidate.name))
                if record.best_cost != cost and not case.unequal:
                    raise UserError(
                        f"{case.title}: cost {record.best_cost} by {candidate.name}, expected {cost}, as by {name}"
                    )
                # Untraced solutions cannot be checked, and C programs return none.
                if not record.verified and record.parameters.get("trace", True) and record.backend != BACKEND:
                    raise UserError(f"{case.title}: the result of {candidate.name} is not confirmed")


def show_case(case: BenchmarkCase, results: Results) -> None:
    for line in case_lines(case, results):
        print(line, flush=True)


def case_lines(case: BenchmarkCase, results: Results) -> Iterator[str]:
    times = {one: run_seconds(case, records) for one, records in results.items()}
    rows = [row(case, results, times, result) for result in results]
    unit = next(iter(results.values()))[0].evaluation_unit
    solvers = [peer for records in results.values() for peer in records[0].details.get("reference_solvers", ())]
    rows += [
        {"candidate": peer["name"], "median": formatting.seconds(peer["solve_s"])}
        for peer in solvers
        if peer["solve_s"]
    ]
    headings = {"candidate": "candidate", "median": ">median", "least": ">least", "most": ">most"}
    headings |= {"rate": f">{unit}/s", "ratio": ">ratio", "than": "to", "communication": ">in communication"}
    shown = [key for key in headings if any(row.get(key) for row in rows)]
    yield TextTable(
        case.title, tuple(headings[key] for key in shown), [[r.get(k, "") for k in shown] for r in rows]
    ).terminal()
    names = {describe(records): one.name for one, records in reversed(list(results.items()))}
    same = "same result: " if len(names) < len(results) else ""
    yield from (f"{same or f'{name}: ' * (len(names) > 1)}{text}" for text, name in reversed(list(names.items())))
    yield from default_verdict(results)
    missing = [solver["name"] for solver in solvers if solver["failure"]]
    yield from [f"reference solvers not measured, since they failed or are not installed: {', '.join(missing)}"] * bool(
        missing
    )
    yield from [case.remark] * bool(case.remark)


def default_verdict(results: Results) -> Iterator[str]:
    """Yield the mean costs of a default and its alternatives over several seeds, and significantly better alternatives.

    By Mann and Whitney's test with Bonferroni's correction.
    """
    costs = {one.variant: [record.best_cost for record in records] for one, records in results.items()}
    own = costs.pop(DEFAULT, [])
    if not costs or len(own) < 2:
        return
    means = {name: statistics.mean(found) for name, found in {DEFAULT: own, **costs}.items()}
    yield f"mean costs of {len(own)} seeds: {', '.join(f'{name}: {mean:,.1f}' for name, mean in means.items())}"
    if importlib.util.find_spec("scipy") is None:
        yield "no test of the differences: it needs scipy, pip install -e '.[report]'"
        return
    from scipy.stats import mannwhitneyu

    tests = {name: float(mannwhitneyu(own, found).pvalue) * len(costs) for name, found in costs.items()}
    better = [name for name, p in tests.items() if p < LEVEL and means[name] < means[DEFAULT]]
    beaten = ", ".join(f"{name} (p = {tests[name]:.2g})" for name in better)
    yield f"the default is beaten by {beaten}" if better else "the default is not beaten"


def run_seconds(case: BenchmarkCase, records: Sequence[Record]) -> list[float]:
    return [run.kernel_s if case.by_kernels else run.running_s for record in records for run in record.repetitions]


def row(
    case: BenchmarkCase, results: Results, times: Mapping[Candidate, Sequence[float]], candidate: Candidate
) -> dict[str, str]:
    """Return a candidate's cells by column name."""
    own, record = times[candidate], results[candidate][0]
    median = statistics.median(own)
    spread = {"median": median, "least": min(own), "most": max(own)}
    cells = {"candidate": candidate.name} | {name: formatting.seconds(value) for name, value in spread.items()}
    cells["rate"] = (
        formatting.rate(statistics.median(r.evaluations for r in results[candidate]) / median) if median else ""
    )
    base = case.baseline(candidate)
    if base != candidate and base in times and median:
        cells |= {"ratio": formatting.ratio(statistics.median(times[base]) / median), "than": base.name}
    if record.ranks > 1:
        cells["communication"] = formatting.per_cent(record.communication_share or 0.0)
    return cells


def describe(records: Sequence[Record]) -> str:
    first = records[0]
    optimum = first.details.get("optimum")
    if len(records) > 1:
        return ", ".join(formatting.gap(record.best_cost, optimum) or str(record.best_cost) for record in records)
    gap = formatting.gap(first.best_cost, optimum)
    return f"cost {first.best_cost}{f' ({gap})' if gap else ''}, hash {first.hash}"


def phase_line(case: Case, record: Record) -> str:
    """Return the time of a tour's step, and of each phase of an iteration if a backend runs it."""
    import backends
    from cluster import Solo
    from drivers.runs.workload_main import parse_options

    options = parse_options(case.workload, None, [*case.arguments, "--seed", str(case.seeds[0])])
    problem = case.workload.load(options, 1).problem
    steps = options.ants * (problem.n - 1)
    if isinstance(case, CProgramCase):
        seconds = record.details["constructing_s"] / (steps * options.iterations)
        return f"{1e9 * seconds:.2f} ns a step of a tour"
    with closing(backends.create(case.configuration.backend, case.configuration.device)) as backend:
        colony = case.workload.search(backend, Solo(), problem, options)
        each = {name: value for name, value in colony.phase_seconds(options.iterations).items() if value > 0}
    total = sum(each.values())
    parts = (f"{name} {formatting.seconds(one)} ({formatting.per_cent(one / total)})" for name, one in each.items())
    return f"{1e9 * each['construct'] / steps:.2f} ns a step of a tour; an iteration: {', '.join(parts)}"
