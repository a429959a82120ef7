"""Full 2-opt scan for large instances on wide teams: rows of the distances are staged through shared memory.

As in `window`, a lane owns consecutive diagonals and slides a window over the tour. But a team climbs one tour, and the
rows of the next tile are fetched from global memory during the sweep of the present one. Two rows are staged as one:
word c holds d(t_r, c) | d(t_r+1, c) << 16, so one read serves two rows of the sweep.
"""

from __future__ import annotations

from core.hill_climbing.kernels.climb_states import DistanceMatrix, distance
from core.hill_climbing.kernels.climbs import (
    FAR_BELOW,
    NO_KEY,
    NO_MOVE,
    Climbs,
    CountedClimbs,
    CurrentClimb,
    city,
    climb_function,
    edge,
    first_of,
    move_key,
    move_word,
    second_of,
    tour_word,
    wrapped,
)
from core.lang import *

NO_PAIR_YET = 1 << 20
"""Distance in the row before the first one, so large that no pair of that row has a gain."""


@bundle
class TileSweep:
    """Shape of a sweep: a tile has ``rows`` rows, an even number, and a lane ``diagonals`` consecutive k = j - i.

    The diagonals of a team reach n / 2. With ``spread``, tour words are spread over the memory banks, because lanes
    with an even number of diagonals would read from few banks.
    """

    diagonals: Const[i32]
    rows: Const[i32]
    spread: Const[boolean]


@bundle
class TiledClimb(DistanceMatrix):
    """An instance, and the tour that a team climbs.

    Tour word p is ``words[spot(p)]``, see `core.hill_climbing.kernels.climbs`. A sweep has ``tiles`` tiles. A row of
    ``pairs`` has ``half`` = ceil(n / 2) words d(r, m) | d(r, m + half) << 16; a lane fetches ``share`` of them.
    ``staged`` holds two tiles. ``gain[0]`` is the largest gain, ``winner[0]`` the smallest key of the moves with it.
    """

    half: Const[i32]
    share: Const[i32]
    tiles: Const[i32]
    shape: TileSweep
    pairs: Array[u32]
    staged: Array[u32]
    words: Array[u32]
    gain: Array[i32]
    winner: Array[u32]


@function
def spot(p: i32, state: TiledClimb) -> i32:
    """Return the index of tour word ``p`` in ``words``."""
    return p + (p >> 5) if state.shape.spread else p


@function
def word_at(p: i32, state: TiledClimb) -> u32:
    return state.words[spot(p, state)]


@function
def put_word(p: i32, word: u32, state: TiledClimb):
    """Write tour word ``p``, and its copies: word n + p if a window reaches it, word 0 if p is n."""
    state.words[spot(p, state)] = word
    if p <= state.tiles * state.shape.rows + team_size() * state.shape.diagonals - state.n:
        state.words[spot(p + state.n, state)] = word
    if p == state.n:
        state.words[0] = word


@function
def load(climber: u32, climbs: Climbs, state: TiledClimb):
    begin = i32(climber) * state.n
    for p in range(1 + lane(), state.n + 1, team_size()):
        c = i32(climbs.tours[begin + wrapped(p, state.n)])
        put_word(p, tour_word(c, distance(i32(climbs.tours[begin + p - 1]), c, state)), state)
    barrier()


@function
def joined(p: i32, q: i32, state: TiledClimb) -> u32:
    """Return the tour word of the city at ``q``, if it follows the city at ``p``."""
    c = city(word_at(q, state))
    return tour_word(c, distance(city(word_at(p, state)), c, state))


@function
def apply(move: u64, state: TiledClimb):
    """Reverse positions i+1..j through the memory of the tiles. Word j + 1 changes too, since its edge is new."""
    i, j = first_of(move), second_of(move)
    for p in range(i + 2 + lane(), j + 1, team_size()):
        mirrored = i + 1 + j - p
        state.staged[p] = tour_word(city(word_at(mirrored, state)), edge(word_at(mirrored + 1, state)))
    if lane() == 0:
        state.staged[i + 1] = joined(i, j, state)
        state.staged[j + 1] = joined(i + 1, j + 1, state)
    barrier()
    for p in range(i + 1 + lane(), j + 2, team_size()):
        put_word(p, state.staged[p], state)
    barrier()


# --- the sweep ---


@function
def fetch_rows(tile: i32, fetched: Array[u32], state: TiledClimb):
    """Read this lane's part of a tile's rows from global memory into registers."""
    for r in unroll(state.shape.rows):
        start = city(word_at(tile * state.shape.rows + r, state)) * state.half
        for s in unroll(state.share):
            m = lane() + s * team_size()
            if m < state.half:
                fetched[r * state.share + s] = state.pairs[start + m]


@function
def stage_rows(place: i32, fetched: Array[u32], state: TiledClimb):
    """Write fetched rows into shared memory, two rows to a word."""
    for pair in unroll(state.shape.rows // 2):
        start = (place * (state.shape.rows // 2) + pair) * 2 * state.half
        for s in unroll(state.share):
            m = lane() + s * team_size()
            if m < state.half:
                upper = fetched[2 * pair * state.share + s]
                lower = fetched[(2 * pair + 1) * state.share + s]
                state.staged[start + m] = (upper & 0xFFFF) | (lower << 16)
                state.staged[start + state.half + m] = (upper >> 16) | (lower & 0xFFFF0000)


@function
def top_of_tile(tile: i32, window: Array[u32], before: Array[i32], state: TiledClimb) -> i32:
    """Return the largest gain of this lane's diagonals in a tile.

    ``before`` has the distances of the row before the tile, afterwards those of its last row. ``window`` has the tour
    words of the tile's columns.
    """
    columns = local_array(state.shape.diagonals + 1, u32)
    top = FAR_BELOW
    for pair in unroll(state.shape.rows // 2):
        start = ((tile & 1) * (state.shape.rows // 2) + pair) * 2 * state.half
        for m in unroll(state.shape.diagonals + 1):
            columns[m] = state.staged[start + city(window[2 * pair + m])]
        upper, lower = FAR_BELOW, FAR_BELOW
        for q in unroll(state.shape.diagonals):
            near, far = i32(columns[q] & 0xFFFF), i32(columns[q + 1] >> 16)
            upper = max(upper, edge(window[2 * pair + q]) - before[q] - near)
            lower = max(lower, edge(window[2 * pair + q + 1]) - near - far)
            before[q] = far
        top = max(top, upper + edge(word_at(tile * state.shape.rows + 2 * pair, state)))
        top = max(top, lower + edge(word_at(tile * state.shape.rows + 2 * pair + 1, state)))
    return top


@function
def sweep(state: TiledClimb) -> u64:
    """Return gain << 32 | first tile << 16 | last tile: this lane's largest gain, and the tiles that reach it."""
    fetched = local_array(state.shape.rows * state.share, u32)
    window = local_array(state.shape.diagonals + state.shape.rows - 1, u32)
    before = local_array(state.shape.diagonals, i32)
    first_k = 2 + lane() * state.shape.diagonals
    most, earliest, latest = 0, 0, 0
    fetch_rows(0, fetched, state)
    stage_rows(0, fetched, state)
    for q in unroll(state.shape.diagonals):
        before[q] = NO_PAIR_YET
    for m in unroll(state.shape.diagonals - 1):
        window[state.shape.rows + m] = word_at(first_k + m, state)
    barrier()
    for tile in range(state.tiles):
        if tile + 1 < state.tiles:
            fetch_rows(tile + 1, fetched, state)
        for m in unroll(state.shape.diagonals - 1):
            window[m] = window[state.shape.rows + m]
        for m in unroll(state.shape.diagonals - 1, state.shape.diagonals + state.shape.rows - 1):
            window[m] = word_at(tile * state.shape.rows + first_k + m, state)
        top = top_of_tile(tile, window, before, state)
        if top >= most:
            if top > most:
                earliest = tile
            latest = tile
            most = top
        if tile + 1 < state.tiles:
            stage_rows((tile + 1) & 1, fetched, state)
        barrier()
    return (u64(most) << 32) | (u64(earliest) << 16) | u64(latest)


@function
def locate(gain: i32, earliest: i32, latest: i32, state: TiledClimb):
    """Search this lane's tiles ``earliest`` to ``latest`` for moves of this gain; offer their keys to ``winner``."""
    first_k = 2 + lane() * state.shape.diagonals
    for r in range(max(earliest * state.shape.rows, 1), (latest + 1) * state.shape.rows):
        word_i, next_i = word_at(r - 1, state), word_at(r, state)
        for q in range(state.shape.diagonals):
            word_j, next_j = word_at(r + first_k + q - 1, state), word_at(r + first_k + q, state)
            added = distance(city(word_i), city(word_j), state) + distance(city(next_i), city(next_j), state)
            if edge(next_i) + edge(next_j) - added == gain:
                i, j = wrapped(r - 1, state.n), wrapped(r - 1 + first_k + q, state.n)
                atomic_min(state.winner, 0, move_key(min(i, j), max(i, j)))


@function
def scan(last: u64, state: TiledClimb) -> u64:
    if lane() == 0:
        state.gain[0] = 0
        state.winner[0] = NO_KEY
    lane_maximum = sweep(state)
    lane_gain = i32(lane_maximum >> 32)
    if lane_gain > 0:
        atomic_max(state.gain, 0, lane_gain)
    barrier()
    gain = state.gain[0]
    if gain == 0:
        return NO_MOVE
    if lane_gain == gain:
        locate(gain, i32((lane_maximum >> 16) & 0xFFFF), i32(lane_maximum & 0xFFFF), state)
    barrier()
    return move_word(gain, state.winner[0])


@function
def city_at(p: i32, state: TiledClimb) -> i32:
    return city(word_at(p, state))


@function
def edge_at(p: i32, state: TiledClimb) -> i32:
    """Return the length of the edge that leads to a position."""
    return edge(word_at(p, state))


climb = climb_function(load, scan, apply, city_at, edge_at)


@kernel
def climb_tiles(climbs: CountedClimbs, distances: Array[u16], pairs: Array[u32], shape: TileSweep):
    """Climb from each of ``climbs.tours`` to a local optimum; a team climbs one tour at a time.

    Parameters
    ----------
    climbs
        See `core.hill_climbing.kernels.climbs`.
    distances : Array, n * n
    pairs : Array, n * M with M = ceil(n / 2)
        d(r, m) | d(r, m + M) << 16.
    """
    state = TiledClimb(
        climbs.n,
        distances,
        (climbs.n + 1) // 2,
        ((climbs.n + 1) // 2 + team_size() - 1) // team_size(),
        (climbs.n + shape.rows) // shape.rows,
        shape,
        pairs,
        shared_array(shape.rows * 2 * ((climbs.n + 1) // 2), u32),
        shared_array(
            ((climbs.n + shape.rows) // shape.rows * shape.rows + team_size() * shape.diagonals + 2)
            + ((climbs.n + shape.rows) // shape.rows * shape.rows + team_size() * shape.diagonals + 2) // 32
            + 1,
            u32,
        ),
        shared_array(1, i32),
        shared_array(1, u32),
    )
    current = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    climb(climbs, state, current)
