"""A longest common subsequence of two strings (`oconnell2014`), on any backend and over any number of ranks.

python -m drivers.lcs                                       a first run, in seconds
python -m drivers.lcs A.fasta B.fasta --output common.txt   two FASTA records, or FILE:RECORD, or two plain files
python -m drivers.lcs --text HUMAN CHIMPANZEE               two words
python -m drivers.lcs random:1000000 --no-trace --peers     the length alone, beside rapidfuzz
mpirun -n 4 python -m drivers.lcs random:100000             the same table, computed by 4 ranks
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from drivers.dp_options import add_dp_options, refuse_idle_options
from drivers.options import add_common_options, agreed_ranks, run_driver
from drivers.profile import add_profile_option, detail
from drivers.repetitions import Repetitions, Times, chosen_device, prepared

if TYPE_CHECKING:
    import numpy as np

    from drivers.progress import Advance

DEFAULT = "half:20000:seed=1"
COUNTED_AGAIN = 2_000_000_000
"""Cells up to which the plain scorer computes the length again without being asked; it takes 0.2 s."""
PARTS = 100
"""Parts of the waves, as the progress bar counts them."""
FIRST_ROWS = 64
"""Rows of the table from which programs are compiled."""
LINE = 70
"""Letters in a line of a FASTA file."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    options = parse(argv)
    from drivers.automatic import gpus_here

    ranks = agreed_ranks("python -m drivers.lcs", options)
    pair = ranks.bcast(settled(options, ranks.size) if ranks.rank == 0 else None)
    profile = detail(options, ranks, "lcs", argv, sized=bool(options.strings or options.instance or options.text))
    gpus = gpus_here() if options.backend == "auto" else 0
    leads = ranks.local_rank in (0, gpus)
    search = prepared(ranks, lambda known: build(options, ranks, pair, gpus, known), leads)
    try:
        Subsequences(options, ranks, pair, search, profile).repeat()
    finally:
        search.backend.close()
    return 0


# --- from the command line to a search ---


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; files may stand anywhere among the options."""
    from cluster.command_line import RankParser
    from core.search.dp.lcs import TILINGS

    parser = RankParser(
        prog="python -m drivers.lcs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "strings",
        nargs="*",
        metavar="FILE",
        help="two files: FASTA (its first record, or FILE:RECORD) or any bytes; or one argument as --instance takes it",
    )
    add_common_options(parser, backend="auto", generator="random:100000:letters=4:seed=1", chosen=DEFAULT)
    parser.add_argument("--text", nargs=2, metavar=("A", "B"), help="the two strings themselves, in place of files")
    add_dp_options(parser, TILINGS)
    group = parser.add_argument_group("checks and comparison")
    group.add_argument(
        "--verify",
        action="store_true",
        help="compute the length again in plain Python, row by row as large integers (done up to "
        f"{COUNTED_AGAIN:,} cells in any case; 10^10 cells take a second)",
    )
    group.add_argument(
        "--peers", action="store_true", help="run rapidfuzz, if it is installed, on the same strings, --repeats times"
    )
    add_profile_option(parser)
    group = parser.add_argument_group("results")
    group.add_argument(
        "--output", metavar="FILE", help="save the subsequence: its bytes, or a FASTA record where FILE ends in .fasta"
    )
    return parser.parse_intermixed_args(argv)


def settled(options: argparse.Namespace, ranks: int) -> Any:
    """The strings.

    Raises
    ------
    UserError
        Options that would change nothing or exclude each other, or a file that cannot be written at the end; other
        mistakes are the strings' or the search's to find.

    """
    from core.errors import UserError
    from core.problems import strings

    refuse_idle_options(options)
    if options.seed:
        raise UserError("--seed changes nothing here: nothing is random (strings have their own: random:1000:seed=2)")
    if options.peers and ranks > 1:
        raise UserError(f"--peers on {ranks} ranks: expected one, since waiting ranks take the peers' cores")
    if options.output is not None:
        if not options.trace:
            raise UserError("--output needs --trace: without it there is a length and no subsequence")
        folder = os.path.dirname(options.output) or "."
        if os.path.isdir(options.output) or not os.access(folder, os.W_OK):
            raise UserError(f"--output {options.output}: cannot write there")
    sources = [bool(options.strings), options.instance is not None, options.text is not None]
    if sum(sources) > 1 or len(options.strings) > 2:
        found = " ".join([*options.strings, *(["--instance"] * sources[1]), *(["--text"] * sources[2])])
        raise UserError(f"found {found}: expected two files, or --instance, or --text")
    if options.text is not None:
        return strings.from_texts(*options.text)
    first, second = [*options.strings, None, None][:2]
    return strings.load(first or options.instance or DEFAULT, second, options.data)


def build(options: argparse.Namespace, ranks: Any, pair: Any, gpus: int, known: dict[str, str]) -> Any:
    """The search on this rank's device, compiled and warm, without a word to other ranks."""
    from core.search.dp.lcs import LongestCommonSubsequence
    from drivers.automatic import automatic_device

    automatic = options.backend == "auto"
    backend = automatic_device(options, ranks, gpus) if automatic else chosen_device(options, ranks)
    backend.known = dict(known)
    warm_up(options, backend, pair)
    return LongestCommonSubsequence(
        backend, ranks, pair.a, pair.b, tiling=options.tiling, room=options.device_memory, folder=options.spill
    )


def warm_up(options: argparse.Namespace, backend: Any, pair: Any) -> None:
    """Compile what the search launches, by the first rows of its table; the time counts as compilation.

    All columns take part, because their number and their letters choose the program; without tiling neither does.
    """
    from cluster import Solo
    from core.search.dp.lcs import LongestCommonSubsequence

    began = time.perf_counter()
    columns = pair.b[:FIRST_ROWS] if options.tiling == "none" else pair.b
    few = LongestCommonSubsequence(backend, Solo(), pair.a[:FIRST_ROWS], columns, tiling=options.tiling)
    few.run(trace=options.trace)
    backend.synchronize()
    backend.timings.reset()
    backend.timings.compile_s = time.perf_counter() - began


# --- running ---


class Subsequences(Repetitions):
    """Repetitions of the whole table, with its tracing."""

    workload = "lcs"
    hash_covers = "answer"
    doing = "waves"
    units = PARTS

    def __init__(
        self, options: argparse.Namespace, ranks: Any, instance: Any, search: Any, profile: dict[str, Any]
    ) -> None:
        super().__init__(options, ranks, instance, search)
        self.profile = profile
        self.peer: Peer | None = None
        self.counted_again: int | None = None
        self.verdict = ""
        self.length = 0
        self.seconds: list[float] = []

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {"trace": self.options.trace}

    @property
    def ways(self) -> dict[str, Any]:
        """See `Repetitions`."""
        options = self.options
        return {
            "tiling": options.tiling,
            "device_memory": options.device_memory,
            "spill": options.spill is not None,
        }

    def repeat(self) -> None:
        """Make the repetitions, and show rapidfuzz beside them."""
        super().repeat()
        if self.peer is not None:
            self.show_peer(self.peer)

    def run(self, advance: Advance | None) -> Any:
        """Compute the table once."""
        cells = len(self.instance.a) * len(self.instance.b)
        return self.search.run(
            trace=self.options.trace, progress=None if advance is None else waves_shown(advance, cells)
        )

    # --- checks ---

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """Score the subsequence, and ask all others who know the length: nobody may disagree."""
        pair, options = self.instance, self.options
        if options.peers and self.peer is None:
            self.peer = rapidfuzz(pair.a, pair.b, options.repeats)
        if self.counted_again is None and (options.verify or len(pair.a) * len(pair.b) <= COUNTED_AGAIN):
            from core.problems.strings import common_length

            self.counted_again = common_length(pair.a, pair.b)
        objections = list(self.objections(outcome))
        confirmed = []
        if outcome.pairs is not None:
            confirmed.append("subsequence confirmed by the scorer")
        if self.confirmed_by:
            confirmed.append(f"length confirmed by {' and by '.join(self.confirmed_by)}")
        agreed = ", ".join(confirmed) or "length not confirmed: nobody was asked (--trace, --verify, --peers)"
        self.verdict = f"NOT CONFIRMED: {'; '.join(objections)}" if objections else agreed
        return outcome.pairs, bool(confirmed) and not objections

    def objections(self, outcome: Any) -> Iterator[str]:
        """Yield what speaks against a result."""
        found = self.instance.objection(outcome.length, outcome.pairs)
        if found is not None:
            yield f"the scorer finds {found}"
        if self.options.trace and outcome.pairs is None:
            yield "no subsequence was found"
        if self.counted_again not in (None, outcome.length):
            yield f"plain Python finds length {self.counted_again}"
        if self.peer is not None and self.peer.length not in (None, outcome.length):
            yield f"{self.peer.name} finds length {self.peer.length}"

    @property
    def confirmed_by(self) -> list[str]:
        """Who knows the length without the search, in words."""
        known = [
            ("the strings' making", self.instance.known_length),
            ("plain Python", self.counted_again),
            (self.peer.name if self.peer else "", self.peer.length if self.peer else None),
        ]
        return [name for name, length in known if length is not None]

    # --- results ---

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        self.seconds.append(times.running_s)
        self.length = outcome.length
        streamed = f"{outcome.streamed_bytes:,} bytes streamed, " if self.options.trace else ""
        pair = self.instance
        print(
            f"{pair.name}: length {outcome.length} of {len(pair.a)} and {len(pair.b)} letters, {outcome.method}, "
            f"{outcome.cells:,} cells, {rate(outcome.cells, times.running_s):,.0f} cells/s, {streamed}"
            f"{times.running_s:.6f} s (compile {times.compile_s:.3f}, transfer {times.transfer_s:.6f}, "
            f"kernel {times.kernel_s:.6f}), {self.hashed(digest(outcome))}, {self.verdict}",
            flush=True,
        )

    def show_peer(self, peer: Peer) -> None:
        """Two lines on standard output, or why there is one."""
        if peer.length is None or not self.seconds:
            print(f"{peer.name}: {peer.trouble or 'nothing to compare with: all repetitions are recorded'}", flush=True)
            return
        own_s = statistics.median(self.seconds)
        print(f"{peer.name} {peer.version}: length {peer.length}, {peer.solve_s:.6f} s on one core")
        print(f"this search: length {self.length}, {own_s:.6f} s, {peer.solve_s / own_s:.2f} times as fast", flush=True)

    def save(self, solution: np.ndarray | None) -> None:
        """The subsequence as --output says."""
        path = self.options.output
        if path is None or solution is None:
            return
        common = self.instance.a[solution[:, 0]].tobytes()
        if path.lower().endswith((".fasta", ".fa")):
            header = f">longest common subsequence of {self.instance.name}"
            rows = [common[first : first + LINE] for first in range(0, len(common), LINE)]
            common = b"\n".join([header.encode(errors="replace"), *rows])
        with open(path, "wb") as file:
            file.write(common + b"\n")

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """See `Repetitions`; the cells are those of the whole table, however few of them a tiling had to compute."""
        return {
            "best_cost": outcome.length,
            "best_index": 0,
            "evaluations": outcome.cells,
            "trajectory_hash": digest(outcome),
            "details": {
                "optimum": self.instance.known_length,
                "instance_source": self.instance.source,
                "evaluations_per_step": "cells of the table, one for a letter of each string",
                "letters": [len(self.instance.a), len(self.instance.b)],
                "method": outcome.method,
                "cells": outcome.cells,
                "cells_per_second": rate(outcome.cells, times.running_s),
                "solve_s": times.running_s,
                "streamed_bytes": outcome.streamed_bytes,
                "length_confirmed_by": self.confirmed_by,
            }
            | ({} if self.peer is None else {"peers": [self.peer._asdict()]})
            | self.profile,
        }


def digest(outcome: Any) -> str:
    """64 bits of the length and of the pairs, if they were traced: equal for everybody who traced the same."""
    found = hashlib.blake2b(str(outcome.length).encode(), digest_size=8)
    if outcome.pairs is not None:
        found.update(outcome.pairs.astype("<i8").tobytes())
    return found.hexdigest()


def waves_shown(advance: Advance, cells: int) -> Callable[[int, int], None]:
    """What tells a bar of `PARTS` parts which wave is done, and how fast cells come."""
    began = time.perf_counter()
    told = 0

    def report(done: int, waves: int) -> None:
        nonlocal told
        speed = rate(cells * done // waves, time.perf_counter() - began)
        part = PARTS * done // waves
        advance(max(0, part - told), f"wave {done:,} of {waves:,}, {speed:,.0f} cells/s")
        told = max(told, part)

    return report


def rate(cells: int, seconds: float) -> float:
    """Cells per second; 0 where the clock saw no time pass."""
    return cells / seconds if seconds > 0 else 0.0


# --- the peer ---


class Peer(NamedTuple):
    """What rapidfuzz did: the median time of its repetitions; `trouble` says why there is nothing."""

    name: str
    length: int | None = None
    solve_s: float = 0.0
    repetitions: int = 0
    version: str = ""
    trouble: str = ""


def rapidfuzz(a: np.ndarray, b: np.ndarray, repeats: int) -> Peer:
    """Length by rapidfuzz's bit-parallel C++ on one core, in this process, if it is installed."""
    if importlib.util.find_spec("rapidfuzz") is None:
        return Peer("rapidfuzz", trouble="not found: pip install rapidfuzz")
    package = importlib.import_module("rapidfuzz")
    lcs = importlib.import_module("rapidfuzz.distance").LCSseq
    first, second = a.tobytes(), b.tobytes()
    seconds, length = [], 0
    for _ in range(repeats):
        began = time.perf_counter()
        length = int(lcs.similarity(first, second))
        seconds.append(time.perf_counter() - began)
    return Peer("rapidfuzz", length, statistics.median(seconds), repeats, package.__version__)


if __name__ == "__main__":
    sys.exit(run_driver(main))
