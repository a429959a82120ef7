"""The local search by neighbour lists once more, in plain lists."""

from core.ant_colony.kernels.neighbour_queue import BATCH, NEAR


def near_lists(distances, most=NEAR):
    """Nearest cities of every city, ties to the smallest number, as Python lists."""
    return [
        sorted((j for j in range(len(row)) if j != i), key=lambda j: (row[j], j))[:most]
        for i, row in enumerate(distances.tolist())
    ]


def move_of(tour, way, city, other):
    return [(tour.index(c) - way) % len(tour) for c in (city, other)]


def winning_moves(distances, lists, tour, cities):
    """Every move that shortens a tour and joins one of ``cities`` to a listed city, nearer than its neighbour in the tour.

    A move is (gain, rank in ``cities``, rank in the list, 0 or 1, city, other); 0 replaces the edges to the cities that
    follow the two in the tour, 1 those that precede them.
    """
    n, place = len(tour), {city: p for p, city in enumerate(tour)}
    for turn, city in enumerate(cities):
        for rank, other in enumerate(lists[city]):
            for way, step in enumerate((1, -1)):
                beside, beyond = (tour[(place[c] + step) % n] for c in (city, other))
                closer = distances[city][beside] - distances[city][other]
                gain = closer + distances[other][beyond] - distances[beside][beyond]
                if closer > 0 and gain > 0:
                    yield gain, turn, rank, way, city, other


def reconnected(tour, start, end):
    """The tour after the edges that leave positions ``start`` and ``end`` are replaced, the shorter side reversed."""
    n = len(tour)
    inside = (end - start) % n
    if 2 * inside > n:
        start, inside = end, n - inside
    turned = tour[start + 1 :] + tour[: start + 1]
    turned[:inside] = turned[:inside][::-1]
    return turned[n - start - 1 :] + turned[: n - start - 1]


def climbed(distances, tour, lists=None):
    """Climb with a queue of cities, `BATCH` of which are examined together, as `climb_queue` does.

    ``distances`` is (n, n), ``tour`` has n cities; ``lists`` has the neighbours to which a city may be joined, by
    default the `NEAR` nearest.
    """
    lists = near_lists(distances) if lists is None else lists
    distances, tour = distances.tolist(), [int(city) for city in tour]
    n, queue = len(tour), list(tour)
    while queue:
        looked = queue[:BATCH]
        moves = winning_moves(distances, lists, tour, looked)
        best = min(moves, key=lambda move: (-move[0], *move[1:]), default=None)
        if best is None:
            del queue[:BATCH]
            continue
        *_, way, city, other = best
        start, end = move_of(tour, way, city, other)
        ends = [tour[start], tour[(start + 1) % n], tour[end], tour[(end + 1) % n]]
        tour = reconnected(tour, start, end)
        queue += [c for c in ends if c not in queue]
    return tour
