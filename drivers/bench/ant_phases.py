"""Times of the phases of an iteration of an ant colony, measured in this process."""

from __future__ import annotations

from contextlib import closing

from drivers.bench.c_programs import CProgramCase
from drivers.experiments.case import Case
from reports.records.files import Record
from reports.text import formatting


def phase_line(case: Case, record: Record) -> str:
    """Return the time of a step of a tour, and of each phase of an iteration if a backend runs it."""
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
