"""Exact search for a shortest tour of up to 30 cities (`xavier2022`), on any backend and over any number of ranks.

onekernel exact                                            a first run of some seconds
onekernel exact --instance gr17 --verify --count           verified independently, all shortest tours counted
onekernel exact --instance bays29 --peers                  compared with Concorde, LKH, elkai and OR-tools
onekernel exact --instance gr21 --bound edges              the thesis's branch and bound
onekernel exact --instance gr21 --bound edges --mapping published  the same with the thesis's launches
mpirun -n 4 onekernel exact --instance gr24 --bound edges  the same search on 4 ranks
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from math import perm
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from core.exact import BOUNDS, STARTS
from drivers.options.tours import MatrixOptions, TourOptions
from drivers.runs.workload_main import driver, exit_with
from drivers.workload import tours
from drivers.workload.declaration import RepetitionResult, Task, VerifierVerdict

if TYPE_CHECKING:
    import numpy as np

    from core.exact import ExactSearch, Solution
    from core.tours import TspInstance
    from drivers.workload.declaration import PreparedRun, SearchPlace

    ExactRun = PreparedRun["ExactOptions", TspInstance, ExactSearch]

DEFAULT_INSTANCE, GENERATED_INSTANCE = "bays29", "uniform:25:seed=1"
MOST_VERIFIED = 20
"""Most cities for `--verify`: the memory of that algorithm doubles with each city."""


@dataclass(frozen=True)
class ExactOptions(
    TourOptions,
    MatrixOptions,
    table="exact",
    chosen=f"{DEFAULT_INSTANCE} if it is found, else {GENERATED_INSTANCE}",
    matrix="a symmetric matrix of distances",
    bounds=BOUNDS,
    starts=STARTS,
    most_verified=MOST_VERIFIED,
    takes="TspTour",
    hidden=("seed", "seeds"),
):
    """Options of exact search; an option of the search is None by default."""

    bound: str | None = None
    depth: int | None = None
    mapping: str = "native"
    unrolled: bool | None = None
    start: str = STARTS[0]
    count: bool = False
    verify: bool = False

    def refuse_idle(self) -> None:
        self.refuse_without(self.bound in ("edges", "none"), "--bound edges or none", "depth")
        if self.mapping == "published" and self.bound not in ("edges", "none"):
            raise UserError("--mapping published: the thesis has no 1-trees; expected with --bound edges or none")
        self.refuse_without(self.mapping == "published", "--mapping published", "unrolled")
        self.refuse_seed()


GAVE_UP = "the search stopped early; this is its incumbent"
MOST_ENUMERATED = 10
NODES_PER_SECOND = 5e7
"""Usual speed of a core without a bound."""
MOST_BY_EDGES = 17
"""Largest number of cities for which the thesis' bound takes seconds on one core."""


class ExactWorkload(tours.TourWorkload[ExactOptions, "ExactSearch", "Solution"]):
    """Branch and bound, which proves the shortest tour."""

    name = "exact"
    title = "a shortest tour of up to 30 cities, proved by branch and bound"
    options = ExactOptions
    unit = "nodes"
    hash_scope = "result"
    doing = "searching"
    standard = ("--instance", "uniform:16:seed=1", "--bound", "edges")
    best_core = ("1-trees", "exact", "--bound", "one-tree")

    def load(self, options: ExactOptions, ranks: int) -> Task[ExactOptions, TspInstance]:
        options.refuse_idle()
        instance = tours.small_instance(options, DEFAULT_INSTANCE, GENERATED_INSTANCE, symmetric=True)
        if options.verify and instance.n > MOST_VERIFIED:
            raise UserError(
                f"--verify: found {instance.n} cities in {instance.name}, expected at most {MOST_VERIFIED}: the "
                "memory of Held and Karp's dynamic programming doubles with each city (--peers has exact solvers for "
                "more)"
            )
        return Task(options, instance, instance.source)

    def make_search(self, place: SearchPlace, problem: TspInstance, options: ExactOptions) -> ExactSearch:
        from core.exact import ExactSearch

        return ExactSearch(
            *place,
            problem.distances,
            bound=options.bound,
            depth=options.depth,
            mapping=options.mapping,
            unrolled=options.unrolled is not False,
            count=options.count,
            start=options.start,
        )

    def execution(self, run: ExactRun) -> dict[str, object]:
        """Return the method of search; the bound is ``host`` if all tours were measured without the device."""
        from core.exact.published import PublishedSearch

        options, search = run.options, run.search
        settings: dict[str, object] = {"bound": "host" if search.on_host else search.bound, "unrolled": None}
        if options.start != STARTS[0]:
            settings["start"] = options.start
        if options.mapping == "published":
            method = search.method if isinstance(search.method, PublishedSearch) else None
            settings |= {"depth": method and method.depth, "unrolled": method and method.unrolled}
        return settings

    def result(self, run: ExactRun, outcome: Solution) -> RepetitionResult:
        """Return the shortest tour; the number of nodes depends on the times of incumbents."""
        known = " (the optimum)" if run.problem.optimum == outcome.length else ""
        counted = "" if outcome.optimal_tours is None else f", shortest tours: {outcome.optimal_tours}"
        root = "" if outcome.root_bound is None else f"bound at the root {outcome.root_bound}, "
        best = "shortest length" if outcome.proved else "incumbent of length"
        return RepetitionResult(
            outcome,
            f"{best} {outcome.length}{known}{counted}, {root}start length {outcome.start_length}",
            gave_up="" if outcome.finished else GAVE_UP,
            details={
                "cities": run.problem.n,
                "evaluation_definition": "nodes; their number differs from run to run",
                "tour": outcome.tour.tolist(),
                "bound": run.search.bound,
                "nodes_per_depth": outcome.nodes.tolist(),
                "root_bound": outcome.root_bound,
                "start_cost": outcome.start_length,
                "optimal_tours": outcome.optimal_tours,
            },
        )

    def verify(self, run: ExactRun, outcome: Solution, result: RepetitionResult) -> Iterator[VerifierVerdict]:
        """Compare with the scorer, the published optimum, and on request an algorithm without bounds and kernels."""
        yield from super().verify(run, outcome, result)
        yield from tours.optimum_verdicts(run.problem, outcome.length, exactly=outcome.proved)
        if run.options.verify and outcome.proved:
            from core.tours.small_tours import enumerate_tours, held_karp

            small = run.problem.n <= MOST_ENUMERATED
            name = "a full search in NumPy" if small else "Held and Karp's dynamic programming"
            length, _, optimal_tours = run.once(
                name, lambda: (enumerate_tours if small else held_karp)(run.problem.distances)
            )
            if length != outcome.length:
                yield VerifierVerdict(name, f"{name} finds length {length}")
            elif outcome.optimal_tours not in (None, optimal_tours):
                yield VerifierVerdict(name, f"{name} finds {optimal_tours} shortest tours")
            else:
                yield VerifierVerdict(name)

    def fitted(self, instance: TspInstance) -> tuple[str, ...]:
        """Use the thesis' bound if it takes seconds and so keeps every device busy; else 1-trees."""
        return ("--bound", "edges") if instance.n <= MOST_BY_EDGES else ()

    def core_seconds(self, options: ExactOptions, problem: TspInstance) -> float | None:
        """Return the time of all beginnings of tours; None with a bound."""
        if options.bound != "none":
            return None
        nodes = sum(perm(problem.n - 1, k) for k in range(max(1, problem.n - 3)))
        return nodes * (2 if options.count else 1) / NODES_PER_SECOND

    def on_one_core(self, options: ExactOptions) -> bool:
        """True for 1-trees: with few nodes, one core ends before a GPU begins (0.7 ms for bays29, a GPU 10 to 18)."""
        return options.bound in (None, "one-tree")


EXACT = ExactWorkload()
main = driver(EXACT, __doc__)


def solve(distances: np.ndarray, backend: str = "cpu", **options: Any) -> Solution:
    """Find and prove a shortest tour of a matrix of distances, in one call from Python.

    Parameters
    ----------
    distances : array_like, shape (n, n)
        Symmetric integers of at least 0; up to 30 cities.
    backend
        Name of the backend, as for `--backend`.
    **options
        ``bound``, ``depth``, ``mapping``, ``unrolled``, ``count`` and ``start`` of
        `core.exact.ExactSearch`, which raises `UserError`.
    """
    import backends
    from cluster import Solo
    from core.exact import ExactSearch

    with closing(backends.create(backend)) as device:
        return ExactSearch(device, Solo(), distances, **options).run()


if __name__ == "__main__":
    exit_with(main)
