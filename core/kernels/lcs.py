"""The longest common subsequence of two strings, 64 cells of its table per few instructions.

A row of the table (`oconnell2014`, equation 2, whose match case lacks its + 1) grows by 0 or 1 from one column to the
next, so a row is one bit a column: 0 where it grows. A row follows from the row above by one addition over all columns
(Crochemore, Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for the longest common subsequence
problem", IPL 80(6), 2001), whose carries go from word to word: ``V' = (V + (V & M)) | (V & ~M)``, M the columns whose
letter is that of the row. 32 rows make a batch, whose carries between two words are the bits of one 32-bit number.

Lanes stand side by side along the columns, each with one or more words, and run as a wave: at step u of its strip,
lane l works on batch u - l. A strip is one team. Strips start `delay` launches after each other, late enough that the
carries of the strip to the left are there.

Bits that are kept for a trace lie in the order in which they are made: launch, strip, step, word, row, lane.
"""

from __future__ import annotations

from core.lang import (
    Array,
    Const,
    barrier,
    boolean,
    clz,
    function,
    i32,
    i64,
    kernel,
    lane,
    max,
    shared_array,
    team_count,
    team_rank,
    team_size,
    u8,
    u32,
    u64,
    unroll,
)

ROWS = 32
"""Rows of a batch."""
COLUMNS = 64
"""Columns of a word."""
NO_ROWS, EVERY_ROW, SOME_ROWS = range(3)
"""What a run keeps beside its last row: nothing; every row, for a trace; or the row after every few batches."""
ROW, COLUMN, GROWS, LEFT = range(4)
"""A trace's state: prefix lengths that it has reached, whether the row is known to grow there, pairs still to find."""

LEFT_CELL, UP_CELL, MATCH = range(3)
"""Choices of a cell."""


@function
def lcs_step(
    i: i32, j: i32, corner: i32, up: i32, left: i32, choice: Array[u32], a: Array[u8], b: Array[u8]
) -> i32:  # fmt: skip
    """S(i, j) from its neighbours; see `core.search.dp.grid.Grid`."""
    best = max(left, up)
    if a[i - 1] == b[j - 1]:
        best = corner + 1
    if left != best:
        choice[0] = u32(UP_CELL) if up == best else u32(MATCH)
    return best


@function
def lcs_border(i: i32, j: i32) -> i32:
    """An empty string has nothing in common with any."""
    return 0


@kernel
def advance(
    letters_of_rows: Array[u32],
    masks: Array[u64],
    columns: Array[u64],
    edges: Array[u32],
    parked: Array[u32],
    clock: Array[u32],
    kept: Array[u64],
    batches: i32,
    steps: i32,
    delay: i32,
    words: i32,
    launches: i32,
    offset: i32,
    stretch: i32,
    letters: Const[i32],
    staged: Const[boolean],
    keep: Const[i32],
):
    """The next ``steps`` steps of every strip.

    Parameters
    ----------
    letters_of_rows : Array, 16 * batches
        The number of each row's letter, two rows to a word.
    masks : Array, words of all lanes * letters
        For every word of columns and every letter, where the letter is.
    columns : Array, words of all lanes
        The row that each word has reached; at first the row above, all ones if there is none.
    edges : Array, (strips + 1) * batches
        Carries that enter each strip from the left, and those that leave the last one.
    parked : Array, lanes
        Carries that a lane hands to its right neighbour in the next launch.
    clock : Array, strips
        How many launches a strip has seen.
    kept : Array, launches * size of a launch, or batches // stretch * words of all lanes
        With `EVERY_ROW` every word of every row; the first launch's are those with number ``offset``, and after
        ``launches`` of them come those with number 0. With `SOME_ROWS` the row after every ``stretch`` batches.

    """
    passing = shared_array(2 * team_size(), u32)
    table = shared_array(letters * team_size() if staged else 1, u64)
    strip = team_rank()
    now = i32(clock[strip])
    me = strip * team_size() + lane()
    if staged:  # a lane has one word then
        for k in range(letters):
            table[k * team_size() + lane()] = masks[me * letters + k]
    passing[lane()] = parked[me]
    barrier()
    start = (now - strip * delay) * steps
    kept_strip = (i64((now + offset) % launches) * team_count() + strip) * steps
    for step in range(steps):
        at = start + step - lane()
        if at >= 0 and at < batches:
            carries = edges[strip * batches + at] if lane() == 0 else passing[(step & 1) * team_size() + lane() - 1]
            for w in range(words):
                word = me * words + w
                row = columns[word]
                carried = u32(0)
                place = ((kept_strip + step) * words + w) * (ROWS * team_size()) + lane()
                for q in unroll(ROWS // 2):
                    two = letters_of_rows[at * (ROWS // 2) + q]
                    for r in unroll(2):
                        letter = i32((two >> (16 * r)) & 0xFFFF)
                        here = table[letter * team_size() + lane()] if staged else masks[word * letters + letter]
                        matches = row & here
                        total = row + u64((carries >> (2 * q + r)) & 1) + matches  # in this order: a shorter chain
                        carried = carried | u32((matches | (row & ~total)) >> (COLUMNS - 1)) << (2 * q + r)
                        row = total | (row ^ matches)
                        if keep == EVERY_ROW:
                            kept[place + (2 * q + r) * team_size()] = row
                columns[word] = row
                if keep == SOME_ROWS:
                    if (at + 1) % stretch == 0:
                        mark = i64((at + 1) // stretch - 1) * (team_count() * team_size() * words)
                        kept[mark + i64(word)] = row
                carries = carried
            passing[(step + 1 & 1) * team_size() + lane()] = carries
            if lane() == team_size() - 1:
                edges[(strip + 1) * batches + at] = carries
        barrier()
    parked[me] = passing[(steps & 1) * team_size() + lane()]
    if lane() == 0:
        clock[strip] = u32(now + 1)


@function
def kept_at(
    row: i32, word: i32, batches: i32, round_launches: i32, steps: i32, delay: i32, words: i32, lanes: i32, strips: i32
) -> i64:
    """Where `advance` keeps a word of a row, counted from the first launch of all."""
    at, which, strip = row // ROWS % batches, word // words % lanes, word // words // lanes
    launch = row // ROWS // batches * round_launches + (at + which) // steps + delay * strip
    step = i64(launch) * strips * steps + strip * steps + (at + which) % steps
    return ((step * words + word % words) * ROWS + row % ROWS) * lanes + which


@kernel
def follow(
    kept: Array[u64],
    above: Array[u64],
    state: Array[i32],
    found_rows: Array[i32],
    found_columns: Array[i32],
    first: i32,
    batches: i32,
    round_launches: i32,
    steps: i32,
    delay: i32,
    words: i32,
    lanes: i32,
    strips: i32,
):
    """Trace backwards from ``state`` as far as the launches from ``first`` on reach, or to the first column or row.

    From a cell the trace goes left while the row does not grow there, then up while the row above grows there too, and
    then the cell is a matched pair, stored at its number in ``found_rows`` and ``found_columns``. One lane goes; all
    lanes of its team fetch, a word of as many rows at a time. ``above`` is the row above the first one; ``batches`` and
    ``round_launches`` are those of a round (see `core.search.dp.lcs_table`), the rest is as in `advance`.
    """
    fetched = shared_array(team_size(), u64)
    reached = shared_array(4, i32)
    ended = shared_array(1, i32)
    if lane() == 0:
        ended[0] = 0
        for k in range(4):
            reached[k] = state[k]
    begin = i64(first) * strips * steps * words * (ROWS * lanes)
    barrier()
    while reached[LEFT] > 0 and reached[COLUMN] > 0 and reached[ROW] > 0:
        i, j, grows, left = reached[ROW], reached[COLUMN], reached[GROWS], reached[LEFT]
        lowest = i - 1 - grows  # the row above, once this one is known to grow here
        word = (j - 1) // COLUMNS
        fetched[lane()] = ~u64(0)
        if lowest - lane() >= 0:
            place = kept_at(lowest - lane(), word, batches, round_launches, steps, delay, words, lanes, strips)
            if place >= begin:
                fetched[lane()] = kept[place - begin]
            elif lane() == 0:
                ended[0] = 1  # the rest is in an earlier chunk
        barrier()
        if ended[0] != 0:
            break
        if lane() == 0:
            end = lowest - team_size()
            last = kept_at(max(end + 1, 0), word, batches, round_launches, steps, delay, words, lanes, strips)
            if last < begin:
                end = lowest - 1
            while left > 0 and i > 0 and j > word * COLUMNS and i - 1 - grows > end:
                if grows == 0:
                    row = fetched[lowest - (i - 1)]
                    ends = ~row & ((u64(2) << ((j - 1) % COLUMNS)) - 1)
                    j = word * COLUMNS + (COLUMNS - clz(ends))
                    grows = 1 if ends != 0 else 0
                if grows == 1 and i - 2 > end:
                    higher = fetched[lowest - (i - 2)] if i > 1 else above[word]
                    if (higher >> ((j - 1) % COLUMNS)) & 1 == 0:
                        i -= 1
                    else:
                        left -= 1
                        found_rows[left] = i - 1
                        found_columns[left] = j - 1
                        i -= 1
                        j -= 1
                        grows = 0
            reached[ROW], reached[COLUMN], reached[GROWS], reached[LEFT] = i, j, grows, left
        barrier()
    if lane() == 0:
        for k in range(4):
            state[k] = reached[k]
