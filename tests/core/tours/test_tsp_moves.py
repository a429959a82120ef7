"""Tours for local search: distances rounded exactly from coordinates, and which evaluations are offered."""

import math

import numpy as np

from core import tours as tsp
from core.lang import Array, i32, kernel, lane, team_count, team_rank, team_size
from core.tours.problem import LARGEST_TABLE, TspTour, rounded_distance

NEIGHBOURHOODS = ("exchange2", "exchange3", "2opt")


# --- differences ---


# --- distances from coordinates ---


@kernel
def round_all(count: i32, dx: Array[i32], dy: Array[i32], distances: Array[i32]):
    for p in range(team_rank() * team_size() + lane(), count, team_count() * team_size()):
        distances[p] = rounded_distance(dx[p], dy[p])


def rounded(backend, dx, dy):
    axes = [backend.upload(np.array(axis, np.int32)) for axis in (dx, dy)]
    lengths = backend.allocate(len(dx), np.int32)
    backend.launch(round_all, 4, 1, len(dx), *axes, lengths)
    return backend.download(lengths)


def nearest_root(square):
    """The integer d with d (d - 1) < square <= d (d + 1)."""
    d = math.isqrt(square)
    return d + (square > d * (d + 1))


def around_every_half():
    """Sides with squares as near as possible to d (d + 1), where the rounded root grows, for large d."""
    pairs = []
    for d in (1, 2, 5, 181, 2_896, 4_095, 5_792, 11_585, 23_170, 32_767, 40_000, 46_339, 46_340):
        for square in (d * d - 1, d * d, d * d + 1, d * (d + 1) - 1, d * (d + 1), d * (d + 1) + 1):
            for near in range(max(0, square - 60), min(square + 60, 2**31 - 1)):
                for a in range(math.isqrt(near), max(-1, math.isqrt(near) - 40), -1):
                    b = math.isqrt(near - a * a)
                    if b * b == near - a * a:
                        pairs.append((a, b))
                        break
    return pairs


def test_roots_next_to_a_half_are_rounded_exactly(backend):
    dx, dy = zip(*around_every_half(), strict=True)
    squares = [a * a + b * b for a, b in zip(dx, dy, strict=True)]
    at_the_edge = sum(s in (d * (d + 1), d * (d + 1) + 1) for s, d in ((s, math.isqrt(s)) for s in squares))
    assert at_the_edge >= 5
    assert max(squares) > 2**31 - 100_000
    assert rounded(backend, dx, dy).tolist() == list(map(nearest_root, squares))


# --- which way is offered ---


def test_coordinates_are_offered_where_they_are_exact_only():
    def offered(points, kind="EUC_2D"):
        problem = TspTour(tsp.TspInstance("given", coordinates=np.array(points, dtype=float), edge_weight_type=kind))
        return [list(problem.evaluations(name)) for name in NEIGHBOURHOODS]

    assert offered([(0, 0), (3, 4), (-6, 8)]) == [["table", "coordinates", "full"]] * 3
    assert offered([(0, 0), (3, 4), (-6, 8.5)]) == [["table", "full"]] * 3
    assert offered([(0, 0), (3, 4), (-6, 8)], "CEIL_2D") == [["table", "full"]] * 3
    # 46,340^2 + 296^2 < 2^31 <= 46,340^2 + 297^2
    assert offered([(1e6, 0), (1e6 + 46_340, 0), (1e6, -296)]) == [["table", "coordinates", "full"]] * 3
    assert offered([(1e6, 0), (1e6 + 46_340, 0), (1e6, -297)]) == [["table", "full"]] * 3


def test_large_instances_prefer_coordinates():
    fits = math.isqrt(LARGEST_TABLE // 2)
    for n, preferred in ((fits, "table"), (fits + 1, "coordinates")):
        problem = TspTour.load(f"uniform:{n}:seed=1")
        assert next(iter(problem.evaluations("exchange2"))) == preferred
