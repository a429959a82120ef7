"""The largest and the longest that every search takes: the value at the limit passes the check, the next one does not.

That kernels compute rightly up to there is tested in `tests/core/kernels/test_index_limits.py`.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.lang import Row, bundle, i32
from core.problems.knapsack import Knapsack
from core.problems.tsp_moves import TspTour
from core.search import ihc
from core.search.ant_colony import Settings
from core.search.ant_colony.shape import shape_for
from core.search.dp import held_karp, restricted
from core.search.dp.cells import CellEngine, CellWaves
from core.search.dp.grid import Tiles
from core.search.dp.lcs import check_letters
from core.search.dp.lcs_table import Alphabet, Layout, Shape, check_size
from core.search.dp.waves import MOST_CELLS, WaveEngine, Waves
from core.search.exact import ExactSearch
from core.search.local_search import LocalSearch, Permutation
from core.search.two_opt_scans import ColumnsScan, check_table

ORACLE = PythonBackend(PythonBackend.devices()[0])
LARGEST = 2**31 - 1


class MemoryAskedError(Exception):
    """The device was asked for memory: all checks are passed."""


class Full(PythonBackend):
    """A device that is asked for memory once."""

    def __init__(self):
        super().__init__(PythonBackend.devices()[0])

    def allocate(self, shape, dtype):
        raise MemoryAskedError


def square(n):
    """A matrix of any size that takes no memory."""
    return np.broadcast_to(np.int64(1), (n, n))


def tsp_table(n):
    named = {"coordinates": None, "edge_weight_type": "EXPLICIT", "optimum": None, "sha256": ""}
    return TspTour(SimpleNamespace(name="big", n=n, distances=np.ones((1, 1), int), **named)).data_for("table")


def ordered_copies(teams):
    scan = ColumnsScan(ORACLE, np.ones((5, 5), np.uint16))
    scan.backend = Full()
    with pytest.raises(MemoryAskedError):
        scan.arguments(teams)


def walks_in(walks):
    backend = Full()
    problem = SimpleNamespace(encoding=Permutation(2), with_room=lambda data, lanes: data)
    alone = SimpleNamespace(
        share_of_walks=lambda: (0, walks), level="algorithm", backend=backend, problem=problem, memory_words=1, history=False,
        most_lanes=1, given=Bare(1),
    )  # fmt: skip
    with pytest.raises(MemoryAskedError):
        LocalSearch.allocate(alone)


def rows_in(walks):
    """Walks of which each keeps 20 numbers, more than all else that a walk has."""
    backend = Full()
    problem = SimpleNamespace(encoding=Permutation(2), with_room=lambda data, lanes: data)
    alone = SimpleNamespace(
        share_of_walks=lambda: (0, walks), level="algorithm", backend=backend, problem=problem, memory_words=1, history=False,
        most_lanes=1, given=Keeping(n=20),
    )  # fmt: skip
    with pytest.raises(MemoryAskedError):
        LocalSearch.allocate(alone)


@bundle
class Bare:
    n: i32


@bundle
class Keeping:
    kept: Row(i32, "n")
    n: i32


class Long(Waves):
    """So many waves of so many cells."""

    data = {}
    cell = staticmethod(lambda: None)

    def __init__(self, waves, cells):
        self.count, self.most = waves, cells

    def waves(self):
        return self.count

    def width(self):
        return self.most


def engine(waves, cells):
    from core.kernels.knapsack import Items, best_value

    problem = Long(waves, cells)
    problem.cell, problem.data = best_value, Items(np.zeros(1, np.int32), np.zeros(1, np.int32))
    with pytest.raises(MemoryAskedError):
        WaveEngine(Full(), Solo(), problem)


def cells_on_the_device(rows):
    """Waves of one cell by the paper's mapping, so many of which the device keeps, in rows of two lanes."""
    from core.kernels.knapsack import Items, best_value

    class Kept(Long, CellWaves):
        lookback = rows - 1 - 32

    problem = Kept(9, 1)
    problem.cell, problem.data = best_value, Items(np.zeros(1, np.int32), np.zeros(1, np.int32))
    with pytest.raises(MemoryAskedError):
        CellEngine(Full(), Solo(), problem, team_size=1)


def ants(n, team=(64, 1), **changes):
    settings = Settings(ants=1, **changes)
    settings.check(n)
    shape_for("fine", ORACLE.capabilities, n, settings, team)


def exact(n, **options):
    ExactSearch(ORACLE, Solo(), 1 - np.eye(n, dtype=int), **options)


def enumerated(length):
    """A problem of five cities whose heuristic's tour has this length."""
    distances = np.full((5, 5), length // 5)
    distances[0, :] = distances[:, 0] = length // 5
    ExactSearch(ORACLE, Solo(), distances, bound="edges")


# what, check, its largest value, the least that is refused, and the words for it
LIMITS = [
    ("cities of hill climbing", lambda n: ihc.check_cities(n, "big"), 46_340,
     "big has 46341 cities: hill climbing takes 5 to 46340 cities, not 46341"),
    ("lengths of hill climbing", lambda d: ihc.check_lengths(1000, d, "big"), LARGEST // 1000,
     "big: tours of 1000 cities at distances up to 2147484 do not fit 31 bits"),
    ("cities of the published mapping", lambda n: check_table(n, 48 << 10), 110, "found 111 cities, expected at most 110"),
    ("tour-ordered copies", ordered_copies, LARGEST // 30, "too large; use --scan pruned"),
    ("cities of a start tour", lambda n: restricted.check_start(n, 1, "big"), 46_340,
     "big has 46341 cities: 2-opt improves a start tour of at most 46340"),
    ("lengths of a start tour", lambda d: restricted.check_start(1000, d, "big"), LARGEST // 1000, "do not fit 31 bits"),
    ("cities of restricted tours", restricted.check_cities, 65_535, "65536 cities: at most 65535"),
    ("k of restricted tours", lambda k: restricted.check_k(k, 9, "big"), 14, "k = 15: at most 14"),
    ("cities of Held and Karp", lambda n: held_karp.checked(square(n)), 36, "37 cities: .* at most 36"),
    ("cities of exact search", exact, 30, "31 cities: exact search takes at most 30"),
    ("cities of permutations", lambda n: exact(n, bound="none", enumerate="permutations"), 20,
     "no numbers of 64 bits: at most 20"),
    ("cities in an item", lambda depth: exact(30, bound="none", depth=depth), 14, "which is a depth of 14"),
    ("lengths of an enumeration", lambda most: enumerated(5 * most), (2**26 - 2) // 5, "expected below 67108863"),
    ("cities of ants", lambda n: ants(n, (32, 1)), 46_000, "ants take 3 to 46000 cities here, not 46001"),
    ("weights of ants", ants, 45_590, "rows of 47104 weights for teams of 64 lanes pass 2.31: expected at most 45590"),
    ("tours of ants", lambda count: Settings(ants=count).check(1000), LARGEST // 1000, "pass 2.31 cities"),
    ("letters", lambda n: check_letters(3, n), 2**31 - 65, "must be shorter than 2.31 - 64"),
    ("carries", lambda k: check_size(9, 9, Layout(Shape(1, 1, 2, 1), k), Alphabet(np.zeros(1, np.uint8))),
     LARGEST // 3, "more than 2.31 carries"),
    ("masks", lambda k: check_size(9, 9, Layout(Shape(1, k, 1, 1), 1), Alphabet(np.zeros(1, np.uint8))),
     LARGEST // 8, "more than 2.31 masks"),
    ("columns of tiles", lambda n: Tiles(5, n, 1, 1, 1).check(), MOST_CELLS - 1, "whole tiles: expected less"),
    ("waves", lambda n: engine(n, 5), MOST_CELLS, "2147483648 waves: expected at most 2147483647"),
    ("cells of waves", lambda n: engine(5, n), MOST_CELLS // 2, "may have 2147483647 cells together"),
    ("cells on the device", cells_on_the_device, MOST_CELLS // 2,
     "9 waves, 1073741824 of which have 2147483648 cells on the device: expected at most 2147483647"),
    ("capacities", lambda c: Knapsack("big", np.ones(1, int), np.ones(1, int), c), 2**30 - 1, "0 to 1073741823"),
    ("values", lambda v: Knapsack("big", np.ones(1, int), np.array([v]), 9), 2**32 - 1, "0 to 4294967295"),
    ("cities in a table of local search", tsp_table, 46_340,
     "big has 46341 cities: a table of distances takes at most 46340"),
    ("elements of a solution", Permutation, 65_535, "expected 1 to 65535"),
    ("walks", walks_in, LARGEST // 13, "walks of 13 words of control each: expected less than 2.31 in all"),
    ("what walks keep", rows_in, LARGEST // 20, "walks of 20 elements of kept each: expected less than 2.31 in all"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "check", "most", "words"), LIMITS, ids=[limit[0] for limit in LIMITS])
def test_the_largest_value_passes_and_the_next_is_refused_in_one_line(what, check, most, words):
    check(most)
    with pytest.raises((UserError, ValueError), match=words) as refusal:
        check(most + 1)
    assert "\n" not in str(refusal.value)
    assert getattr(refusal.value, "exit_code", None) == 2


@pytest.mark.parametrize("k", [20_000, 10**12, 1, -5])
def test_a_k_far_from_all_limits_is_refused_in_one_line(k):
    with pytest.raises(UserError, match=f"k = {k}: at "):
        restricted.check_k(k, 9, "big")


def test_many_cities_are_refused_without_counting_their_layers():
    with pytest.raises(UserError, match="60000 cities: .* would need more than [0-9]{20,40} bytes"):
        held_karp.checked(square(60_000))


def test_choices_that_no_machine_keeps_are_refused_with_the_bytes():
    with pytest.raises(UserError, match="big has 100000000 cities: k = 14 keeps 6,143,999,938,560 bytes"):
        restricted.check_k(14, 10**8, "big")


def test_work_is_known_before_a_search_without_a_bound():
    distances = 1 - np.eye(8, dtype=int)
    assert ExactSearch(ORACLE, Solo(), distances, bound="none", enumerate="permutations").work == 5040
    assert ExactSearch(ORACLE, Solo(), distances, bound="edges").work is None
