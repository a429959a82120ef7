"""Moves of solutions: read without making them, made by any number of lanes, walked through by a scan up to 32 bits."""

import itertools

import numpy as np
import pytest

from backends.python import PythonBackend
from core.lang import Array, Const, barrier, bundle, function, i32, kernel, lane, team_size
from core.lang.named_arrays import size_of
from core.local_search.kernels.hooks import FIRST, HALT, NO_KEY, Evaluation, Rules
from core.local_search.kernels.moves import (
    ASSIGN,
    EXCHANGE,
    FLIP,
    INSERT,
    INSERTIONS,
    MOVES,
    PAIRS,
    REVERSE,
    SEGMENT,
    change,
    exchanged,
    flipped,
    inserted,
    moved,
    reversed_,
)
from core.local_search.kernels.template import search_kernels
from core.local_search.kernels.walks import AnyMove, Move, Walk, WalkLimits, WalkSettings, WalkStatus

N = 6


@kernel
def read_and_make(kind: Const[i32], n: i32, move: Move, solution: Array[i32], any_way: Array[i32], own_way: Array[i32]):
    """Every element of the neighbour by `moved` and by the change's own function, then the neighbour itself."""
    any_move = AnyMove(move.i, move.j, move.k, kind)
    for p in range(lane(), n, team_size()):
        any_way[p] = moved(solution, p, any_move)
        own_way[p] = any_way[p]
        if kind == FLIP:
            own_way[p] = flipped(solution, p, move)
        if kind == EXCHANGE:
            own_way[p] = exchanged(solution, p, move)
        if kind == INSERT:
            own_way[p] = inserted(solution, p, move)
        if kind == SEGMENT:
            own_way[p] = reversed_(solution, p, move)
    barrier()
    if move.i >= 0:
        change(kind, solution, move)


def neighbour_of(kind, solution, i, j, k):
    other = list(solution)
    if kind == FLIP:
        for p in (p for p in (i, j, k) if p >= 0):
            other[p] = 1 - other[p]
    elif kind == ASSIGN:
        other[i] = j
    elif kind == EXCHANGE and k < 0:
        other[i], other[j] = other[j], other[i]
    elif kind == EXCHANGE:
        other[i], other[j], other[k] = other[j], other[k], other[i]
    elif kind == INSERT:
        other.insert(j, other.pop(i))
    else:
        first = i + (kind == REVERSE)
        other[first : j + 1] = other[first : j + 1][::-1]
    return other


def moves_of(kind, n):
    pairs = [(i, j, -1) for i, j in itertools.combinations(range(n), 2)]
    triples = list(itertools.combinations(range(n), 3))
    return {
        FLIP: [(i, -1, -1) for i in range(n)] + pairs + triples,
        EXCHANGE: pairs + triples,
        ASSIGN: [(i, value, -1) for i in range(n) for value in range(3)],
        INSERT: [(i, j, -1) for i, j in itertools.permutations(range(n), 2)],
        SEGMENT: pairs,
        REVERSE: pairs,
    }[kind]


def start(kind, n):
    random = np.random.default_rng(n)
    return {FLIP: random.integers(0, 2, n), ASSIGN: random.integers(0, 3, n)}.get(kind, random.permutation(n))


def read_and_made(backend, lanes, kind, solution, move):
    uploaded = backend.upload(solution.astype(np.int32))
    any_way, own_way = (backend.allocate(len(solution), np.int32) for _ in range(2))
    backend.launch(read_and_make, 1, lanes, kind, len(solution), Move(*move), uploaded, any_way, own_way)
    return [backend.download(one).tolist() for one in (any_way, own_way, uploaded)]


KINDS = {"flip": FLIP, "exchange": EXCHANGE, "assign": ASSIGN, "insert": INSERT, "segment": SEGMENT, "2opt": REVERSE}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_neighbour_that_is_read_is_the_neighbour_that_is_made(backend, kind):
    lanes = min(4, backend.capabilities.max_team_size)
    for n in (1, 2, 3, N):
        solution = start(kind, n)
        for move in moves_of(kind, n)[:: 3 if backend.name == "joblib" else 1]:
            assert read_and_made(backend, lanes, kind, solution, move) == [neighbour_of(kind, solution, *move)] * 3, (
                move
            )
        assert read_and_made(backend, 1, kind, solution, (-1, -1, -1)) == [solution.tolist()] * 3, "no move"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", [INSERT, SEGMENT], ids=["insert", "segment"])
def test_lanes_that_shift_a_run_together_do_not_race(kind, reverse):
    device = PythonBackend(PythonBackend.devices()[0], reverse=reverse)
    solution = start(kind, 9)
    for lanes in (3, 13):
        for move in moves_of(kind, 9)[::5]:
            assert read_and_made(device, lanes, kind, solution, move)[2] == neighbour_of(kind, solution, *move)


# --- scans ---


@bundle
class Log:
    """Moves requested by a scan: their number, then i and j of each."""

    seen: Array[i32]


@function
def logged(solution: Array[i32], move: Move, data: Log) -> i32:
    asked = data.seen[0]
    data.seen[1 + 2 * asked] = move.i
    data.seen[2 + 2 * asked] = move.j
    data.seen[0] = asked + 1
    return 0


def insertions(n):
    return ((r, c + 1) if c >= r else (r + 1, c) for r in range(n - 1) for c in range(n - 1))


def looked_at(backend, shape, change_kind, n, size, rank=0, ranks=1, teams=1, lanes=1):
    template = search_kernels(Evaluation(logged), Rules((shape,), change_kind, MOVES, FIRST, HALT))
    walkers = backend.rows(Walk(room=1, length=n, choices=n), 1, S=np.int32)
    backend.write(walkers.status, np.zeros(size_of(WalkStatus), np.int32))
    run = backend.load(
        WalkSettings(
            np.zeros(size_of(WalkLimits), np.int32), np.array([size, 0, 0], np.uint32), np.zeros(1, np.float32)
        )
    )
    log = backend.rows(Log(np.zeros(4000, np.int32)), 1)
    keys = backend.upload(np.full(1, NO_KEY, np.uint64))
    backend.launch(template.scan, teams, lanes, True, 0, rank, ranks, keys, walkers, run, log)
    seen = backend.download(log.seen)
    return [tuple(pair) for pair in seen[1 : 1 + 2 * seen[0]].reshape(-1, 2).tolist()]


@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_a_scan_walks_through_insertions_and_segments_in_the_order_of_their_indices(cpu, n):
    assert looked_at(cpu, INSERTIONS, INSERT, n, (n - 1) ** 2) == list(insertions(n))
    pairs = list(itertools.combinations(range(n), 2))
    assert looked_at(cpu, PAIRS, SEGMENT, n, len(pairs)) == pairs


def test_a_scan_walks_through_the_last_insertions_that_32_bits_count(cpu):
    n, ranks = 65_535, 5_000_000
    size = (n - 1) ** 2
    assert 2**32 - 300_000 < size < 2**32
    rows = {r: [(r, c + 1) if c >= r else (r + 1, c) for c in range(n - 1)] for r in (0, 1, n - 3, n - 2)}
    for rank in (0, 76, ranks - 77, ranks - 1):
        first, end = size * rank // ranks, size * (rank + 1) // ranks
        expected = [rows[index // (n - 1)][index % (n - 1)] for index in range(first, end)]
        assert looked_at(cpu, INSERTIONS, INSERT, n, size, rank, ranks, 1) == expected
        assert looked_at(cpu, INSERTIONS, INSERT, n, size, rank, ranks, 3) == expected


@pytest.mark.parametrize(("n", "lanes"), [(2, 3), (4, 2), (4, 11), (5, 4), (5, 8)])
def test_lanes_walk_through_insertions_side_by_side(python, n, lanes):
    """Every lane takes every n-th move, over more than one row at a step if there are more lanes than columns."""
    seen = looked_at(python, INSERTIONS, INSERT, n, (n - 1) ** 2, lanes=lanes)
    assert sorted(seen) == sorted(insertions(n))
