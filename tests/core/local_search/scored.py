"""User-defined problems scored as a whole, by one function for all neighbourhoods, and by a delta too."""

import numpy as np

from core.lang import Array, Generic, barrier, bundle, function, i32, lane, team_size, u32
from core.local_search import AnyMove, Bits, Move, Neighbourhood, Permutation, Problem, Values, moved
from core.local_search.kernels.index_mappings import pair_column, pair_row, triple_first, triple_rest
from core.local_search.kernels.moves import OWN
from examples.labs import Signs, energy

S = Generic("S")

# --- exchanging two neighbouring blocks, positions i to j - 1 and j to k - 1: or-3opt of an open tour ---


@function
def block_begin(index: u32, n: i32) -> i32:
    return triple_first(index, n + 1)


@function
def block_middle(index: u32, i: i32, n: i32) -> i32:
    return i + 1 + pair_row(triple_rest(index, i, n + 1), n - i)


@function
def block_end(index: u32, i: i32, j: i32, n: i32) -> i32:
    return i + 1 + pair_column(triple_rest(index, i, n + 1), j - i - 1, n - i)


@function
def turn(order: Array[S], first: i32, end: i32):
    for p in range(lane(), (end - first) // 2, team_size()):
        order[first + p], order[end - 1 - p] = order[end - 1 - p], order[first + p]


@function
def exchange_blocks(order: Array[i32], move: Move, n: i32):
    """Reverse each block, then both together: every lane moves its share."""
    turn(order, move.i, move.j)
    turn(order, move.j, move.k)
    barrier()
    turn(order, move.i, move.k)


@function
def with_blocks(order: Array[i32], p: i32, move: AnyMove) -> i32:
    """Element ``p`` of any neighbour, including those by blocks."""
    if move.change == OWN:
        place = p
        if move.i <= p < move.i + move.k - move.j:
            place = p + move.j - move.i
        elif move.i <= p < move.k:
            place = p - (move.k - move.j)
        return order[place]
    return moved(order, p, move)


BLOCKS = Neighbourhood.custom(
    "blocks",
    lambda encoding: (encoding.n + 1) * encoding.n * (encoding.n - 1) // 6,
    (block_begin, block_middle, block_end),
    exchange_blocks,
)


# --- exchanging two neighbours: moves that there are, of which these are a part ---


@function
def left_one(index: u32, n: i32) -> i32:
    return i32(index)


@function
def right_one(index: u32, i: i32, n: i32) -> i32:
    return i + 1


ADJACENT = Neighbourhood.custom("adjacent", lambda encoding: encoding.n - 1, (left_one, right_one), "exchange")


# --- linear ordering: what stands below the diagonal is lost ---


@bundle
class Gains:
    """Loss if the second of two comes before the first: a square matrix."""

    gains: Array[i32]
    n: i32


@function
def lost(order: Array[i32], move: AnyMove, data: Gains) -> i32:
    total = 0
    for p in range(data.n):
        before = with_blocks(order, p, move)
        for q in range(p + 1, data.n):
            total += data.gains[with_blocks(order, q, move) * data.n + before]
    return total


@function
def lost_more(order: Array[i32], move: AnyMove, data: Gains) -> i32:
    after = lost(order, move, data)
    return after - lost(order, AnyMove(-1, -1, -1, move.change), data)


class Ordering(Problem):
    """Scored as a whole; ``both`` adds a delta, ``factor`` and ``least`` define the range of costs."""

    value = lost
    neighbourhoods = ("exchange2", "exchange3", "insert", "reverse", BLOCKS, ADJACENT)

    def __init__(self, n, *, both=False, factor=1, least=0):
        drawn = np.random.default_rng(n).integers(0, 30, (n, n))
        drawn[np.diag_indices(n)] = least
        self.gains = (factor * drawn).astype(np.int32)
        self.delta = lost_more if both else None
        super().__init__(f"ordering:{n}", Permutation(n), Gains(self.gains, n))

    def cost(self, order):
        order = np.asarray(order)
        return int(np.tril(self.gains[np.ix_(order, order)], -1).sum())


# --- bits and values ---


@function
def energy_added(bits: Array[i32], move: AnyMove, data: Signs) -> i32:
    after = energy(bits, move, data)
    return after - energy(bits, AnyMove(-1, -1, -1, move.change), data)


class Spins(Problem):
    """Low autocorrelation sequences, by either function."""

    value, delta = energy, energy_added
    neighbourhoods = ("flip1", "flip2", "flip3")

    def __init__(self, n):
        super().__init__(f"spins:{n}", Bits(n), Signs(n))

    def cost(self, bits):
        signs = 2 * np.asarray(bits, np.int64) - 1
        return sum(int(signs[lag:] @ signs[:-lag]) ** 2 for lag in range(1, len(signs)))


@function
def clashes(values: Array[i32], move: AnyMove, data: Gains) -> i32:
    total = 0
    for p in range(data.n):
        for q in range(p):
            if moved(values, p, move) == moved(values, q, move):
                total += data.gains[p * data.n + q]
    return total


@function
def clashes_added(values: Array[i32], move: AnyMove, data: Gains) -> i32:
    after = clashes(values, move, data)
    return after - clashes(values, AnyMove(-1, -1, -1, move.change), data)


class Colours(Problem):
    """Vertices of equal colour pay for their edge, by either function."""

    value, delta = clashes, clashes_added

    def __init__(self, n, colours):
        self.gains = np.random.default_rng(n).integers(-9, 30, (n, n)).astype(np.int32)
        super().__init__(f"colours:{n}", Values(n, colours), Gains(self.gains, n))

    def cost(self, values):
        same = np.equal.outer(np.asarray(values), np.asarray(values))
        return int((np.tril(self.gains, -1) * same).sum())
