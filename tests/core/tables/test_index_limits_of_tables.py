"""The largest tables: index arithmetic of kernels on the reference interpreter (`tests.core.run.sparse_arrays`)."""

from math import comb

import numpy as np
import pytest

from core.lang import bundle, function, i32, u32
from core.tables.engine.kernels import waves
from core.tables.engine.kernels.waves import Window
from core.tables.engine.recurrences import MOST_CELLS
from core.tables.held_karp.kernels import halves as held_karp_halves
from core.tables.held_karp.kernels import layers as held_karp
from core.tables.held_karp.kernels import restricted_tour
from core.tables.held_karp.neighbourhood import MOST_K
from core.tables.held_karp.plan import HeldKarpPlan, rank_of
from core.tables.knapsack.expanding_core import MOST_CHANGES
from core.tables.knapsack.kernels import branch_and_bound as knapsack_branch_and_bound
from core.tables.knapsack.kernels import expanding_core as knapsack_core
from core.tables.knapsack.kernels import halves as knapsack_halves
from core.tables.knapsack.kernels import table as knapsack
from core.tables.knapsack.problem import LARGEST, MOST_CAPACITY
from core.tables.lcs import kernels as lcs
from tests.core.run.sparse_arrays import ORACLE, WIDE, WORDS, overflows, team, virtual, words

__all__ = ["team"]


def held_karp_arguments(elements):
    """The sets, and steps of no length."""
    most = max(elements, held_karp.ELEMENTS)
    binomials = [comb(e, t) for e in range(most) for t in range(held_karp.COLUMNS)]
    kind = WIDE if most == held_karp.ELEMENTS else np.uint64
    sets = held_karp.Sets(words(*binomials, dtype=kind), elements, (1 << 30) - 1, most)
    return sets, virtual(elements * held_karp.ROW, WIDE)


def layer_of(count, size, rows, first=0, start=0):
    """Return ``rows`` rows of paths of the greatest length, except for sets with given lengths."""
    cells = {start + (number - first) * size + p: length for number, length in rows.items() for p in range(size)}
    return held_karp.Layer(virtual(start + count * size, WIDE, fill=(1 << 30) - 1, held=cells), start, first)


@pytest.mark.parametrize("elements", [held_karp.ELEMENTS, held_karp.ELEMENTS + 1])
@pytest.mark.parametrize("with_0", [0, 1])
def test_the_last_set_of_the_largest_layer(team, elements, with_0):
    size, place = 17, 2**37
    assert comb(34, size) < 2**32 < comb(35, size)
    count = comb(elements - with_0, size - with_0)
    last = [*range(with_0), *range(elements - size + with_0, elements)]
    without = {rank_of([e for e in last if e != left]): left for left in last}
    sets, steps = held_karp_arguments(elements)
    before = held_karp.Paths(layer_of(comb(elements, size - 1), size - 1, without), steps)
    after = layer_of(9, size, {}, count - 9, place)
    share = held_karp.SubsetShare(count - 1, count, 1, with_0, with_0)
    team(held_karp.extend, 2, 1, before, after, sets, size, share, rank=0)
    assert after.cells.handle.held == {place + 8 * size + p: left for p, left in enumerate(last)}


@pytest.mark.parametrize(("elements", "size"), [(34, 16), (35, 17)])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("middle", [0, -1])
@pytest.mark.parametrize("by_team", [False, True])
def test_the_last_halves_meet(team, elements, size, directed, middle, by_team):
    plan = HeldKarpPlan(elements, directed)
    sets, steps = held_karp_arguments(elements)
    for rows, middles, _ in plan.meetings()[: 1 if plan.is_even else 2]:
        chosen = plan.size + 1 - rows.numbering.held
        b = [*range(rows.numbering.held), *range(elements - chosen, elements)]
        a = [element for element in range(elements) if element not in b]
        rest = [element for element in b if element != b[middle if middles > 1 else 0]]
        number = plan.last - (rows.end - 1 if plan.is_apart else rank_of(b))
        assert plan.first_half(number) == a
        halves = {number: 7} if plan.is_even else {rank_of(a): 7}
        layer = {rank_of(rest): 5} | ({} if plan.is_apart else halves)
        out = layer_of(number + 1, plan.half, halves) if plan.is_apart else held_karp.Layer(words(0, dtype=WIDE), 0, 0)
        home = layer_of(comb(elements, size), size, layer)
        best = words(2**64 - 1, dtype=np.uint64)
        other = virtual(elements * held_karp.ROW, WIDE)
        team(
            held_karp_halves.meet, 2, 1,
            held_karp.Paths(out, steps), held_karp.Paths(home, other), sets, size,
            held_karp.SubsetShare(rows.end - 1, rows.end, 1, *rows.numbering),
            held_karp_halves.Meeting(middles, plan.last, plan.is_apart, directed, 19, by_team), best, rank=0,
        )  # fmt: skip
        assert int(ORACLE.download(best)[0]) == 12 << held_karp_halves.NUMBER_BITS | number


def test_tours_that_are_as_long_as_may_be_and_the_last_set_fit_a_key(team):
    elements, size = 35, 17
    sets, _ = held_karp_arguments(elements)
    plan = HeldKarpPlan(elements, True)
    rows = plan.meetings()[0].rows
    best = words(2**64 - 1, dtype=np.uint64)
    longest = [virtual(elements * held_karp.ROW, WIDE, fill=sets.cap) for _ in range(2)]
    layers = [held_karp.Paths(layer_of(rows.end, size, {}), one) for one in longest]
    meeting = held_karp_halves.Meeting(size + 1, rows.end - 1, True, True, 19, True)
    share = held_karp.SubsetShare(0, 1, 1, 0, 0)
    team(held_karp_halves.meet, 2, 1, *layers, sets, size, share, meeting, best, rank=0)
    assert int(ORACLE.download(best)[0]) == sets.cap << held_karp_halves.NUMBER_BITS | rows.end - 1


@pytest.mark.parametrize("is_heavy", [True, False])
def test_a_block_of_the_largest_capacity(team, is_heavy):
    capacity, lanes = MOST_CAPACITY, 1
    block = knapsack.CELLS * lanes
    padded = (capacity // block + 1) * block
    left = capacity // block * block
    weight = capacity if is_heavy else 1
    source, target = virtual(padded, np.uint64, fill=LARGEST), virtual(padded, np.uint64)
    items = words(weight, capacity), words(LARGEST, LARGEST, dtype=np.uint64)
    passes = knapsack.Passes(*items, words(0, left), words(capacity, capacity), words(0, 0))
    kept = knapsack.DecisionBits(virtual(2 * padded // 32, WIDE), padded // 32, 1)
    own = knapsack.Slice(left, capacity + 1, 1, 1)
    team(knapsack.add_two_items, 2, lanes, passes, source, target, kept, own, True, 1, 1, rank=0)
    assert max(target.handle.held) == padded - 1
    trace, chosen = words(1, capacity), words(0, 0, dtype=np.uint8)
    share = knapsack.CapacityShare(words(1), 1, 0)
    team(knapsack.trace_items, 2, 1, passes, kept, 0, 0, share, 1, trace, chosen, rank=0)


@pytest.mark.parametrize("lanes", [1, 128])
def test_splits_of_the_largest_capacity(team, lanes):
    capacity, last = MOST_CAPACITY, (MOST_CAPACITY + 1) // (knapsack.CELLS * lanes) - 1
    padded = MOST_CAPACITY + 1
    lighter, heavier, best = (virtual(padded, np.uint64, fill=LARGEST) for _ in range(3))
    tables = knapsack_halves.HalfTables(lighter, heavier, capacity, capacity - 3, capacity)
    team(knapsack_halves.best_values, 1 << 20, lanes, tables, best, rank=0)
    assert best.handle.held == {0: 2 * LARGEST}
    splits = knapsack_halves.Splits(
        count=words(0), cells=words(*[0] * 4), alive=virtual(padded // 32, WIDE),
        leaves=words(0, 0), taken=words(0, 0), clock=virtual(last + 1, np.int32, fill=1),
    )  # fmt: skip
    everything = knapsack_halves.HalfTables(lighter, heavier, capacity, 0, capacity)
    value = np.uint64(2 * LARGEST)
    team(knapsack_halves.mark_splits, last + 1, lanes, everything, value, splits, last + 1, 4, rank=last)
    assert splits.alive.handle.held == {
        padded // 32 - lanes + k: 1 << 31 if k == lanes - 1 else 0 for k in range(lanes)
    }
    assert ORACLE.download(splits.cells)[0] == capacity
    passes = knapsack.Passes(
        weights=words(1, capacity), values=words(1, 1, dtype=np.uint64),
        low=words(0, 0), high=words(0, capacity), clock=words(0),
    )  # fmt: skip
    kept = knapsack.DecisionBits(virtual(2 * padded // 32, WIDE, fill=2**32 - 1), padded // 32, 1)
    chosen = words(0, 0, dtype=np.uint8)
    span = knapsack_halves.Span(0, 1, 2, last + 1)
    team(knapsack_halves.narrow, last + 1, lanes, passes, kept, splits, span, lanes, chosen, rank=last)
    team(knapsack_halves.trace_few, 2, lanes, passes, kept, 0, splits, 1, lanes, chosen, rank=0)
    assert ORACLE.download(chosen).tolist() == [1, 1]


@bundle
class Added:
    number: u32


@function
def sum_with(wave: i32, number: i32, window: Window, added: Added) -> u32:
    return window.cells[window.one + number] + added.number


def test_the_generic_engine_at_the_largest_wave(team):
    cells = MOST_CELLS // 2
    window = Window(virtual(2 * cells, WIDE, fill=3), 0, 0)
    wave = waves.Wave(number=1, count=cells, first=0, begin=cells)
    teams = cells - 5
    team(waves.wave_kernel(sum_with), teams, 1, wave, window, Added(1))
    assert max(window.cells.handle.held) == cells + teams - 1


def test_a_bound_of_the_largest_numbers(team):
    weights, values = words(MOST_CAPACITY, MOST_CAPACITY), words(LARGEST, LARGEST, dtype=np.uint64)
    place, numbers = words(0, MOST_CAPACITY, 0), words(0, 0, 0, dtype=np.uint64)
    search = knapsack_branch_and_bound.KnapsackTreeState(
        place, numbers, words(0, 0, dtype=np.uint8), words(0, 0, dtype=np.uint8)
    )
    team(
        knapsack_branch_and_bound.explore,
        2,
        1,
        knapsack_branch_and_bound.RankedItems(weights, values, 2),
        search,
        100,
        rank=0,
    )
    assert int(ORACLE.download(numbers)[knapsack_branch_and_bound.TreeNumbers.best]) == LARGEST


def test_the_last_change_of_a_core_of_the_largest_numbers(team):
    weights, values = words(2, MOST_CAPACITY - 1, dtype=np.int64), words(LARGEST, LARGEST, dtype=np.int64)
    items = knapsack_core.CoreItems(weights, values, 2, 1, MOST_CAPACITY, 2, LARGEST)
    room, last = MOST_CHANGES * 2, MOST_CHANGES - 1
    states = knapsack_core.CoreStates(
        place=words(1, 1, 1, 0, last, 0), numbers=words(LARGEST, 1, dtype=np.int64),
        weights=virtual(2 * room, np.int64, held={0: 2}.items()),
        values=virtual(2 * room, np.int64, held={0: LARGEST}.items()), nodes=virtual(2 * room, np.int32),
        parents=virtual(MOST_CHANGES, np.int32), changed=virtual(MOST_CHANGES, np.int32),
        room=room, changes=MOST_CHANGES,
    )  # fmt: skip
    team(knapsack_core.expand, 2, 1, items, states, 1, rank=0)
    assert ORACLE.download(states.place).tolist() == [1, 2, 1, 1, MOST_CHANGES, 0]
    assert states.values.handle.held[room] == 2 * LARGEST
    assert states.changed.handle.held == {last: 1}


@pytest.mark.parametrize(("strips", "batches"), [(100_000, 20_000), (30, 2**26 - 2)])
def test_the_last_step_of_the_longest_strings(team, strips, batches):
    delay, steps, letters = 1, 1, 8
    assert (strips + 1) * batches <= WORDS
    edges = virtual((strips + 1) * batches, WIDE)
    launches = batches + delay * (strips - 1)
    table = lcs.BitTable(
        virtual(16 * batches, WIDE), virtual(strips * letters, np.uint64), virtual(strips, np.uint64, fill=2**64 - 1)
    )
    carries = lcs.Carries(edges, virtual(strips, WIDE), virtual(strips, WIDE, fill=launches - 1))
    kept = lcs.KeptRows(virtual(1, np.uint64), launches, 1)
    pipeline = lcs.Pipeline(batches, steps, delay, words=1, lanes=1, strips=strips, reach=batches, slope=0)
    team(lcs.advance, strips, 1, table, carries, kept, pipeline, letters, False, lcs.NO_ROWS)
    assert max(edges.handle.held) == (strips + 1) * batches - 1


def test_the_last_rise_between_the_longest_strings_strips(team):
    strips, batches = 30, 2**26 - 2
    carries = lcs.Carries(virtual((strips + 1) * batches, WIDE, fill=7), words(0, dtype=WIDE), words(0, dtype=WIDE))
    rises = virtual(batches, WIDE)
    # The next strip would end one batch earlier.
    pipeline = lcs.Pipeline(batches, 1, 1, words=1, lanes=1, strips=strips, reach=batches + strips - 1, slope=1)
    team(lcs.collect_rises, strips, 1, carries, pipeline, strips, rises, rank=strips - 1)
    assert rises.handle.held == {batches - 1: 7}


def test_a_trace_from_the_end_of_the_longest_strings(team):
    rows = 2**31 - 65
    batches, columns = -(-rows // 32), 64
    state = words(rows, columns, 0, 5)
    kept = virtual(rows * 32, np.uint64, fill=2**64 - 1)
    trace = lcs.LcsTrace(state, virtual(5, np.int32), virtual(5, np.int32))
    pipeline = lcs.Pipeline(batches, steps=1, delay=1, words=1, lanes=1, strips=1, reach=batches, slope=0)
    team(lcs.trace_pairs, 2, 1, kept, words(2**64 - 1, dtype=np.uint64), trace, 0, pipeline, rank=0)
    assert ORACLE.download(state).tolist() == [rows, 0, 0, 5]


def test_the_last_layer_of_a_part_of_restricted_tours(team):
    n, k = 65_535, MOST_K
    net = restricted_tour.network(k)
    part = WORDS // net.states  # the largest of all rooms
    step = virtual(3, np.int32, held={0: n, 1: n - part + 1, 2: n + 1})

    def run(step):
        links, lasts = words(*net.links, dtype=WIDE), words(*net.lasts, dtype=np.uint8)
        problem = restricted_tour.BandedTour(virtual(n * (3 * k - 1), np.int32), links, lasts, n)
        lengths = virtual(2 * net.states, np.int32)
        choices = virtual(part * net.states, np.uint8)
        arguments = 0, step, problem, lengths, choices, net.states, k
        team(restricted_tour.layer_over_teams, net.states, 1, *arguments)

    run(step)
    overflows(run, virtual(3, np.int32, held={0: n, 1: n - part, 2: n + 1}))
