"""A shortest tour by Held and Karp's dynamic programming (`oconnell2014`), on any backend and over any number of ranks.

onekernel heldkarp                                   a first run of some seconds
onekernel heldkarp --instance gr24 --verify          verified by branch and bound with 1-trees
onekernel heldkarp --matrix roads.txt                distances from a file, symmetric or not
onekernel heldkarp --instance gr17 --mapping published   the paper's mapping: all layers are copied to the host
onekernel heldkarp --instance a280 --k 10            more cities: the best tour near a start tour
mpirun -n 2 onekernel heldkarp --instance gr21       the same layers on 2 ranks
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.errors import UserError
from drivers.cli.messages import print_note
from drivers.options.dynamic_programming import DpOptions
from drivers.options.tours import MatrixOptions
from drivers.runs.workload_main import driver, exit_with
from drivers.workload import tours
from drivers.workload.declaration import RepetitionResult, Task, VerifierVerdict, describe_gap
from drivers.workload.dynamic_programming import DpWorkload

if TYPE_CHECKING:
    from core.tables.held_karp.balas_simonetti import BalasSimonettiSearch, NeighbourhoodTour
    from core.tables.held_karp.search import HeldKarp, ShortestTour
    from core.tours import TspInstance
    from drivers.workload.declaration import PreparedRun, SearchPlace

    AnySubsetSearch = HeldKarp | BalasSimonettiSearch
    AnySubsetTour = ShortestTour | NeighbourhoodTour
    HeldKarpRun = PreparedRun["HeldKarpOptions", TspInstance, AnySubsetSearch]

DEFAULT_K = 8
"""Default of `--k` for instances too large for a proof."""
MOST_ASYMMETRIC = 20
"""Most cities for `--verify` with asymmetric distances."""


@dataclass(frozen=True)
class HeldKarpOptions(
    DpOptions,
    MatrixOptions,
    table="held_karp",
    matrix="a matrix of distances, symmetric or not",
    default_k=DEFAULT_K,
    takes="TspTour",
):
    """Options of Held and Karp's dynamic programming."""

    k: int | None = None
    verify: bool = False

    def refuse_idle(self) -> None:
        self.refuse_seed()
        self.refuse_without(self.published, "--mapping published", "spill")
        super().refuse_idle()
        for name in ("tour", "svg"):
            if getattr(self, name) is not None and not self.trace:
                raise UserError(f"--{name} needs --trace: without it there is a length and no tour")

    def settled(self, instance: TspInstance) -> HeldKarpOptions:
        """Return these options, with k if a proof is impossible. Refuse idle options and impossible checks."""
        from core.tables.held_karp.search import MOST_CITIES

        k = self.k
        if self.published and (k is not None or instance.n > MOST_CITIES):
            why = f"--k {k} is another search" if k is not None else f"{instance.name} has {instance.n} cities"
            raise UserError(
                f"--mapping published is the paper's recursion over all subsets, of at most {MOST_CITIES} cities; {why}"
            )
        if k is None and instance.n > MOST_CITIES:
            k = DEFAULT_K
            print_note(
                f"{instance.name} has {instance.n} cities, and a proof is possible for at most {MOST_CITIES}: "
                f"restricted search with --k {k}"
            )
        if k is None:
            self.check_others(instance)
            return self
        for name, is_given in (("--verify", self.verify), ("--peers", self.peers), ("--no-trace", not self.trace)):
            if is_given:
                raise UserError(
                    f"{name} with a restricted search (--k {k}): its tour is always traced and proves no optimum"
                )
        return replace(self, k=k)

    def check_others(self, instance: TspInstance) -> None:
        from core.exact import MOST_CITIES
        from core.tours.distances import is_symmetric

        most = MOST_CITIES if is_symmetric(instance.distances) else MOST_ASYMMETRIC
        if self.verify and instance.n > most:
            raise UserError(f"--verify: found {instance.n} cities in {instance.name}, expected at most {most}")


def cross_check(instance: TspInstance) -> tuple[str, int]:
    """Return name and result of another algorithm: branch and bound on one core, or NumPy for asymmetric distances."""
    from core.tours.distances import is_symmetric

    if is_symmetric(instance.distances):
        from drivers.exact import solve

        return "branch and bound", int(solve(instance.distances).length)
    from core.tours.small_tours import held_karp as plain

    return "plain dynamic programming in NumPy", int(plain(instance.distances).length)


class HeldKarpWorkload(DpWorkload[HeldKarpOptions, "TspInstance", "AnySubsetSearch", "AnySubsetTour"]):
    """All subsets of cities, or tours near a start tour."""

    name = "heldkarp"
    title = "a shortest tour by Held and Karp's dynamic programming"
    options = HeldKarpOptions
    unit = "transitions"
    doing = "layers"
    noun = "length"
    with_less_room = "--k K finds a tour that is optimal over a neighbourhood, with a small K in little memory"
    standard = ("--instance", "uniform:24:seed=1")
    best_core = ("1-trees", "exact", "--bound", "one-tree")

    def load(self, options: HeldKarpOptions, ranks: int) -> Task[HeldKarpOptions, TspInstance]:
        options.refuse_idle()
        instance = tours.small_instance(options, "gr21", "uniform:20:seed=1", symmetric=False)
        return Task(options.settled(instance), instance, instance.source)

    def make_search(self, place: SearchPlace, problem: TspInstance, options: HeldKarpOptions) -> AnySubsetSearch:
        room = options.device_memory
        if options.k is not None:
            from core.tables.held_karp.balas_simonetti import BalasSimonettiSearch

            return BalasSimonettiSearch(*place, problem.distances, options.k, room=room, name=problem.name)
        from core.tables.held_karp.search import HeldKarp

        mapping, folder = options.mapping, options.spill
        search = HeldKarp(*place, problem.distances, mapping=mapping, room=room, folder=folder)
        if options.trace:
            search.make_room()
        return search

    def cells(self, options: HeldKarpOptions, problem: TspInstance) -> int:
        """Return the number of all transitions, although meeting in the middle takes about half of them."""
        n = problem.n
        if options.k is None:
            return int((n - 1) * ((n - 2) * 2 ** max(0, n - 3) + 1))
        from core.tables.held_karp.kernels.restricted_tour import network
        from core.tables.held_karp.neighbourhood import LEAST_K

        return int((n - 1) * network(max(LEAST_K, min(options.k, n - 1))).transitions)

    def speed(self, options: HeldKarpOptions) -> float:
        """Waves are many launches for few cells."""
        return 2e8 if options.k is not None else 2e7 if options.published else 8e8

    def headline(self, run: HeldKarpRun) -> str | None:
        """Return the number of cities, and the largest one that fits the device."""
        from core.tables.held_karp.search import HeldKarp

        search = run.search
        if not isinstance(search, HeldKarp) or run.options.published:
            return None
        lengths = f"lengths of {8 * search.dtype.itemsize} bits" + (" in two directions" if search.directed else "")
        device, devices = search.backend.device.name, search.devices
        where = f"{device} has" if devices == 1 else f"{devices} peer-connected devices ({device}) have"
        return f"{where} memory for up to {search.most_cities} cities ({search.room * devices:,} bytes, {lengths})"

    def result(self, run: HeldKarpRun, outcome: AnySubsetTour) -> RepetitionResult:
        from core.tables.held_karp.search import ShortestTour

        instance, k = run.problem, run.options.k
        streamed = {}
        if isinstance(outcome, ShortestTour):
            streamed["streamed_bytes"] = outcome.streamed_bytes
            known = " (the optimum)" if instance.optimum == outcome.length else ""
            words = f"shortest length {outcome.length}{known}, start length {outcome.start_length}"
            if run.options.published and run.options.trace:
                words += f", {outcome.streamed_bytes:,} bytes streamed"
        else:
            gap = describe_gap(outcome.length, instance.optimum)
            words = (
                f"restricted, optimal over the neighbourhood (k = {k}) of a start tour: length {outcome.length}{gap}, "
                f"start length {outcome.start_length}"
            )
        return RepetitionResult(
            outcome,
            words,
            details={
                "cities": instance.n,
                "evaluation_definition": "steps from a path to one that is a city longer",
                "proved": k is None,
                "tour": None if outcome.tour is None else outcome.tour.tolist(),
                "start_cost": outcome.start_length,
                **streamed,
            },
        )

    def verify(self, run: HeldKarpRun, outcome: AnySubsetTour, result: RepetitionResult) -> Iterator[VerifierVerdict]:
        """Compare with the scorer, the published optimum, the start tour, and on request another algorithm."""
        instance, restricted = run.problem, run.options.k is not None
        if outcome.tour is not None:
            yield tours.tour_verdict(instance, outcome)
        yield from tours.optimum_verdicts(instance, outcome.length, exactly=not restricted)
        if restricted and outcome.length > outcome.start_length:
            yield VerifierVerdict("", f"the start tour has length {outcome.start_length}")
        if run.options.verify:
            name, length = run.once("cross-check", lambda: cross_check(instance))
            yield VerifierVerdict(name, None if length == outcome.length else f"{name} finds length {length}")

    def save(self, run: HeldKarpRun, outcome: AnySubsetTour) -> None:
        tours.save_tour(self.name, run.options, run.problem, outcome.tour)


HELDKARP = HeldKarpWorkload()
main = driver(HELDKARP, __doc__)

if __name__ == "__main__":
    exit_with(main)
