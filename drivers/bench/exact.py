"""Benchmark cases of exact search: the thesis' 15 instances, and nodes per second with its own bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from drivers.bench.cases import (
    BenchmarkCandidate,
    BenchmarkCase,
    BenchmarkContext,
    CandidateResult,
    PreparedCandidate,
    RecordSubject,
)
from drivers.bench.devices import BenchmarkDevice, one_core, one_core_first

TABLE = "5.2"
"""The thesis' table of its faster machine."""
ONE_TREE, EDGES = "one-tree", "edges"
BY_EDGES = {"ulysses16": 3.5e9, "gr21": 7e7, "gr24": 4e10}
"""Instances for GPUs with the thesis' own bound, and about how many nodes it leaves."""
ON_CORES = {"gr17": 2.6e8, "gr21": 7e7}
"""The same for cores."""
SPEEDS = {ONE_TREE: 1e6, EDGES: 6e7}
"""Nodes a second of one core by bound."""
FEW_NODES = 1e3
"""Nodes that 1-trees leave, about."""


def cases(field: BenchmarkContext) -> Iterator[BenchmarkCase]:
    """All cases that this machine can hold."""
    one = one_core(field.cores)
    for name in published() if one else ():
        yield from make_case(field, name, ONE_TREE, FEW_NODES, [one])
    for name, nodes in ON_CORES.items() if field.cores else ():
        yield from make_case(field, name, EDGES, nodes, one_core_first(field.cores))
    for gpu in field.gpus:
        for name, nodes in BY_EDGES.items():
            yield from make_case(field, name, EDGES, nodes, [gpu])


def published() -> dict[str, str]:
    """The thesis' times by instance, as printed; in words where there is none."""
    from reports.papers.files import load

    (table,) = load("xavier2022").chosen("table", TABLE)
    place = [column.heading for column in table.columns].index("the thesis")
    figures = {line.key: line.figures[place] for line in table.lines}
    return {key: f"{figure[0]} s" if figure else "not solved" for key, figure in figures.items()}


def make_case(
    field: BenchmarkContext, name: str, bound: str, nodes: float, devices: Sequence[BenchmarkDevice | None]
) -> Iterator[BenchmarkCase]:
    """The case of an instance, if it is at hand; where there is one device, its title says which."""
    instance = field.instances.at_hand(name)
    places = [place for place in devices if place is not None]
    if instance is None:
        return
    yield BenchmarkCase(
        f"exact search, {name}, {'1-trees' if bound == ONE_TREE else 'the bound of the thesis'}",
        tuple(
            BenchmarkCandidate(place.label, partial(prepare_search, field, instance, bound), place) for place in places
        ),
        "nodes",
        nodes,
        SPEEDS[bound],
        f"{places[0].label} on {places[0].name}" if len(places) == 1 else "",
        remark=lambda medians: [f"the thesis, RTX 3090: {published()[name]}"] if name in published() else [],
    )


def prepare_search(field: BenchmarkContext, instance: Any, bound: str, backend: Any) -> PreparedCandidate:
    """A search on a backend, end to end."""
    from cluster import Solo
    from core.search.exact import ExactSearch

    search = ExactSearch(backend, Solo(), instance.distances, bound=None if bound == ONE_TREE else bound)
    search.warm_up()

    def read(outcome: Any) -> CandidateResult:
        nodes = int(outcome.nodes.sum())
        known = {instance.tour_length(outcome.tour), instance.optimum or outcome.length}
        digest = f"{outcome.digest:016x}"
        result = {
            "seed": field.options.seed,
            "best_cost": outcome.length,
            "best_index": 0,
            "evaluations": nodes,
            "hash": digest,
            "details": {
                "cities": instance.n,
                "optimum": instance.optimum,
                "instance_source": instance.source,
                "evaluation_definition": "nodes, whose number differs from run to run",
                "tour": outcome.tour.tolist(),
                "bound": search.bound,
                "root_bound": outcome.root_bound,
                "start_cost": outcome.start_length,
                "optimal_tours": outcome.optimal_tours,
            },
        }
        return CandidateResult(nodes, {"length": outcome.length}, known == {outcome.length}, result)

    settings = {"bound": "host" if search.on_host else search.bound, "enumerate": None, "depth": None}
    settings |= {"mapping": "native", "unrolled": None}
    return PreparedCandidate(
        lambda repetition: search.run(),
        read,
        lambda outcomes, median: f"nodes: {int(outcomes[-1].nodes.sum()):,}",
        RecordSubject("exact", instance, {"count": False}, settings, "nodes", "result"),
    )
