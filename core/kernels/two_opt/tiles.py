"""Full 2-opt scan for large instances on wide teams: rows of the distances are staged through shared memory.

As in `window` a lane owns consecutive diagonals and slides a window over the tour, but a team climbs one tour,
and the rows it needs next are fetched from global memory while it works on the present tile. Two rows are staged as
one: word c holds d(t_r, c) | d(t_r+1, c) << 16, so one read serves two rows of the sweep.
"""

from __future__ import annotations

from core.kernels.two_opt.climbs import (
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
"""Distance in the row before the first one, large enough that its pairs gain nothing."""


@bundle
class TileSweep:
    """The sweep's shape: ``diagonals`` consecutive k per lane, the team's together reach n / 2; ``rows`` a tile, even.

    ``spread`` spreads the tour over the memory banks, where lanes with an even number of diagonals would meet on few.
    """

    diagonals: Const[i32]
    rows: Const[i32]
    spread: Const[boolean]


@bundle
class TiledClimb:
    """An instance, and the tour that a team climbs.

    Tour word p is ``words[spot(p)]``, see `core.kernels.two_opt.climbs`. A sweep has ``tiles`` tiles. A row of
    ``pairs`` has ``half`` = ceil(n / 2) words d(r, m) | d(r, m + half) << 16, of which a lane fetches ``share``.
    ``staged`` has room for two tiles, ``gain[0]`` and ``winner[0]`` hold the largest gain and the smallest key of its
    moves.
    """

    n: Const[i32]
    half: Const[i32]
    share: Const[i32]
    tiles: Const[i32]
    shape: TileSweep
    distances: Array[u16]
    pairs: Array[u32]
    staged: Array[u32]
    words: Array[u32]
    gain: Array[i32]
    winner: Array[u32]


@function
def distance(a: i32, b: i32, one: TiledClimb) -> i32:
    return i32(one.distances[a * one.n + b])


@function
def spot(p: i32, one: TiledClimb) -> i32:
    """Return the place of tour word ``p``."""
    return p + (p >> 5) if one.shape.spread else p


@function
def word_at(p: i32, one: TiledClimb) -> u32:
    return one.words[spot(p, one)]


@function
def put_word(p: i32, word: u32, one: TiledClimb):
    """Write tour word ``p``, and again where the window runs beyond the end; word n is word 0 too."""
    one.words[spot(p, one)] = word
    if p <= one.tiles * one.shape.rows + team_size() * one.shape.diagonals - one.n:
        one.words[spot(p + one.n, one)] = word
    if p == one.n:
        one.words[0] = word


@function
def load(climber: u32, climbs: Climbs, one: TiledClimb):
    """Take over a start tour."""
    begin = i32(climber) * one.n
    for p in range(1 + lane(), one.n + 1, team_size()):
        here = i32(climbs.tours[begin + wrapped(p, one.n)])
        put_word(p, tour_word(here, distance(i32(climbs.tours[begin + p - 1]), here, one)), one)
    barrier()


@function
def joined(p: i32, q: i32, one: TiledClimb) -> u32:
    """Return the tour word of the city at ``q``, if it follows the city at ``p``."""
    here = city(word_at(q, one))
    return tour_word(here, distance(city(word_at(p, one)), here, one))


@function
def apply(move: u64, one: TiledClimb):
    """Reverse positions i+1..j, through the memory of the tiles: word j + 1 changes too, since its edge is new."""
    i, j = first_of(move), second_of(move)
    for p in range(i + 2 + lane(), j + 1, team_size()):
        mirrored = i + 1 + j - p
        one.staged[p] = tour_word(city(word_at(mirrored, one)), edge(word_at(mirrored + 1, one)))
    if lane() == 0:
        one.staged[i + 1] = joined(i, j, one)
        one.staged[j + 1] = joined(i + 1, j + 1, one)
    barrier()
    for p in range(i + 1 + lane(), j + 2, team_size()):
        put_word(p, one.staged[p], one)
    barrier()


# --- the sweep ---


@function
def fetch_rows(tile: i32, fetched: Array[u32], one: TiledClimb):
    """Read this lane's part of a tile's rows from global memory into registers."""
    for r in unroll(one.shape.rows):
        start = city(word_at(tile * one.shape.rows + r, one)) * one.half
        for s in unroll(one.share):
            m = lane() + s * team_size()
            if m < one.half:
                fetched[r * one.share + s] = one.pairs[start + m]


@function
def stage_rows(place: i32, fetched: Array[u32], one: TiledClimb):
    """Write fetched rows into shared memory, two rows to a word."""
    for pair in unroll(one.shape.rows // 2):
        start = (place * (one.shape.rows // 2) + pair) * 2 * one.half
        for s in unroll(one.share):
            m = lane() + s * team_size()
            if m < one.half:
                upper = fetched[2 * pair * one.share + s]
                lower = fetched[(2 * pair + 1) * one.share + s]
                one.staged[start + m] = (upper & 0xFFFF) | (lower << 16)
                one.staged[start + one.half + m] = (upper >> 16) | (lower & 0xFFFF0000)


@function
def top_of_tile(tile: i32, window: Array[u32], before: Array[i32], one: TiledClimb) -> i32:
    """The largest gain of this lane's diagonals in a tile; ``before`` are the distances of the row before, then after.

    The window holds the tour words of the tile's columns.
    """
    columns = local_array(one.shape.diagonals + 1, u32)
    top = FAR_BELOW
    for pair in unroll(one.shape.rows // 2):
        start = ((tile & 1) * (one.shape.rows // 2) + pair) * 2 * one.half
        for m in unroll(one.shape.diagonals + 1):
            columns[m] = one.staged[start + city(window[2 * pair + m])]
        upper, lower = FAR_BELOW, FAR_BELOW
        for q in unroll(one.shape.diagonals):
            near, far = i32(columns[q] & 0xFFFF), i32(columns[q + 1] >> 16)
            upper = max(upper, edge(window[2 * pair + q]) - before[q] - near)
            lower = max(lower, edge(window[2 * pair + q + 1]) - near - far)
            before[q] = far
        top = max(top, upper + edge(word_at(tile * one.shape.rows + 2 * pair, one)))
        top = max(top, lower + edge(word_at(tile * one.shape.rows + 2 * pair + 1, one)))
    return top


@function
def sweep(one: TiledClimb) -> u64:
    """This lane's largest gain, and below it the first and the last tile that reach it, 16 bits each."""
    fetched = local_array(one.shape.rows * one.share, u32)
    window = local_array(one.shape.diagonals + one.shape.rows - 1, u32)
    before = local_array(one.shape.diagonals, i32)
    mine = 2 + lane() * one.shape.diagonals
    most, earliest, latest = 0, 0, 0
    fetch_rows(0, fetched, one)
    stage_rows(0, fetched, one)
    for q in unroll(one.shape.diagonals):
        before[q] = NO_PAIR_YET
    for m in unroll(one.shape.diagonals - 1):
        window[one.shape.rows + m] = word_at(mine + m, one)
    barrier()
    for tile in range(one.tiles):
        if tile + 1 < one.tiles:
            fetch_rows(tile + 1, fetched, one)
        for m in unroll(one.shape.diagonals - 1):
            window[m] = window[one.shape.rows + m]
        for m in unroll(one.shape.diagonals - 1, one.shape.diagonals + one.shape.rows - 1):
            window[m] = word_at(tile * one.shape.rows + mine + m, one)
        top = top_of_tile(tile, window, before, one)
        if top >= most:
            if top > most:
                earliest = tile
            latest = tile
            most = top
        if tile + 1 < one.tiles:
            stage_rows((tile + 1) & 1, fetched, one)
        barrier()
    return (u64(most) << 32) | (u64(earliest) << 16) | u64(latest)


@function
def locate(gain: i32, earliest: i32, latest: i32, one: TiledClimb):
    """Read this lane's tiles again that hold the maximum, and enter the move of the smallest key."""
    mine = 2 + lane() * one.shape.diagonals
    for r in range(max(earliest * one.shape.rows, 1), (latest + 1) * one.shape.rows):
        here, after = word_at(r - 1, one), word_at(r, one)
        for q in range(one.shape.diagonals):
            there, beyond = word_at(r + mine + q - 1, one), word_at(r + mine + q, one)
            added = distance(city(here), city(there), one) + distance(city(after), city(beyond), one)
            if edge(after) + edge(beyond) - added == gain:
                i, j = wrapped(r - 1, one.n), wrapped(r - 1 + mine + q, one.n)
                atomic_min(one.winner, 0, move_key(min(i, j), max(i, j)))


@function
def scan(last: u64, one: TiledClimb) -> u64:
    """Return the best move."""
    if lane() == 0:
        one.gain[0] = 0
        one.winner[0] = NO_KEY
    mine = sweep(one)
    most = i32(mine >> 32)
    if most > 0:
        atomic_max(one.gain, 0, most)
    barrier()
    gain = one.gain[0]
    if gain == 0:
        return NO_MOVE
    if most == gain:
        locate(gain, i32((mine >> 16) & 0xFFFF), i32(mine & 0xFFFF), one)
    barrier()
    return move_word(gain, one.winner[0])


@function
def city_at(p: i32, one: TiledClimb) -> i32:
    return city(word_at(p, one))


@function
def edge_at(p: i32, one: TiledClimb) -> i32:
    """Return the length of the edge that leads to a position."""
    return edge(word_at(p, one))


climb = climb_function(load, scan, apply, city_at, edge_at)


@kernel
def climb_tiles(climbs: CountedClimbs, distances: Array[u16], pairs: Array[u32], shape: TileSweep):
    """Climb from each of ``climbs.tours`` to a local optimum; a team climbs one tour at a time.

    Parameters
    ----------
    pairs
        d(r, m) | d(r, m + M) << 16.
    """
    one = TiledClimb(
        climbs.n,
        (climbs.n + 1) // 2,
        ((climbs.n + 1) // 2 + team_size() - 1) // team_size(),
        (climbs.n + shape.rows) // shape.rows,
        shape,
        distances,
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
    turn = CurrentClimb(shared_array(1, u32), shared_array(1, u32))
    climb(climbs, one, turn)
