"""The longest common subsequence of two strings, with 64 cells of its table in a word.

A row of the table (`oconnell2014`, equation 2, with the + 1 missing in its match case) grows by 0 or 1 from one column
to the next, so it is stored as one bit a column: 0 where it grows. A row follows from the row above by one addition
over all columns (Crochemore, Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for the longest
common subsequence problem", IPL 80(6), 2001), with carries from word to word: ``V' = (V + (V & M)) | (V & ~M)``. M
marks the columns with the letter of the row. 32 rows are a batch; its carries between two words are one 32-bit number.

Each lane has one or more words of columns. Lanes run as a wave: at step u of its strip, lane l computes batch u - l. A
strip is one team. Each strip starts `delay` launches after the one to its left, so that the carries of that strip are
ready.

A table may end before its last row, every strip some batches above the one to its left (`Pipeline.reach`). Two waves
from opposite corners end like this where they meet.

Bits for a trace are stored in the order of their computation: launch, strip, step, word, row, lane.
"""

from __future__ import annotations

from core.lang import *

ROWS = 32
"""Rows of a batch."""
COLUMNS = 64
"""Columns of a word."""
NO_ROWS, EVERY_ROW, SOME_ROWS = range(3)
"""Rows that a run stores in addition to the last one: none; all, for a trace; or the row after every few batches."""
ROW, COLUMN, GROWS, LEFT = range(4)
"""Words of a trace's state: prefix lengths reached, 1 if the row is known to grow there, number of pairs to find."""


@bundle
class BitTable:
    """The present row of the table, 64 columns in a word, and the letters.

    Attributes
    ----------
    letters : Array, 16 * batches
        The number of each row's letter, two rows to a word.
    masks : Array, words of all lanes * different letters
        For every word of columns and every letter, the columns with this letter.
    row : Array, words of all lanes
        The latest row of each word; initially the row above, or all ones.
    """

    letters: Array[u32]
    masks: Array[u64]
    row: Array[u64]


@bundle
class Carries:
    """Carries from left to right: a bit for each row, 32 rows in a word.

    Attributes
    ----------
    edges : Array, (strips + 1) * batches
        Carries that enter each strip from the left, and carries that leave the last strip. A carry out of a column
        means that the table grows by 1 from the row above in this column.
    parked : Array, lanes of all strips
        Carries from a lane to its right neighbour in the next launch.
    clock : Array, strips
        Number of launches of a strip so far.
    """

    edges: Array[u32]
    parked: Array[u32]
    clock: Array[u32]


@bundle
class KeptRows:
    """Stored rows of a run.

    Attributes
    ----------
    rows : Array, launches * words of a launch, or batches // stretch * words of all lanes
        With `EVERY_ROW` every word of every row; the array is reused after ``launches`` launches. With `SOME_ROWS` the
        row after every ``stretch`` batches.
    """

    rows: Array[u64]
    launches: i32
    stretch: i32


@bundle
class Pipeline:
    """Distribution of rows and columns over launches, strips and lanes.

    Attributes
    ----------
    batches
        Number of batches of rows.
    steps
        Steps of a launch.
    delay
        Launches by which a strip starts after the one to its left.
    words, lanes, strips
        Words of columns of a lane, lanes of a strip, and strips.
    reach, slope
        Strip s computes its first ``reach - s * slope`` batches, limited to 0 to ``batches``. Other tables have a
        ``reach`` of at least ``batches``, and ``slope = 0``.
    """

    batches: i32
    steps: i32
    delay: i32
    words: i32
    lanes: i32
    strips: i32
    reach: i32
    slope: i32


@function
def batches_of(strip: i32, pipeline: Pipeline) -> i32:
    """Return the number of batches that a strip computes, from the first row on."""
    return min(max(pipeline.reach - strip * pipeline.slope, 0), pipeline.batches)


@function
def advance_word(
    batch: i32,
    word: i32,
    entering: u32,
    place: i64,
    words: i32,
    masks: Array[u64],
    table: BitTable,
    stored: KeptRows,
    letters: Const[i32],
    staged: Const[boolean],
    keep: Const[i32],
) -> u32:
    """Compute a batch of rows of a word; return the carries that leave it.

    ``entering`` has the carries from the left, ``place`` is that of the first row in memory with `EVERY_ROW`. Other
    parameters are as for `advance`.
    """
    row = table.row[word]
    leaving = u32(0)
    for q in unroll(ROWS // 2):
        two = table.letters[batch * (ROWS // 2) + q]
        for r in unroll(2):
            letter = i32((two >> (16 * r)) & 0xFFFF)
            letter_columns = masks[letter * team_size() + lane()] if staged else table.masks[word * letters + letter]
            matches = row & letter_columns
            # This order makes the chain of dependent additions shorter.
            total = row + u64((entering >> (2 * q + r)) & 1) + matches
            leaving = leaving | u32((matches | (row & ~total)) >> (COLUMNS - 1)) << (2 * q + r)
            row = total | (row ^ matches)
            if keep == EVERY_ROW:
                stored.rows[place + (2 * q + r) * team_size()] = row
    table.row[word] = row
    if keep == SOME_ROWS:
        if (batch + 1) % stored.stretch == 0:
            mark = i64((batch + 1) // stored.stretch - 1) * (team_count() * team_size() * words)
            stored.rows[mark + i64(word)] = row
    return leaving


@kernel
def advance(
    table: BitTable,
    carries: Carries,
    stored: KeptRows,
    pipeline: Pipeline,
    letters: Const[i32],
    staged: Const[boolean],
    keep: Const[i32],
):
    """Compute the next steps of every strip; a strip is a team.

    Parameters
    ----------
    letters
        Number of different letters.
    staged
        True if the masks of a team are in its shared memory; then a lane has one word.
    keep
        See `SOME_ROWS`.
    """
    passing = shared_array(2 * team_size(), u32)
    masks = shared_array(letters * team_size() if staged else 1, u64)
    strip = team_rank()
    launch = i32(carries.clock[strip])
    global_lane = strip * team_size() + lane()
    if staged:
        for k in range(letters):
            masks[k * team_size() + lane()] = table.masks[global_lane * letters + k]
    passing[lane()] = carries.parked[global_lane]
    barrier()
    words, batches, end = pipeline.words, pipeline.batches, batches_of(strip, pipeline)
    start = (launch - strip * pipeline.delay) * pipeline.steps
    kept_strip = (i64(launch % stored.launches) * team_count() + strip) * pipeline.steps
    for step in range(pipeline.steps):
        batch = start + step - lane()
        if batch >= 0 and batch < end:
            left_lane = (step & 1) * team_size() + lane() - 1
            entering = carries.edges[strip * batches + batch] if lane() == 0 else passing[left_lane]
            for w in range(words):
                word = global_lane * words + w
                place = ((kept_strip + step) * words + w) * (ROWS * team_size()) + lane()
                entering = advance_word(
                    batch, word, entering, place, words, masks, table, stored, letters, staged, keep
                )
            passing[(step + 1 & 1) * team_size() + lane()] = entering
            if lane() == team_size() - 1:
                carries.edges[(strip + 1) * batches + batch] = entering
        barrier()
    carries.parked[global_lane] = passing[(pipeline.steps & 1) * team_size() + lane()]
    if lane() == 0:
        carries.clock[strip] = u32(launch + 1)


@kernel
def collect_rises(carries: Carries, pipeline: Pipeline, boundaries: i32, rises: Array[u32]):
    """Collect the carries at the end of a wave: those of each strip below the end of its right neighbour.

    Parameters
    ----------
    boundaries
        Number of strips, from the first on, with a right neighbour on this or another device.
    rises : Array, batches
        Out: the carries, by batch; different strips have different batches.
    """
    for strip in range(team_rank(), boundaries, team_count()):
        low, high = batches_of(strip + 1, pipeline), batches_of(strip, pipeline)
        for batch in range(low + lane(), high, team_size()):
            rises[batch] = carries.edges[(strip + 1) * pipeline.batches + batch]


@function
def kept_at(row: i32, word: i32, pipeline: Pipeline) -> i64:
    """Return the place where `advance` stores a word of a row, counted from the first launch."""
    words, lanes, steps = pipeline.words, pipeline.lanes, pipeline.steps
    batch, lane_of_word, strip = row // ROWS, word // words % lanes, word // words // lanes
    launch = (batch + lane_of_word) // steps + pipeline.delay * strip
    step = i64(launch) * pipeline.strips * steps + strip * steps + (batch + lane_of_word) % steps
    return ((step * words + word % words) * ROWS + row % ROWS) * lanes + lane_of_word


@bundle
class LcsTrace:
    """Position of a trace, and the pairs that it has found.

    Attributes
    ----------
    state : Array, 4
        See `ROW`.
    rows, columns : Array, initial `LEFT`
        Out: positions of the matched letters; the pair found first is the last.
    """

    state: Array[i32]
    rows: Array[i32]
    columns: Array[i32]


@function
def trace_word(
    reached: Array[i32], fetched: Array[u64], word: i32, lowest: i32, end: i32, above: Array[u64], trace: LcsTrace
):  # fmt: skip
    """Trace within a word of the rows ``lowest`` to ``end`` + 1, which are fetched from the lowest row up.

    From a cell the trace moves left while the row does not grow there, then up while the row above also grows there.
    The cell it reaches is a matched pair.
    """
    i, j, grows, remaining = reached[ROW], reached[COLUMN], reached[GROWS], reached[LEFT]
    while remaining > 0 and i > 0 and j > word * COLUMNS and i - 1 - grows > end:
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
                remaining -= 1
                trace.rows[remaining] = i - 1
                trace.columns[remaining] = j - 1
                i -= 1
                j -= 1
                grows = 0
    reached[ROW], reached[COLUMN], reached[GROWS], reached[LEFT] = i, j, grows, remaining


@kernel
def trace_pairs(stored: Array[u64], above: Array[u64], trace: LcsTrace, first: i32, pipeline: Pipeline):
    """Trace backwards to the first column or row, or to the start of ``stored``, the launches from ``first`` on.

    One lane traces; all lanes of its team fetch a word of a row each. ``above`` is the row above the first one.
    """
    fetched = shared_array(team_size(), u64)
    reached = shared_array(4, i32)
    ended = shared_array(1, boolean)
    if lane() == 0:
        ended[0] = False
        for k in range(4):
            reached[k] = trace.state[k]
    begin = i64(first) * pipeline.strips * pipeline.steps * pipeline.words * (ROWS * pipeline.lanes)
    barrier()
    while reached[LEFT] > 0 and reached[COLUMN] > 0 and reached[ROW] > 0:
        lowest = reached[ROW] - 1 - reached[GROWS]  # the row above, if this row is known to grow here
        word = (reached[COLUMN] - 1) // COLUMNS
        fetched[lane()] = ~u64(0)
        if lowest - lane() >= 0:
            place = kept_at(lowest - lane(), word, pipeline)
            if place >= begin:
                fetched[lane()] = stored[place - begin]
            elif lane() == 0:
                ended[0] = True  # an earlier chunk has the rest
        barrier()
        if ended[0]:
            break
        if lane() == 0:
            end = lowest - team_size()
            if kept_at(max(end + 1, 0), word, pipeline) < begin:
                end = lowest - 1
            trace_word(reached, fetched, word, lowest, end, above, trace)
        barrier()
    if lane() == 0:
        for k in range(4):
            trace.state[k] = reached[k]
