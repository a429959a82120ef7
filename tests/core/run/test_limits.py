"""The largest sizes and amounts of every search: the value at the limit passes the check, the next one does not.

docs/design/limits.md lists them. `test_index_limits.py`, and `tests/core/tables/test_index_limits_of_tables.py`, test
that kernels compute correctly up to them.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.ant_colony import AntColony, Settings
from core.ant_colony.launch_shape import shape_for
from core.errors import UserError
from core.exact import ExactSearch
from core.hill_climbing import search
from core.hill_climbing.scans import ColumnsScan, check_table
from core.hill_climbing.search import ClimbLauncher
from core.lang import Array, Row, bundle, i32
from core.local_search import Permutation, TabuSearch
from core.local_search.memory import WalkMemory
from core.local_search.plan import Plan
from core.tables.engine.recurrences import MOST_CELLS, Waves
from core.tables.engine.tiles import TileShape
from core.tables.engine.waves import WaveEngine
from core.tables.held_karp import balas_simonetti
from core.tables.held_karp import search as held_karp_search
from core.tables.held_karp.neighbourhood import check_k
from core.tables.knapsack import problem as knapsack
from core.tables.lcs import problem as lcs_problem
from core.tables.lcs import search as lcs_search
from core.tables.lcs import table
from core.tours import problem as tsp_problem
from core.tours.distance_matrices import checked_distances
from tests.conftest import ROOT
from tests.core.tables.tables import by_layers
from tests.lightest import Lightest

ORACLE, CORE = PythonBackend(PythonBackend.devices()[0]), CpuBackend(CpuBackend.devices()[0])
LARGEST = 2**31 - 1


class MemoryAskedError(Exception):
    """The device was asked for memory: all checks are passed."""


class Full(PythonBackend):
    def __init__(self):
        super().__init__(PythonBackend.devices()[0])

    def allocate(self, shape, dtype):
        raise MemoryAskedError


def square(n):
    return np.broadcast_to(np.int64(1), (n, n))


def tsp_table(n):
    big = object.__new__(tsp.TspInstance)
    vars(big).update(name="big", n=n, _distances=np.ones((1, 1), int), coordinates=None, edge_weight_type="EXPLICIT")
    vars(big).update(optimum=None, sha256="")
    return tsp_problem.TspTour(big).data_for("table")


def ordered_copies(teams):
    scan = ColumnsScan(ORACLE, np.ones((5, 5), np.uint16))
    scan.backend = Full()
    with pytest.raises(MemoryAskedError):
        scan.arguments(teams)


def allocated(walks, elements=2, memory=1, kept=0):
    problem = SimpleNamespace(encoding=Permutation(elements), with_room=lambda data, lanes: data, remembered=())
    plan = SimpleNamespace(
        problem=problem,
        memory_words=memory,
        evaluation=SimpleNamespace(data=Keeping(n=kept) if kept else Bare(1)),
        history=False,
        keeps_differences=False,
    )
    with pytest.raises(MemoryAskedError):
        WalkMemory(Full(), plan, 0, walks, 1)


@bundle
class Bare:
    n: i32


@bundle
class Keeping:
    kept: Array[i32] = Row("n")
    n: i32


class Long(Waves):
    data = {}
    cell = staticmethod(lambda: None)

    def __init__(self, waves, cells):
        self.count, self.most = waves, cells

    def waves(self):
        return self.count

    def width(self):
        return self.most


def cells_engine(waves=9, rows=40):
    """Waves of one cell by the paper's mapping, in rows of two lanes; the device keeps `rows` waves."""
    from core.tables.held_karp.kernels.layers import Cities, path_value

    class Kept(Long):
        lookback = rows - 1 - 32

    problem = Kept(waves, 1)
    problem.cell, problem.data = path_value, Cities(1, np.zeros(1, np.int32), np.zeros(1, np.int32))
    with pytest.raises(MemoryAskedError):
        WaveEngine(Full(), Solo(), problem, shape=(1,))


def by_cells(n):
    with pytest.raises(MemoryAskedError):
        by_layers(Full(), square(n))


def ants(n, team=(64, 1), **changes):
    settings = Settings(ants=1, **changes)
    settings.check(n)
    shape_for("fine", ORACLE.capabilities, n, settings, team)


def exact(n, **options):
    ExactSearch(ORACLE, Solo(), 1 - np.eye(n, dtype=int), **options)


def ants_at(longest):
    distances = np.broadcast_to(np.uint32(longest), (1000, 1000))
    with pytest.raises(MemoryAskedError):
        AntColony(Full(), Solo(), distances, Settings(ants=1))


def triangle(length):
    distances = np.zeros((3, 3), np.int64)
    distances[0, 1] = distances[1, 0] = length
    return distances


def one_way(length):
    """Four cities. Edges from the first have this length and all others 0: not symmetric."""
    distances = np.zeros((4, 4), np.int64)
    distances[0] = length
    return distances


def held_karp_of(length):
    with pytest.raises(MemoryAskedError):
        held_karp_search.HeldKarp(Full(), Solo(), one_way(length))


def restricted_to(length):
    with pytest.raises(MemoryAskedError):
        balas_simonetti.BalasSimonettiSearch(Full(), Solo(), one_way(length), 2)


def letters(n):
    lcs_search.check_letters(3, n)


def carries(k):
    table.check_size(
        9, 9, table.LcsTableLayout(table.LcsLaunchShape(1, 1, 2, 1), k), table.Alphabet(np.zeros(1, np.uint8))
    )


def masks(k):
    table.check_size(
        9, 9, table.LcsTableLayout(table.LcsLaunchShape(1, k, 1, 1), 1), table.Alphabet(np.zeros(1, np.uint8))
    )


class Limit(NamedTuple):
    """A check, its largest valid value, and words of the refusal of the next one."""

    check: Callable[[int], object]
    most: int
    words: str


CLIMBING, SAME = "hill climbing, every 2-opt, tables of `tsp`", "the same, ants, start tours of restricted"
MAPPED, LAUNCH = "hill climbing, `--mapping published`", "hill climbing, a launch"
LIMITS = {
    (CLIMBING, "46,340 cities"): [
        Limit(lambda n: search.check_cities(n, "big"), 46_340, "big has 46341 cities: hill climbing takes 5 to 46340 cities"),
        Limit(lambda n: balas_simonetti.check_start(n, 1, "big"), 46_340, "big has 46341 cities: 2-opt improves a start tour of at most 46340"),
        Limit(tsp_table, 46_340, "big has 46341 cities: a table of distances takes at most 46340"),
    ],
    (SAME, "n * longest distance < 2^31"): [
        Limit(lambda d: search.check_lengths(1000, d, "big"), LARGEST // 1000, "big: tours of 1000 cities at distances up to 2147484 do not fit 31 bits"),
        Limit(lambda d: balas_simonetti.check_start(1000, d, "big"), LARGEST // 1000, "do not fit 31 bits"),
        Limit(ants_at, LARGEST // 1000, "tours of 1000 cities at distances up to 2147484 do not fit 31 bits"),
    ],
    (MAPPED, "4 * n * n bytes in the memory that a team shares: 110 cities in 48 KiB, 1,024 on a core"): [
        Limit(lambda n: check_table(n, 48 << 10), 110, "found 111 cities, expected at most 110"),
        Limit(lambda n: check_table(n, CORE.capabilities.shared_bytes), 1024, "found 1025 cities, expected at most 1024"),
    ],
    (LAUNCH, "with `--scan columns` teams * n * (n + 1) < 2^31"): [
        Limit(ordered_copies, LARGEST // 30, "too large; use --scan pruned"),
    ],
    ("ants", "46,000 cities"): [Limit(lambda n: ants(n, (32, 1)), 46_000, "ants take 3 to 46000 cities here, not 46001")],
    ("ants", "n * row of weights < 2^31"): [
        Limit(ants, 45_590, "rows of 47104 weights for teams of 64 lanes pass 2.31: expected at most 45590"),
    ],
    ("ants, a colony", "ants * n < 2^31"): [
        Limit(lambda count: Settings(ants=count).check(1000), LARGEST // 1000, "pass 2.31 cities"),
    ],
    ("restricted tours", "65,535 cities"): [Limit(balas_simonetti.check_cities, 65_535, "65536 cities: at most 65535")],
    ("restricted tours", "k 2 to 14"): [
        Limit(lambda k: check_k(k, 9, "big"), 14, "k = 15: at most 14"),
        Limit(lambda k: check_k(-k, 9, "big"), -2, "k = 1: at least 2"),
    ],
    ("restricted tours", "start tour below 2^30 - 1"): [
        Limit(restricted_to, 2**30 - 2, "a start tour of length 1073741823: expected below 1073741823"),
    ],
    ("Held-Karp", "36 cities"): [Limit(lambda n: checked_distances(square(n), held_karp_search.check_cities), 36, "37 cities: .* at most 36")],
    ("Held-Karp", "lengths below 2^30 - 1"): [
        Limit(held_karp_of, 2**30 - 2, "tours of length 1073741823 and more: expected below 1073741823"),
    ],
    ("exact search", "30 cities"): [Limit(exact, 30, "31 cities: exact search takes at most 30")],
    ("exact search", "start tour below 2^24 (1-trees) or 2^26 - 1"): [
        Limit(lambda length: ExactSearch(ORACLE, Solo(), triangle(length)), 2**24 - 1, "expected below 16777216"),
        Limit(lambda length: ExactSearch(ORACLE, Solo(), triangle(length), bound="edges"), 2**26 - 2, "expected below 67108863"),
    ],
    ("enumeration", "2^60 items"): [
        Limit(lambda depth: exact(30, bound="none", depth=depth), 14, "expected at most 1152921504606846976, which is a depth of 14"),
    ],
    ("LCS", "2^31 - 65 letters"): [Limit(letters, lcs_problem.LONGEST, "must be shorter than 2.31 - 64")],
    ("LCS", "65,533 letters in both strings"): [
        Limit(lambda n: lcs_problem.StringPair("x", *["".join(map(chr, range(2**16, 2**16 + n)))] * 2), 65_533, "65534 letters"),
    ],
    ("LCS", "strips * rows / 32 < 2^31"): [Limit(carries, LARGEST // 3, "more than 2.31 carries")],
    ("LCS", "masks < 2^31"): [Limit(masks, LARGEST // 8, "more than 2.31 masks")],
    ("knapsack", "capacity 2^30 - 1"): [
        Limit(lambda c: knapsack.Knapsack("big", np.ones(1, int), np.ones(1, int), c), 2**30 - 1, "0 to 1073741823"),
    ],
    ("knapsack", "values 2^32 - 1"): [
        Limit(lambda v: knapsack.Knapsack("big", np.ones(1, int), np.array([v]), 9), 2**32 - 1, "0 to 4294967295"),
    ],
    ("the paper's mapping", "waves + lanes < 2^31"): [
        Limit(cells_engine, MOST_CELLS - 2, "2147483646 waves, 40 of which have 80 cells on the device"),
    ],
    ("the paper's mapping", "cells that the device keeps < 2^31"): [
        Limit(lambda rows: cells_engine(rows=rows), MOST_CELLS // 2,
              "9 waves, 1073741824 of which have 2147483648 cells on the device: expected at most 2147483647"),
    ],
    ("the paper's mapping", "Held-Karp 29 cities"): [Limit(by_cells, 29, "2326763264 cells on the device: expected at most 2147483647")],
    ("generic engine", "whole tiles < 2^31 rows and columns"): [
        Limit(lambda n: TileShape(5, n, 1, 1, 1), MOST_CELLS - 1, "whole tiles: expected less"),
        Limit(lambda n: TileShape(n, 5, 1, 1, 1), MOST_CELLS - 1, "whole tiles: expected less"),
    ],
    ("local search", "65,535 elements"): [Limit(Permutation, 65_535, "expected an integer from 1 to 65535")],
    ("local search", "2^32 - 1 neighbours"): [
        Limit(lambda n: Plan.make(Lightest(n), TabuSearch(), "flip3"), 2954, "flip3 on 2955 elements has .* neighbours: expected 1 to 4294967295"),
    ],
    ("local search", "walks * (elements, memory, rows, 13) < 2^31"): [
        Limit(lambda walks: allocated(walks, elements=20), LARGEST // 20, "walks of 20 elements each: expected less than 2.31 in all"),
        Limit(lambda walks: allocated(walks, memory=20), LARGEST // 20, "walks of 20 words of memory each: expected less than 2.31"),
        Limit(lambda walks: allocated(walks, kept=20), LARGEST // 20, "walks of 20 elements of kept each: expected less than 2.31"),
        Limit(allocated, LARGEST // 13, "walks of 13 words of status each: expected less than 2.31 in all"),
    ],
}  # fmt: skip
"""By workload and limit, as the table of docs/design/limits.md names them."""
MORE_LAUNCHES = (LAUNCH, "climbers * n < 2^31")
"""Beyond this limit nothing is refused."""


def test_every_limit_of_the_table_is_tried():
    text = (ROOT / "docs" / "design" / "limits.md").read_text()
    rows = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    limits = {(row[0].strip(), limit) for row in rows for limit in row[1].split("; ")}
    assert limits == {*LIMITS, MORE_LAUNCHES}


@pytest.mark.parametrize(("row", "limit"), LIMITS)
def test_the_largest_value_passes_and_the_next_is_refused_in_one_line(row, limit):
    for check, most, words in LIMITS[row, limit]:
        check(most)
        with pytest.raises(UserError, match=words) as refusal:
            check(most + 1)
        assert "\n" not in str(refusal.value)
        assert refusal.value.exit_code == 2


def test_more_climbers_than_a_launch_takes_are_launched_in_parts():
    class Tours(NamedTuple):
        size: int

    most = LARGEST // 46_340
    backend = SimpleNamespace(allocate=lambda size, dtype: Tours(size))
    scan = SimpleNamespace(fewest_climbers=lambda: 10**9)
    for asked, part in ((most, most), (most + 1, most)):
        launcher = ClimbLauncher(backend, scan, 46_340, start="philox", seed=0)
        assert launcher.make_room(asked) == part
        assert launcher.tours.size <= LARGEST


def test_many_cities_are_refused_without_counting_their_layers():
    with pytest.raises(UserError, match="60000 cities: .* would need more than [0-9]{20,40} bytes"):
        checked_distances(square(60_000), held_karp_search.check_cities)


def test_choices_that_no_machine_keeps_are_refused_with_the_bytes():
    with pytest.raises(UserError, match="big has 100000000 cities: k = 14 keeps 6,143,999,938,560 bytes"):
        check_k(14, 10**8, "big")
