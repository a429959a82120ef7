"""A shortest tour, proved, for the TSP up to 30 cities (`xavier2022`), on any backend and over any number of ranks.

python -m drivers.exact                                            a first run, in seconds
python -m drivers.exact --instance gr17 --verify --count           checked independently; how many shortest tours
python -m drivers.exact --instance bays29 --peers                  beside Concorde, LKH, elkai and OR-tools
python -m drivers.exact --instance gr21 --bound edges              the thesis' own branch and bound
mpirun -n 4 python -m drivers.exact --instance gr24 --bound edges  the same search shared by 4 ranks
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drivers.options import add_common_options, agreed_ranks, positive, run_driver
from drivers.repetitions import Repetitions, Times, chosen_device, prepared
from drivers.tour_files import add_tour_options, save_tour

if TYPE_CHECKING:
    from drivers.exact_peers import Measured
    from drivers.progress import Advance

DEFAULT = "bays29"
DEFAULT_GENERATED = "uniform:25:seed=1"
MOST_VERIFIED = 20
"""Cities up to which `--verify` has another algorithm to ask: its memory doubles with each."""
MOST_ENUMERATED = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    options = parse(argv)
    from drivers.automatic import gpus_here

    ranks = agreed_ranks("python -m drivers.exact", options)
    work: Any = settled(options, ranks.size) if ranks.rank == 0 else None
    instance, source = ranks.bcast(work)
    gpus = gpus_here() if options.backend == "auto" else 0
    leads = ranks.local_rank in (0, gpus)
    search = prepared(ranks, lambda known: build(options, ranks, instance, gpus, known), leads)
    try:
        Proofs(options, ranks, instance, source, search).repeat()
    finally:
        search.backend.close()
    return 0


# --- from the command line to a search ---


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; an option of the search that is not given is None."""
    from cluster.command_line import RankParser
    from core.search.exact import BOUNDS, ENUMERATIONS

    parser = RankParser(
        prog="python -m drivers.exact", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_common_options(
        parser, backend="auto", generator="uniform:20:seed=1", chosen=f"{DEFAULT}, or {DEFAULT_GENERATED} without it"
    )
    parser.add_argument(
        "--matrix",
        metavar="FILE",
        help="in place of --instance: a symmetric matrix of distances, a NumPy .npy file or a text with a row a line",
    )
    group = parser.add_argument_group("search")
    group.add_argument(
        "--bound",
        choices=BOUNDS,
        help="what cuts a branch: Held and Karp's 1-trees (one-tree), the shortest edge of every city that is left, as "
        f"in the thesis (edges), or nothing ({BOUNDS[0]}; up to 7 cities all tours, on the host)",
    )
    group.add_argument(
        "--enumerate",
        choices=ENUMERATIONS,
        help="with --bound none: share out beginnings of tours (worklist), or a tour by its number for every lane "
        f"(permutations) ({ENUMERATIONS[0]})",
    )
    group.add_argument(
        "--depth",
        type=positive,
        metavar="D",
        help="with --bound edges or none: cities in an item of the worklist (chosen for the device)",
    )
    group.add_argument("--count", action="store_true", help="count all shortest tours")
    group = parser.add_argument_group("checks and comparison")
    group.add_argument(
        "--verify",
        action="store_true",
        help=f"find the optimum again by another algorithm, without kernels (up to {MOST_VERIFIED} cities)",
    )
    group.add_argument(
        "--peers",
        action="store_true",
        help="run concorde and LKH from PATH and the packages elkai and ortools on the same instance, those that are "
        "here, --repeats times each",
    )
    add_tour_options(parser.add_argument_group("results"))
    return parser.parse_args(argv)


def settled(options: argparse.Namespace, ranks: int) -> tuple[Any, str]:
    """The instance, and in words where it came from.

    Raises
    ------
    UserError
        Options that would change nothing or exclude each other, a check that is not possible, or a file that cannot be
        written at the end; other mistakes are the instance's or the engine's to find.

    """
    from core.errors import UserError

    if options.enumerate is not None and options.bound != "none":
        raise UserError("--enumerate changes nothing here: expected with --bound none")
    if options.depth is not None and (options.bound not in ("edges", "none") or options.enumerate == "permutations"):
        raise UserError("--depth changes nothing here: expected with --bound edges, or none and a worklist")
    if options.seed:
        raise UserError("--seed changes nothing here: nothing is random (an instance has its own: uniform:20:seed=1)")
    if options.peers and ranks > 1:
        raise UserError(f"--peers on {ranks} ranks: expected one, since waiting ranks take the peers' cores")
    for name in ("tour", "svg"):
        path = getattr(options, name)
        if path is not None and not os.access(os.path.dirname(path) or ".", os.W_OK):
            raise UserError(f"--{name} {path}: cannot write there")
    instance, source = find_instance(options)
    if options.verify and instance.n > MOST_VERIFIED:
        raise UserError(
            f"--verify: found {instance.n} cities in {instance.name}, expected at most {MOST_VERIFIED}: the memory of "
            "Held and Karp's dynamic programming doubles with each (for more, --peers has other exact solvers)"
        )
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")
    return instance, source


def find_instance(options: argparse.Namespace) -> tuple[Any, str]:
    """The instance, and in words where it came from."""
    from core.errors import UserError
    from core.problems import sources, tsp

    if options.matrix is not None:
        from drivers.matrix_files import load_matrix

        if options.instance is not None:
            raise UserError("--matrix and --instance: expected one of them")
        instance: tsp.Instance = load_matrix(options.matrix)
        return instance, instance.source
    spec = options.instance
    if spec is None:
        spec = DEFAULT if sources.find(DEFAULT, options.data) else DEFAULT_GENERATED
    instance = tsp.load(spec, options.data)
    return instance, instance.source


def build(options: argparse.Namespace, ranks: Any, instance: Any, gpus: int, known: dict[str, str]) -> Any:
    """The search on this rank's device, compiled and warm, without a word to other ranks."""
    from core.search.exact import ENUMERATIONS, ExactSearch
    from drivers.automatic import automatic_device, one_core

    if options.backend != "auto":
        backend = chosen_device(options, ranks)
    elif options.bound in (None, "one-tree"):
        # So few nodes are left that one core is done before a GPU has begun: 0.7 ms against 10 to 18 for bays29.
        backend = one_core()
    else:
        backend = automatic_device(options, ranks, gpus)
    backend.known = dict(known)
    search = ExactSearch(
        backend,
        ranks,
        instance.distances,
        bound=options.bound,
        enumerate=options.enumerate or ENUMERATIONS[0],
        depth=options.depth,
        count=options.count,
    )
    search.warm_up()
    return search


def solve(distances: Any, backend: str = "cpu", **options: Any) -> Any:
    """Find and prove a shortest tour of a matrix of distances, in one call from Python.

    Parameters
    ----------
    distances : array_like, shape (n, n)
        Symmetric integers of at least 0; up to 30 cities.
    backend
        Where it runs: a name as `--backend` takes it.
    **options
        ``bound``, ``enumerate``, ``depth`` and ``count`` of `core.search.exact.ExactSearch`.

    Returns
    -------
    core.search.exact.Solution

    Raises
    ------
    UserError
        What `ExactSearch` refuses.

    """
    import backends
    from cluster import Solo
    from core.search.exact import ExactSearch

    device = backends.create(backend)
    try:
        return ExactSearch(device, Solo(), distances, **options).run()
    finally:
        device.close()


# --- running ---


class Proofs(Repetitions):
    """Repetitions of the whole search."""

    workload = "exact"
    hash_covers = "answer"
    doing = "searching"

    def __init__(self, options: argparse.Namespace, ranks: Any, instance: Any, source: str, search: Any) -> None:
        super().__init__(options, ranks, instance, search)
        self.source = source
        self.peers: list[Measured] | None = None
        self.second_opinion: tuple[str, int, int] | None = None
        self.verdict = ""
        self.length = 0
        self.seconds: list[float] = []

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {"count": self.options.count}

    @property
    def ways(self) -> dict[str, Any]:
        """See `Repetitions`; the bound is ``host`` where all tours were looked at without the device."""
        from core.search.exact import ENUMERATIONS

        options, search = self.options, self.search
        return {
            "bound": "host" if search.on_host else search.bound,
            "enumerate": (options.enumerate or ENUMERATIONS[0]) if options.bound == "none" else None,
            "depth": options.depth,
        }

    @property
    def units(self) -> None:
        """Nobody knows the number of nodes before they are searched."""
        return None

    def repeat(self) -> None:
        """Make the repetitions, and show the peers beside them."""
        started_s = seconds_since_start()
        super().repeat()
        if self.peers is not None:
            self.show_peers(started_s)

    def run(self, advance: Advance | None) -> Any:
        """Search once."""
        return self.search.run(None if advance is None else nodes_shown(advance))

    # --- checks ---

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """Score the tour from scratch, and ask all others who know its length: nobody may disagree."""
        if self.options.peers and self.peers is None:
            from drivers.exact_peers import measure

            self.peers = measure(self.instance.distances, self.options.repeats)
        objections = list(self.objections(outcome))
        agreed = "confirmed by the scorer" + (f" and by {self.verified_by}" if self.verified_by else "")
        self.verdict = f"NOT CONFIRMED: {'; '.join(objections)}" if objections else agreed
        return outcome.tour, not objections

    def objections(self, outcome: Any) -> Iterator[str]:
        """Yield what speaks against a result."""
        length = self.instance.tour_length(outcome.tour)
        if length != outcome.length:
            yield f"the scorer finds length {length}"
        if self.instance.optimum not in (None, outcome.length):
            yield f"the optimum is known to be {self.instance.optimum}"
        if self.options.verify:
            name, optimum, optimal_tours = self.verification()
            if optimum != outcome.length:
                yield f"{name} finds length {optimum}"
            elif outcome.optimal_tours not in (None, optimal_tours):
                yield f"{name} finds {optimal_tours} shortest tours"
        for peer in self.peers or ():
            if peer.length is not None and peer.length < outcome.length:
                yield f"{peer.name} finds length {peer.length}"

    def verification(self) -> tuple[str, int, int]:
        """What an algorithm without bounds, kernels or a backend finds: its name, the optimum and how often."""
        if self.second_opinion is None:
            from core.problems.small_tours import all_tours, held_karp

            small = self.instance.n <= MOST_ENUMERATED
            length, _, optimal_tours = (all_tours if small else held_karp)(self.instance.distances)
            name = "a full search in NumPy" if small else "Held and Karp's dynamic programming"
            self.second_opinion = name, length, optimal_tours
        return self.second_opinion

    @property
    def verified_by(self) -> str | None:
        """Who found the optimum again; None if nobody was asked."""
        return self.second_opinion[0] if self.second_opinion else None

    # --- results ---

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        self.seconds.append(times.running_s)
        self.length = outcome.length
        nodes = int(outcome.nodes.sum())
        known = " (the optimum)" if self.instance.optimum == outcome.length else ""
        counted = "" if outcome.optimal_tours is None else f", shortest tours: {outcome.optimal_tours}"
        root = "" if outcome.root_bound is None else f"bound at the root {outcome.root_bound}, "
        print(
            f"{self.instance.name}: shortest length {outcome.length}{known}{counted}, "
            f"{root}start length {outcome.start_length}, {nodes:,} nodes, {rate(nodes, times.running_s):,.0f} nodes/s, "
            f"{times.running_s:.6f} s (compile {times.compile_s:.3f}, transfer {times.transfer_s:.6f}, "
            f"kernel {times.kernel_s:.6f}), {self.hashed(outcome.digest)}, {self.verdict}",
            flush=True,
        )
        for note in self.search.notes:
            print(f"note: {note}", file=sys.stderr)

    def show_peers(self, started_s: float) -> None:
        """A table on standard output: this search and the other solvers, on one instance in one run."""
        from drivers.exact_peers import Measured, table

        solve_s = statistics.median(self.seconds)
        own = Measured("this search", True, self.length, solve_s, started_s, None, len(self.seconds))
        print("\n".join(table([own, *(self.peers or ())])), flush=True)

    def save(self, tour: Any) -> None:
        """The tour as --tour and --svg say."""
        save_tour(self.options, self.instance, tour, "drivers.exact")

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """See `Repetitions`; nodes are details, since their number depends on when the incumbent improved."""
        nodes = int(outcome.nodes.sum())
        return {
            "best_cost": outcome.length,
            "best_index": 0,
            "evaluations": 0,
            "trajectory_hash": f"{outcome.digest:016x}",
            "details": {
                "cities": self.instance.n,
                "optimum": self.instance.optimum,
                "instance_source": self.source,
                "evaluations_per_step": "none; nodes, which differ from run to run, are in the record's details",
                "tour": outcome.tour.tolist(),
                "bound": self.search.bound,
                "nodes": nodes,
                "nodes_per_depth": outcome.nodes.tolist(),
                "nodes_per_second": rate(nodes, times.running_s),
                "root_bound": outcome.root_bound,
                "start_length": outcome.start_length,
                "optimal_tours": outcome.optimal_tours,
                "verified_by": self.verified_by,
            }
            | ({} if self.peers is None else {"peers": [peer._asdict() for peer in self.peers]}),
        }


def nodes_shown(advance: Advance) -> Callable[[int, int, int | None], None]:
    """What tells a bar of explored nodes: how fast they come, the incumbent, and below which length there is none."""
    began = time.perf_counter()
    finished = told = 0

    def report(nodes: int, incumbent: int, bound: int | None) -> None:
        nonlocal finished, told
        if nodes < told:  # a second search, which counts the shortest tours, begins at 0 again
            finished, told = finished + told, 0
        speed = rate(finished + nodes, time.perf_counter() - began)
        proved = "" if bound is None else f", bound {bound}"
        advance(nodes - told, f"{speed:,.0f} nodes/s, incumbent {incumbent}{proved}")
        told = nodes

    return report


def rate(nodes: int, seconds: float) -> float:
    """Nodes per second; 0 where the clock saw no time pass."""
    return nodes / seconds if seconds > 0 else 0.0


def seconds_since_start() -> float:
    """How long ago this process began: imports, the device and compilation are in it."""
    import psutil

    return time.time() - float(psutil.Process().create_time())


if __name__ == "__main__":
    sys.exit(run_driver(main))
