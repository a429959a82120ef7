"""The largest instances that kernels take: their own index arithmetic, on the oracle, which raises where 32 bits end.

Arrays hold nothing but the elements that were written, so those of the largest instances cost no memory; of a launch
only one team runs, the one with the greatest indices.
"""

import builtins
from math import comb

import numpy as np
import pytest

from backends.base import Buffer
from backends.python import PythonBackend
from core.kernels import ants, held_karp, knapsack, knapsack_bound, lcs, neighbourhood_tours, one_tree, pheromone, tours
from core.kernels import tour_enumeration as enumeration
from core.kernels.moves import PERMUTATION, start_solutions
from core.kernels.two_opt import MOST_CITIES, CountedClimbs
from core.kernels.two_opt_columns import climb_columns
from core.kernels.two_opt_pruned import climb_pruned
from core.kernels.waves import wave_kernel
from core.lang import Array, Pack, Table, i32, kernel, oracle, team_rank, u16, u32
from core.problems import graphs, perceptron, qaplib
from core.problems.knapsack import LARGEST, MOST_CAPACITY
from core.problems.tsp_moves import table_distance
from core.search.ant_colony import settings as ant_settings
from core.search.dp.restricted import MOST_K, Sweep
from core.search.dp.waves import MOST_CELLS
from core.search.exact.enumeration import MOST_LENGTH

WORDS = 2**31 - 1
ORACLE = PythonBackend(PythonBackend.devices()[0])
NARROW, WIDE = np.uint16, np.uint32


class Sparse:
    """An array of any size that holds what was written, and ``fill`` elsewhere."""

    def __init__(self, size, dtype, fill=0, start=0, held=None):
        self.size, self.dtype, self.fill, self.start = size, np.dtype(dtype), fill, start
        self.held = {} if held is None else held

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Sparse(self.size - index.start, self.dtype, self.fill, self.start + index.start, self.held)
        return self.dtype.type(self.held.get(self.start + index, self.fill))

    def __setitem__(self, index, value):
        self.held[self.start + index] = value


def virtual(size, dtype, fill=0, **elements):
    """A buffer of ``size`` elements that takes no memory; ``held`` are (index, value)."""
    buffer = Buffer(Sparse(int(size), dtype, fill), (int(size),), dtype)
    buffer.handle.held.update(elements.get("held", ()))
    return buffer


def words(*values, dtype=np.int32):
    return ORACLE.upload(np.array(values, dtype))


@pytest.fixture
def team(monkeypatch):
    """Run one team of a launch, the last by default."""

    def run(kernel, teams, team_size, *arguments, rank=None):
        one = ORACLE.bind(kernel, teams, team_size, arguments)
        assert teams != team_size
        rank = teams - 1 if rank is None else rank

        def only(*bounds):
            return builtins.range(rank, rank + 1) if bounds == (teams,) else builtins.range(*bounds)

        with monkeypatch.context() as patch:
            patch.setattr(oracle, "range", only, raising=False)
            ORACLE.execute(one)

    return run


def overflows(run, *arguments, **named):
    with pytest.raises(OverflowError):
        run(*arguments, **named)


# --- hill climbing ---


def climbs_of(tour, n):
    """One climb from a tour."""
    counters = words(9, dtype=np.uint64), words(0, 0, 0, dtype=np.uint64)
    return CountedClimbs(n, tour, 1, words(0, dtype=WIDE), 0, *counters)


def climb(team, n):
    """A climb at equal distances from the tour n - 1, n - 2 ... 0, which reads the last row beside its end."""
    tour = {k: n - 1 - k for k in range(n)}
    team(climb_pruned, 2, 1, climbs_of(virtual(n, NARROW, held=tour), n), virtual(n * n, NARROW), virtual(n * n, WIDE))


@pytest.mark.slow
def test_distances_of_the_most_cities_have_indices_of_31_bits(team):
    climb(team, MOST_CITIES)
    overflows(climb, team, MOST_CITIES + 1)


@pytest.mark.parametrize("counter_based", [False, True])
def test_start_tours_of_a_whole_batch(team, counter_based):
    n = 5
    climbers = WORDS // n
    buffer = virtual(climbers * n, NARROW)
    team(tours.start_tours, climbers, 1, buffer, n, climbers, 0, 7, counter_based)
    last = [buffer.handle[(climbers - 1) * n + p] for p in range(n)]
    assert sorted(last) == [0, 1, 2, 3, 4]
    climbers += 1
    overflows(team, tours.start_tours, climbers, 1, virtual(climbers * n, NARROW), n, climbers, 0, 7, counter_based)


def test_tour_ordered_copies_of_as_many_teams_as_are_accepted(team):
    n = 5
    teams = WORDS // (n * (n + 1))

    def run(teams):
        ordered = virtual(teams * n * (n + 1), NARROW)
        climbs = climbs_of(virtual(n, NARROW, held={k: k for k in range(n)}), n)
        team(climb_columns, teams, 1, climbs, virtual(n * n, NARROW), ordered)
        assert max(ordered.handle.held) == teams * n * (n + 1) - 1

    run(teams)
    overflows(run, teams + 1)


def test_a_distance_of_the_most_cities_has_an_index_of_31_bits(team):
    @kernel
    def last_distance(n: i32, distances: Array[u16], found: Array[i32]):
        found[team_rank()] = table_distance(n - 1, n - 1, distances, n)

    n, found = MOST_CITIES, words(0, 0)
    team(last_distance, 2, 1, n, virtual(n * n, NARROW, held={n * n - 1: 7}), found)
    assert ORACLE.download(found).tolist() == [0, 7]
    n += 1
    overflows(team, last_distance, 2, 1, n, virtual(n * n, NARROW), found)


# --- ants ---


def test_tours_and_distances_of_ants_at_both_limits(team):
    n = ant_settings.MOST_CITIES
    ant_count = WORDS // n
    base = (ant_count - 1) * n
    buffer = virtual(ant_count * n, NARROW, held={base + p: n - 1 - p for p in range(n)})
    lengths = virtual(ant_count, WIDE)
    team(
        ants.measure, ant_count, 1, virtual(n * n, WIDE, fill=WORDS // n), buffer, n, ant_count, 0, 0,
        words(0, 0, 0, 0, dtype=WIDE), lengths, words(2**64 - 1, dtype=np.uint64), words(0, dtype=np.uint64),
    )  # fmt: skip
    assert lengths.handle[ant_count - 1] == WORDS // n * n


def test_a_loop_over_all_edges_ends_within_31_bits(team):
    n = ant_settings.MOST_CITIES
    lanes = WORDS - n * n  # a device of 128 lanes a team and 8 teams a unit would need 30,000 units for so many
    assert lanes > 1024 * 30_000
    arrays = virtual(n * n, WIDE), virtual(n * n, WIDE)
    team(pheromone.begin, lanes, 1, *arrays, n, 5)
    overflows(team, pheromone.begin, lanes + 1, 1, *arrays, n, 5)


def test_the_last_pheromone_of_the_most_cities(team):
    n = ant_settings.MOST_CITIES
    trails, delta = virtual(n * n, WIDE, fill=100), virtual(n * n, WIDE, fill=2**31)
    team(
        pheromone.evaporate, n, 1, trails, delta, n, 2**31, 0, 1, 1, 1, 0, 0, words(0, 0, 0, 0, dtype=WIDE), rank=n - 2
    )
    assert trails.handle.held == {(n - 2) * n + n - 1: 2**31 + 50, (n - 1) * n + n - 2: 2**31 + 50}


# --- local search ---


def test_random_solutions_of_as_many_walks_as_are_accepted(team):
    n = 7
    walks = WORDS // n
    team(start_solutions, walks, 1, PERMUTATION, virtual(walks * n, np.int32), walks, 0, n, n, 3)
    walks += 1
    overflows(team, start_solutions, walks, 1, PERMUTATION, virtual(walks * n, np.int32), walks, 0, n, n, 3)


def test_tables_of_the_largest_instances_have_indices_of_31_bits():
    assert qaplib.MOST_FACILITIES**2 <= WORDS
    assert graphs.MOST_VERTICES**2 <= WORDS
    assert graphs.MOST_VERTICES * graphs.MOST_PARTS <= WORDS
    assert perceptron.MOST_ENTRIES <= WORDS


# --- exact search ---


def test_the_longest_way_and_any_city_are_less_than_the_end_of_a_row():
    way = MOST_LENGTH << 5 | enumeration.ROW - 2
    assert int(i32(MOST_LENGTH) << 5 | i32(29)) < enumeration.END
    assert way < enumeration.END
    assert 30 * MOST_LENGTH <= WORDS  # thirty such edges have a sum


def test_lanes_that_hand_on_their_work_at_the_limit(team):
    n, row = 7, enumeration.ROW
    lanes = WORDS // (row * row)
    hands = lanes * row - n
    handed = virtual(lanes * row * row, np.uint8)
    ways = virtual(n * row, np.int32, fill=1)
    ranked = virtual(n * row, np.int32, fill=enumeration.END)
    for city in range(n):
        others = (other for other in range(1, n) if other != city)
        ranked.handle.held.update({city * row + k: 1 << 5 | other for k, other in enumerate(others)})
    team(
        enumeration.explore, lanes, 1, ways, ranked, n, 6, 1, 1, 1, 0, 0, 0, 1, 1, 1 << 30, virtual(32, np.uint8), handed,
        words(hands, dtype=WIDE), words(0, dtype=np.uint64), words(1000), words(*[0] * row, dtype=np.uint64),
        words(0, dtype=np.uint64), virtual(lanes, np.int32), virtual(lanes * row, np.uint8),
    )  # fmt: skip
    assert max(handed.handle.held) // row >= hands


def test_stacks_of_as_many_lanes_as_are_launched(team):
    n, row = 8, one_tree.ROW
    capacity = n * (n - 1) + one_tree.CHILDREN
    lanes = WORDS // (row * capacity)
    # City 1 is near to all, so its degree in the 1-tree of length 16 is branched on; other trees have 20 and more.
    near = {k: 1 for v in range(n) for k in (row + v, v * row + 1)}
    costs = virtual(n * row, np.int32, fill=5, held=near)
    stacks = [virtual(lanes * capacity * row, kind) for kind in (np.int32, WIDE, WIDE)]
    stacks.append(virtual(lanes * capacity, np.int32))
    item = [virtual(row, kind) for kind in (np.int32, WIDE, WIDE)] + [virtual(1, np.int32)]
    team(
        one_tree.branch_and_bound, lanes, 1, costs, n, 1, 1, 1, 1, capacity, 1, 1, *item, *stacks, words(0), words(17),
        words(0), words(*[0] * row * row, dtype=np.uint64), words(0, dtype=np.uint64), virtual(lanes, np.int32),
        virtual(lanes * row, np.uint8),
    )  # fmt: skip
    assert (lanes - 1) * capacity <= max(stacks[3].handle.held) < lanes * capacity


# --- dynamic programming ---


def held_karp_arguments(kernel, elements, size, sets):
    binomials = [comb(e, t) for e in range(held_karp.ELEMENTS) for t in range(held_karp.COLUMNS)]
    table = virtual(elements * held_karp.ROW, WIDE, fill=(1 << 30) - 1)
    return table, words(*binomials, dtype=np.uint64 if max(binomials) > 2**32 else WIDE)


def test_the_last_set_of_the_largest_layer(team):
    elements, size = held_karp.ELEMENTS, held_karp.LARGEST
    sets = comb(elements, size)
    assert sets < 2**32 < comb(elements + 1, size + 1)
    table, binomials = held_karp_arguments(held_karp.extend, elements, size, sets)
    cap = (1 << 30) - 1
    before = virtual(comb(elements, size - 1) * (size - 1), WIDE, fill=cap)
    after = virtual(sets * size, WIDE)
    team(held_karp.extend, 2, 1, before, after, table, binomials, elements, size, sets - 1, sets, 1, cap, rank=0)
    assert sorted(after.handle.held) == list(range((sets - 1) * size, sets * size))


def test_the_last_two_halves_meet(team):
    elements, size = held_karp.ELEMENTS, held_karp.LARGEST - 1
    sets = comb(elements, size + 1)
    table, binomials = held_karp_arguments(held_karp.meet, elements, size, sets)
    cap = (1 << 30) - 1
    layer = virtual(comb(elements, size) * size, WIDE, fill=cap)
    best = words(2**64 - 1, dtype=np.uint64)
    team(
        held_karp.meet, 2, 1, layer, words(0, dtype=WIDE), table, words(0, dtype=WIDE), binomials, elements, size, 1, 0,
        sets - 1, sets, 1, cap, best, rank=0,
    )  # fmt: skip
    assert int(ORACLE.download(best)[0]) == 2 * cap << 32 | sets - 1


@pytest.mark.parametrize("taken", [True, False])
def test_a_block_of_the_largest_capacity(team, taken):
    capacity, lanes = MOST_CAPACITY, 1
    block = knapsack.CELLS * lanes
    padded = (capacity // block + 1) * block
    left = capacity // block * block
    weight = capacity if taken else 1
    source, target = virtual(padded, np.uint64, fill=LARGEST), virtual(padded, np.uint64)
    kept = virtual(2 * padded // 32, WIDE)
    team(
        knapsack.two_items, 2, lanes, words(weight, capacity), words(LARGEST, LARGEST, dtype=np.uint64), words(0, left),
        words(capacity, capacity), words(0, 0), source, target, kept, padded // 32, 1, left, capacity + 1, True, 1, 1,
        rank=0,
    )  # fmt: skip
    assert max(target.handle.held) == padded - 1
    trace, chosen = words(1, capacity), words(0, 0, dtype=np.uint8)
    team(
        knapsack.follow, 2, 1, words(weight, capacity), words(capacity, capacity), kept, padded // 32, 0, 0, 1, trace,
        chosen, rank=0,
    )  # fmt: skip


def test_the_generic_engine_at_the_largest_wave(team):
    cells = MOST_CELLS // 2
    data = Pack({"weights": Table(i32, "readonly"), "values": Table(u32, "readonly")})
    window = virtual(2 * cells, WIDE, fill=3)
    kernel = wave_kernel(knapsack.best_value, data)
    teams = cells - 5
    arguments = virtual(cells // 32 + 64, WIDE), 1, cells, 0, cells, 0, 0, 0
    team(kernel, teams, 1, window, *arguments, 0, words(1, cells - 1), words(1, 1, dtype=WIDE))
    assert max(window.handle.held) == cells + teams - 1


def test_a_bound_of_the_largest_numbers(team):
    numbers = words(0, 0, 0, dtype=np.uint64)
    weights, values = words(MOST_CAPACITY, MOST_CAPACITY), words(LARGEST, LARGEST, dtype=np.uint64)
    place = words(0, MOST_CAPACITY, 0)
    team(
        knapsack_bound.explore, 2, 1, 2, weights, values, 100, place, numbers, words(0, 0, dtype=np.uint8),
        words(0, 0, dtype=np.uint8), rank=0,
    )  # fmt: skip
    assert int(ORACLE.download(numbers)[knapsack_bound.BEST]) == LARGEST


@pytest.mark.parametrize(("strips", "batches"), [(100_000, 20_000), (30, 2**26 - 2)])
def test_the_last_step_of_the_longest_strings(team, strips, batches):
    delay, steps, letters = 1, 1, 8
    assert (strips + 1) * batches <= WORDS
    edges = virtual((strips + 1) * batches, WIDE)
    launches = batches + delay * (strips - 1)
    team(
        lcs.advance, strips, 1, virtual(16 * batches, WIDE), virtual(strips * letters, np.uint64),
        virtual(strips, np.uint64, fill=2**64 - 1), edges, virtual(strips, WIDE),
        virtual(strips, WIDE, fill=launches - 1), virtual(1, np.uint64), batches, steps, delay, 1, launches, 0, 1,
        letters, False, lcs.NO_ROWS,
    )  # fmt: skip
    assert max(edges.handle.held) == (strips + 1) * batches - 1


def test_a_trace_from_the_end_of_the_longest_strings(team):
    rows = 2**31 - 65
    batches, columns = -(-rows // 32), 64
    state = words(rows, columns, 0, 5)
    kept = virtual(rows * 32, np.uint64, fill=2**64 - 1)
    found = virtual(5, np.int32), virtual(5, np.int32)
    team(
        lcs.follow, 2, 1, kept, words(2**64 - 1, dtype=np.uint64), state, *found, 0, batches, batches, 1, 1, 1, 1, 1,
        rank=0,
    )  # fmt: skip
    assert ORACLE.download(state).tolist() == [rows, 0, 0, 5]


@pytest.mark.parametrize("keep", [True, False])
def test_the_last_layer_of_a_part_of_restricted_tours(team, keep):
    n, k = 65_535, MOST_K
    net = neighbourhood_tours.network(k)
    room = 1000 * net.states if keep else 0
    sweep = Sweep(ORACLE, net, None, n, 1 if keep else 2, keep, "none", room)
    assert sweep.part * net.states <= WORDS
    part = WORDS // net.states  # the largest of all rooms
    step = virtual(3, np.int32, held={0: n, 1: n - part + 1, 2: n + 1})

    def run(step):
        team(
            neighbourhood_tours.layer_over_teams, net.states, 1, 0, step, virtual(n * (3 * k - 1), np.int32),
            words(*net.links, dtype=WIDE), words(*net.lasts, dtype=np.uint8), n, k, net.states, 1, words(0), int(keep),
            virtual(2 * net.states, np.int32), virtual(part * net.states, np.uint8),
        )  # fmt: skip

    run(step)
    overflows(run, virtual(3, np.int32, held={0: n, 1: n - part, 2: n + 1}))
