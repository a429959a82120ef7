"""A shortest tour by Held and Karp's dynamic programming (`oconnell2014`), on any backend and over any number of ranks.

python -m drivers.heldkarp                                   a first run, in seconds
python -m drivers.heldkarp --instance gr24 --verify          checked by branch and bound with 1-trees
python -m drivers.heldkarp --matrix roads.txt                distances from a file, symmetric or not
python -m drivers.heldkarp --instance gr17 --tiling none     the paper's form, a launch for every size of subsets
python -m drivers.heldkarp --instance a280 --k 10            more cities: the best of a neighbourhood of a start tour
mpirun -n 2 python -m drivers.heldkarp --instance gr21       the same layers, computed by 2 ranks
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drivers.dp_options import add_dp_options
from drivers.heldkarp_others import MOST_PEER, Peer, check_others, held_karp, second_opinion
from drivers.matrix_files import load_matrix
from drivers.options import add_common_options, agreed_ranks, positive, run_driver
from drivers.profile import add_profile_option, detail
from drivers.repetitions import Repetitions, Times, chosen_device, prepared
from drivers.tour_files import add_tour_options, save_tour

if TYPE_CHECKING:
    from drivers.progress import Advance

DEFAULT = "gr21"
DEFAULT_GENERATED = "uniform:20:seed=1"
DEFAULT_K = 8
"""Of instances that are too large for a proof, if `--k` is not given."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    options = parse(argv)
    from drivers.automatic import gpus_here

    ranks = agreed_ranks("python -m drivers.heldkarp", options)
    instance, options.k = ranks.bcast(settled(options, ranks.size) if ranks.rank == 0 else (None, None))
    profile = detail(options, ranks, "heldkarp", argv, sized=bool(options.instance or options.matrix))
    gpus = gpus_here() if options.backend == "auto" else 0

    def made(known: dict[str, str]) -> Any:
        return build(options, ranks, instance, gpus, known)

    # The restricted search talks to other ranks when it is made, so all make it together.
    search = prepared(ranks, made, ranks.local_rank in (0, gpus)) if options.k is None else made({})
    if ranks.rank == 0 and options.k is None and options.tiling == "auto":
        print(f"note: {room_in_words(search)}", file=sys.stderr)
    try:
        kind = Tours if options.k is None else RestrictedTours
        kind(options, ranks, instance, search, profile).repeat()
    finally:
        search.backend.close()
    return 0


# --- from the command line to a search ---


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    from cluster.command_line import RankParser

    parser = RankParser(
        prog="python -m drivers.heldkarp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_common_options(
        parser, backend="auto", generator="uniform:24:seed=1", chosen=f"{DEFAULT}, or {DEFAULT_GENERATED} without it"
    )
    parser.add_argument(
        "--matrix",
        metavar="FILE",
        help="in place of --instance: a matrix of distances, a NumPy .npy file or a text with a row a line; the way "
        "back may have another length",
    )
    add_dp_options(parser, ("auto", "none"))
    group = parser.add_argument_group("restricted search, optimal over a neighbourhood and never called exact")
    group.add_argument(
        "--k",
        type=positive,
        metavar="K",
        help="the best of the tours that keep city i ahead of city j wherever a start tour has them K or more places "
        f"apart (Balas and Simonetti; {DEFAULT_K} for instances of too many cities to prove)",
    )
    group.add_argument(
        "--rotations", type=positive, metavar="R", help="start the same tour at so many of its cities (1)"
    )
    group.add_argument("--improve", action="store_true", help="go on from the tour found until none is shorter")
    group = parser.add_argument_group("checks and comparison")
    group.add_argument("--verify", action="store_true", help="find the optimum again by another algorithm")
    group.add_argument(
        "--peers",
        action="store_true",
        help=f"run the package held-karp (Rust, up to {MOST_PEER} cities) on the same distances, --repeats times",
    )
    add_profile_option(parser)
    add_tour_options(parser.add_argument_group("results"))
    return parser.parse_args(argv)


def settled(options: argparse.Namespace, ranks: int) -> tuple[Any, int | None]:
    """The instance, and k of the restricted search, or None for a proof.

    Raises
    ------
    UserError
        Options that would change nothing or exclude each other, a check that is not possible, or a file that cannot be
        written at the end; other mistakes are the instance's or the search's to find.

    """
    from core.errors import UserError
    from core.search.dp.held_karp import MOST_CITIES

    if options.seed:
        raise UserError("--seed changes nothing here: nothing is random (an instance has its own: uniform:20:seed=1)")
    if options.spill is not None:
        raise UserError("--spill changes nothing here: no decisions leave the device")
    if options.peers and ranks > 1:
        raise UserError(f"--peers on {ranks} ranks: expected one, since waiting ranks take the peers' cores")
    for name in ("tour", "svg"):
        path = getattr(options, name)
        if path is not None and not os.access(os.path.dirname(path) or ".", os.W_OK):
            raise UserError(f"--{name} {path}: cannot write there")
        if path is not None and not options.trace:
            raise UserError(f"--{name} needs --trace: without it there is a length and no tour")
    instance = find_instance(options)
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")
    k = options.k
    if k is None and instance.n > MOST_CITIES:
        k = DEFAULT_K
        print(
            f"note: {instance.name} has {instance.n} cities, and a proof takes at most {MOST_CITIES}: restricted "
            f"search with --k {k}",
            file=sys.stderr,
        )
    if k is None:
        if options.improve or options.rotations is not None:
            raise UserError("--improve and --rotations change nothing here: expected with --k")
        check_others(options, instance)
        return instance, None
    for name, given in (("--verify", options.verify), ("--peers", options.peers), ("--no-trace", not options.trace)):
        if given:
            raise UserError(
                f"{name} with a restricted search (--k {k}): its tour is always traced and proves no optimum"
            )
    return instance, k


def find_instance(options: argparse.Namespace) -> Any:
    """The instance that the options name."""
    from core.errors import UserError
    from core.problems import sources, tsp

    if options.matrix is not None:
        if options.instance is not None:
            raise UserError("--matrix and --instance: expected one of them")
        return load_matrix(options.matrix, symmetric=False)
    spec = options.instance
    if spec is None:
        spec = DEFAULT if sources.find(DEFAULT, options.data) else DEFAULT_GENERATED
    return tsp.load(spec, options.data)


def build(options: argparse.Namespace, ranks: Any, instance: Any, gpus: int, known: dict[str, str]) -> Any:
    """The search on this rank's device, compiled and warm; one for a proof says no word to other ranks."""
    from drivers.automatic import automatic_device

    backend = automatic_device(options, ranks, gpus) if options.backend == "auto" else chosen_device(options, ranks)
    backend.known = dict(known)
    limits = {"tiling": options.tiling, "room": options.device_memory}
    search: Any
    if options.k is None:
        from core.search.dp.held_karp import HeldKarp

        search = HeldKarp(backend, ranks, instance.distances, **limits)
    else:
        from core.search.dp.restricted import RestrictedTour

        rotations = options.rotations or 1
        search = RestrictedTour(
            backend, ranks, instance.distances, options.k, improve=options.improve, rotations=rotations, **limits
        )
    search.warm_up()
    return search


def room_in_words(search: Any) -> str:
    """How many cities a device has room for, in words."""
    device = search.backend.device.name
    lengths = f"lengths of {8 * search.dtype.itemsize} bits" + (" in two directions" if search.directed else "")
    return f"{device} has room for up to {search.most_cities} cities ({search.room:,} bytes, {lengths})"


# --- running ---


class Tours(Repetitions):
    """Repetitions of the whole search for a proved shortest tour."""

    workload = "heldkarp"
    hash_covers = "answer"
    doing = "layers"

    def __init__(
        self, options: argparse.Namespace, ranks: Any, instance: Any, search: Any, profile: dict[str, Any]
    ) -> None:
        super().__init__(options, ranks, instance, search)
        self.profile = profile
        self.peer: Peer | None = None
        self.second_opinion: tuple[str, int] | None = None
        self.verdict = ""
        self.length = 0
        self.seconds: list[float] = []

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {name: getattr(self.options, name) for name in ("trace", "k", "rotations", "improve")}

    @property
    def ways(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {name: getattr(self.options, name) for name in ("tiling", "device_memory")}

    @property
    def units(self) -> int | None:
        """Layers, and the meeting of both halves."""
        return int(self.search.steps)

    def repeat(self) -> None:
        """Make the repetitions, and show held-karp beside them."""
        super().repeat()
        if self.peer is not None:
            self.show_peer(self.peer)

    def run(self, advance: Advance | None) -> Any:
        """Search once."""
        return self.search.run(self.options.trace, advance)

    # --- checks ---

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """Score the tour from scratch, and ask all others who know its length: nobody may disagree."""
        if self.options.peers and self.peer is None:
            self.peer = held_karp(self.instance.distances, self.options.repeats)
        if self.options.verify and self.second_opinion is None:
            self.second_opinion = second_opinion(self.instance)
        objections = list(self.objections(outcome))
        agreed = "not confirmed: nobody was asked (--trace, --verify, --peers)"
        if self.confirmed_by(outcome):
            agreed = f"confirmed by {' and by '.join(self.confirmed_by(outcome))}"
        self.verdict = f"NOT CONFIRMED: {'; '.join(objections)}" if objections else agreed
        return outcome.tour, bool(self.confirmed_by(outcome)) and not objections

    def objections(self, outcome: Any) -> Iterator[str]:
        """Yield what speaks against a result."""
        if outcome.tour is not None:
            length = self.instance.tour_length(outcome.tour)
            if length != outcome.length:
                yield f"the scorer finds length {length}"
        if self.instance.optimum not in (None, outcome.length):
            yield f"the optimum is known to be {self.instance.optimum}"
        if self.second_opinion is not None and self.second_opinion[1] != outcome.length:
            yield f"{self.second_opinion[0]} finds length {self.second_opinion[1]}"
        if self.peer is not None and self.peer.length not in (None, outcome.length):
            yield f"held-karp finds length {self.peer.length}"

    def confirmed_by(self, outcome: Any) -> list[str]:
        """Who knows the length without the search, in words."""
        peer = None if self.peer is None else self.peer.length
        known = [
            ("the scorer", outcome.tour),
            (self.second_opinion[0] if self.second_opinion else "", self.second_opinion),
            ("held-karp", peer),
        ]
        return [name for name, found in known if found is not None]

    # --- results ---

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        self.seconds.append(times.running_s)
        self.length = outcome.length
        known = " (the optimum)" if self.instance.optimum == outcome.length else ""
        print(
            f"{self.instance.name}: shortest length {outcome.length}{known}, start length {outcome.start_length}, "
            f"{self.work_and_times(outcome, times)}",
            flush=True,
        )

    def work_and_times(self, outcome: Any, times: Times) -> str:
        """What was computed, in which time, and who confirms it."""
        cells = self.cells(outcome)
        return (
            f"{cells:,} transitions, {rate(cells, times.running_s):,.0f} transitions/s, {times.running_s:.6f} s "
            f"(compile {times.compile_s:.3f}, transfer {times.transfer_s:.6f}, kernel {times.kernel_s:.6f}), "
            f"{self.hashed(self.digest(outcome))}, {self.verdict}"
        )

    def cells(self, outcome: Any) -> int:
        """Steps from a shorter path to a longer one."""
        return int(outcome.transitions)

    def digest(self, outcome: Any) -> str:
        """64 bits of what was found."""
        return f"{outcome.digest:016x}"

    def show_peer(self, peer: Peer) -> None:
        """Two lines on standard output, or why there is one."""
        if peer.length is None or not self.seconds:
            print(f"held-karp: {peer.trouble or 'nothing to compare with: all repetitions are recorded'}", flush=True)
            return
        own_s = statistics.median(self.seconds)
        print(f"held-karp {peer.version}: length {peer.length}, {peer.solve_s:.6f} s on one core")
        print(f"this search: length {self.length}, {own_s:.6f} s, {peer.solve_s / own_s:.2f} times as fast", flush=True)

    def save(self, tour: Any) -> None:
        """The tour as --tour and --svg say."""
        if tour is not None:
            save_tour(self.options, self.instance, tour, "drivers.heldkarp")

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """See `Repetitions`."""
        cells = self.cells(outcome)
        return {
            "best_cost": outcome.length,
            "best_index": 0,
            "evaluations": cells,
            "trajectory_hash": self.digest(outcome),
            "details": {
                "cities": self.instance.n,
                "optimum": self.instance.optimum,
                "instance_source": self.instance.source,
                "evaluations_per_step": "steps from a path to one that is a city longer",
                "proved": self.options.k is None,
                "tour": None if outcome.tour is None else outcome.tour.tolist(),
                "transitions": cells,
                "transitions_per_second": rate(cells, times.running_s),
                "solve_s": times.running_s,
                "start_length": outcome.start_length,
                "confirmed_by": self.confirmed_by(outcome),
            }
            | ({} if self.peer is None else {"peers": [self.peer._asdict()]})
            | self.profile,
        }


class RestrictedTours(Tours):
    """Repetitions of the search for the best tour of a neighbourhood."""

    doing = "passes"

    @property
    def units(self) -> int | None:
        """Nobody knows the number of passes when they go on until none helps."""
        return None if self.options.improve else 1

    def run(self, advance: Advance | None) -> Any:
        """Search once."""
        return self.search.run(None if advance is None else lambda _, length: advance(1, f"length {length}"))

    def objections(self, outcome: Any) -> Iterator[str]:
        """Yield what speaks against a result; it may be longer than the optimum, but not shorter."""
        length = self.instance.tour_length(outcome.tour)
        if length != outcome.length:
            yield f"the scorer finds length {length}"
        if outcome.length > outcome.start_length:
            yield f"the start tour has length {outcome.start_length}"
        if self.instance.optimum is not None and outcome.length < self.instance.optimum:
            yield f"the optimum is known to be {self.instance.optimum}"

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        self.seconds.append(times.running_s)
        optimum = self.instance.optimum
        above = "" if not optimum else f" ({100 * (outcome.length - optimum) / optimum:.2f} % above the optimum)"
        print(
            f"{self.instance.name}: restricted, optimal over the neighbourhood (k = {self.options.k}) of a start tour: "
            f"length {outcome.length}{above}, start length {outcome.start_length}, {outcome.passes} passes, "
            f"{self.work_and_times(outcome, times)}",
            flush=True,
        )

    def cells(self, outcome: Any) -> int:
        """See `Tours`."""
        return int(outcome.cells)

    def digest(self, outcome: Any) -> str:
        """64 bits of the length and the tour."""
        found = f"{outcome.length} {outcome.tour.tolist()}".encode()
        return hashlib.blake2b(found, digest_size=8).hexdigest()


def rate(cells: int, seconds: float) -> float:
    """Transitions per second; 0 where the clock saw no time pass."""
    return cells / seconds if seconds > 0 else 0.0


if __name__ == "__main__":
    sys.exit(run_driver(main))
