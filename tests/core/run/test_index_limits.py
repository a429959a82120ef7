"""The largest instances that kernels take: index arithmetic on the reference interpreter (`sparse_arrays`)."""

import numpy as np
import pytest

from core.ant_colony import settings as ant_settings
from core.ant_colony.kernels import ants, pheromone, published_ants
from core.errors import LaunchRefused
from core.exact.enumeration import MOST_LENGTH
from core.exact.kernels import branch_and_bound, enumeration
from core.exact.kernels.city_sets import ROW
from core.exact.kernels.tour_search import BestTour, TourSearch
from core.hill_climbing.kernels.climbs import MOST_CITIES, CountedClimbs, start_tours
from core.hill_climbing.kernels.columns import climb_columns
from core.hill_climbing.kernels.pruned import climb_pruned
from core.instances.errors import InstanceError
from core.lang import Array, Rows, i32, kernel, team_rank
from core.lang.named_arrays import size_of
from core.local_search.kernels.moves import PERMUTATION, start_solutions
from core.local_search.kernels.walks import Walk, WalkStatus, WalkTotals
from core.ppp import perceptron
from core.qap import qaplib
from core.tours.problem import DistanceTable as Distances
from core.tours.problem import table_distance
from tests.core.run.sparse_arrays import NARROW, ORACLE, WIDE, WORDS, overflows, team, virtual, words

__all__ = ["team"]


# --- hill climbing ---


def climbs_of(tour, n):
    counters = words(9, 9, 9, dtype=np.uint64), words(0, 0, 0, dtype=np.uint64)
    return CountedClimbs(n, tour, 1, words(0, dtype=WIDE), 0, *counters)


def climb(team, n):
    """Climb at equal distances from the tour n - 1, n - 2 ... 0, which reads the last row beside its end."""
    tour = {k: n - 1 - k for k in range(n)}
    team(climb_pruned, 2, 1, climbs_of(virtual(n, NARROW, held=tour), n), virtual(n * n, NARROW), virtual(n * n, WIDE))


@pytest.mark.long
def test_distances_of_the_most_cities_have_indices_of_31_bits(team):
    climb(team, MOST_CITIES)
    overflows(climb, team, MOST_CITIES + 1)


@pytest.mark.parametrize("counter_based", [False, True])
def test_start_tours_of_a_whole_batch(team, counter_based):
    n = 5
    climbers = WORDS // n
    buffer = virtual(climbers * n, NARROW)
    team(start_tours, climbers, 1, buffer, n, climbers, 0, 7, counter_based)
    last = [buffer.handle[(climbers - 1) * n + p] for p in range(n)]
    assert sorted(last) == [0, 1, 2, 3, 4]
    climbers += 1
    overflows(team, start_tours, climbers, 1, virtual(climbers * n, NARROW), n, climbers, 0, 7, counter_based)


def test_tour_ordered_copies_of_as_many_teams_as_are_accepted(team):
    n = 5
    teams = WORDS // (n * (n + 1))

    def run(teams):
        ordered = virtual(teams * n * (n + 1), NARROW)
        climbs = climbs_of(virtual(n, NARROW, held={k: k for k in range(n)}), n)
        edge_longer_than_others = virtual(n * n, NARROW, held={3 * n + 4: 9, 4 * n + 3: 9})
        team(climb_columns, teams, 1, climbs, edge_longer_than_others, ordered)
        assert max(ordered.handle.held) == teams * n * (n + 1) - 1

    run(teams)
    overflows(run, teams + 1)


def test_a_distance_of_the_most_cities_has_an_index_of_31_bits(team):
    @kernel
    def last_distance(table: Distances, distances: Array[i32]):
        distances[team_rank()] = table_distance(table.cities - 1, table.cities - 1, table)

    n, distances = MOST_CITIES, words(0, 0)
    team(last_distance, 2, 1, Distances(virtual(n * n, NARROW, held={n * n - 1: 7}), n), distances)
    assert ORACLE.download(distances).tolist() == [0, 7]
    n += 1
    overflows(team, last_distance, 2, 1, Distances(virtual(n * n, NARROW), n), distances)


# --- ants ---


def test_tours_and_distances_of_ants_at_both_limits(team):
    n = ant_settings.MOST_CITIES
    ant_count = WORDS // n
    base = (ant_count - 1) * n
    tour = virtual(ant_count * n, NARROW, held={base + p: n - 1 - p for p in range(n)})
    length = virtual(ant_count, WIDE)
    rows = Rows(ants.Ant(tour, length, n, 0), ant_count)
    team(ants.measure, ant_count, 1, virtual(n * n, WIDE, fill=WORDS // n), rows, colony_of_ants())
    assert length.handle[ant_count - 1] == WORDS // n * n


def colony_of_ants():
    return ants.ColonyState(
        number=0, seed=0, state=words(0, 0, 0, 0, dtype=WIDE), best=words(0, dtype=NARROW),
        least=words(2**64 - 1, dtype=np.uint64), curve=words(0, dtype=WIDE), digest=words(0, dtype=np.uint64),
        ticket=words(0, dtype=WIDE),
    )  # fmt: skip


def test_loops_over_all_edges_end_within_31_bits(team):
    """A device with 8 teams a unit would need 30,000 units to have more lanes, in either mapping."""
    n = ant_settings.MOST_CITIES
    places = n * n // 2
    teams, lanes = (WORDS - places) // pheromone.BLOCK, WORDS - n * n
    assert teams > 8 * 250_000 and lanes > 1024 * 30_000
    for begin, trails, most in (
        (pheromone.begin, pheromone.Trails(virtual(places, WIDE), virtual(places, WIDE), n), teams),
        (published_ants.begin, published_ants.PheromoneMatrix(virtual(n * n, WIDE), n), lanes),
    ):
        team(begin, most, 1, trails, 5)
        overflows(team, begin, most + 1, 1, trails, 5)


def test_the_last_pheromone_of_the_most_cities(team):
    n = ant_settings.MOST_CITIES
    places = n * n // 2
    deposits = virtual(places, WIDE, fill=2**31)
    trails = pheromone.Trails(virtual(places, WIDE, fill=100), deposits, n)
    update = pheromone.Update(rho=2**31, quota=1, lower_bound=1, floor_ratio=1, stagnation=0, smoothing=0)
    teams = -(-places // pheromone.BLOCK)
    team(pheromone.evaporate, teams, 1, trails, update, False, colony_of_ants())
    first = (teams - 1) * pheromone.BLOCK
    assert trails.pheromone.handle.held == dict.fromkeys(range(first, places), 2**31 + 50)
    assert deposits.handle.held == dict.fromkeys(range(first, places), 0)


def test_the_last_edges_of_the_most_cities(team):
    n = ant_settings.MOST_CITIES
    places = n * n // 2
    trails = pheromone.Trails(virtual(places, WIDE), virtual(places, WIDE), n)
    update = pheromone.Update(rho=1, quota=7, lower_bound=1, floor_ratio=1, stagnation=0, smoothing=0)
    laid = pheromone.DepositedTour(virtual(n, WIDE, held={k: n - 1 - k for k in range(n)}), words(1, dtype=WIDE))
    team(pheromone.deposit_one_tour, n, 1, laid, update, trails)
    last = (n - 1) ** 2 // 2
    assert trails.deposits.handle.held == {last: 7}  # from the last city of the tour back to the first
    team(pheromone.deposit_one_tour, n, 1, laid, update, trails, rank=0)
    assert trails.deposits.handle.held[last + n - 2] == 7


@pytest.mark.slow
def test_the_last_edges_of_the_most_cities_in_the_papers_mapping(team):
    n = ant_settings.MOST_CITIES
    trails = published_ants.PheromoneMatrix(virtual(n * n, WIDE, fill=100), n)
    update = pheromone.Update(rho=2**31, quota=7 * n, lower_bound=1, floor_ratio=1, stagnation=0, smoothing=0)
    team(published_ants.evaporate_edges, n * n // 4, 4, trails, update)
    assert trails.pheromone.handle.held == dict.fromkeys(range(n * n - 4, n * n), 50)
    ant_count = WORDS // n
    base = (ant_count - 1) * n
    tour = virtual(ant_count * n, NARROW, held={base + p: n - 1 - p for p in range(n)})
    rows = Rows(ants.Ant(tour, virtual(ant_count, WIDE, fill=n), n, 0), ant_count)
    team(published_ants.deposit_edges, ant_count, 1, rows, update, trails)
    assert trails.pheromone.handle.held[n * n - 2] == 57  # from the last city to the one before it
    assert trails.pheromone.handle.held[(n - 1) * n] == 107  # the way back to the start


# --- local search ---


def test_random_solutions_of_as_many_walks_as_are_accepted(team):
    n = 14

    def run(walks):
        """No other row is as long as a solution."""
        held = {name: virtual(walks, dtype) for name, dtype in (("heat", np.float32), ("memory", np.int32))}
        held |= {name: virtual(walks * size, dtype) for name, size, dtype in (("status", size_of(WalkStatus), np.int32),
                 ("totals", size_of(WalkTotals), np.uint64), ("number", 1, np.uint64))}  # fmt: skip
        held |= {name: virtual(walks * n, np.int32) for name in ("solution", "best", "home")}
        walkers = Rows(Walk(**held, room=1, length=n, choices=n), walks)
        team(start_solutions, walks, 1, PERMUTATION, walkers, 3)
        return walkers.solution.handle

    walks = WORDS // n
    solutions = run(walks)
    assert sorted(solutions[(walks - 1) * n + p] for p in range(n)) == list(range(n))
    with pytest.raises(LaunchRefused, match=r"walks.solution: 153391690 rows of 14 elements: expected less than 2\^31"):
        run(walks + 1)


def test_tables_of_the_largest_instances_have_indices_of_31_bits():
    assert qaplib.MOST_FACILITIES**2 <= WORDS
    for rows, columns in ((1, WORDS + 1), (WORDS + 1, 1), (2**15, 2**16)):
        with pytest.raises(InstanceError, match="costs of at most"):
            perceptron.check_size("large", rows, columns)


# --- exact search ---


def test_the_longest_edge_and_any_city_are_less_than_the_end_of_a_row():
    entry = MOST_LENGTH << 5 | ROW - 2
    assert int(i32(MOST_LENGTH) << 5 | i32(29)) < enumeration.END
    assert entry < enumeration.END
    assert 30 * MOST_LENGTH <= WORDS  # thirty such edges have a sum


def test_lanes_that_hand_on_their_work_at_the_limit(team):
    n = 7
    lanes = WORDS // (ROW * ROW)
    count = lanes * ROW - n
    unfinished = virtual(lanes * ROW * ROW, np.uint8)
    ranked = virtual(n * ROW, np.int32, fill=enumeration.END)
    for city in range(n):
        others = (other for other in range(1, n) if other != city)
        ranked.handle.held.update({city * ROW + k: 1 << 5 | other for k, other in enumerate(others)})
    worklist = enumeration.Worklist(
        ticket=words(0, dtype=np.uint64), end=1, chunk=1, records=0, first=0, depth=1, stored=virtual(ROW, np.uint8),
        unfinished=unfinished, unfinished_count=words(count, dtype=WIDE), room=lanes * ROW, patience=1,
        rounds_to_count=1 << 30,
    )  # fmt: skip
    shared = TourSearch(words(1000), words(*[0] * ROW, dtype=np.uint64), words(0, dtype=np.uint64))
    best = Rows(BestTour(virtual(lanes, np.int32), virtual(lanes * ROW, np.uint8)), lanes)
    reduced = enumeration.ReducedDistances(virtual(n * ROW, np.int32, fill=1), ranked, n, 6)
    team(enumeration.explore, lanes, 1, reduced, worklist, shared, best, False, False)
    assert max(unfinished.handle.held) // ROW >= count


def open_nodes(count):
    fields = (virtual(count * ROW, kind) for kind in (np.int32, WIDE, WIDE))
    return Rows(branch_and_bound.OpenNode(*fields, virtual(count, np.int32)), count)


def test_stacks_of_as_many_lanes_as_are_launched(team):
    n = 6
    room = branch_and_bound.stack_room(n)
    lanes = WORDS // (ROW * room)
    # Two triangles and three edges between them: a shortest tour has two of the three and length 10.
    triangles = {u * ROW + v: 2 for u in range(n) for v in range(n) if u // 3 == v // 3}
    between = {u * ROW + v: 1 for u in range(n) for v in range(n) if abs(u - v) == 3}
    problem = branch_and_bound.OneTreeProblem(virtual(n * ROW, np.int32, fill=9, held=triangles | between), n, 1)
    stacks = open_nodes(lanes * room)
    nodes, counted = words(*[0] * ROW * ROW, dtype=np.uint64), words(0, dtype=np.uint64)
    shared = branch_and_bound.TreeSearch(words(11), nodes, counted, words(0), words(0))
    best = Rows(BestTour(virtual(lanes, np.int32), virtual(lanes * ROW, np.uint8)), lanes)
    team(branch_and_bound.branch_and_bound, lanes, 1, problem, open_nodes(1), 1, stacks, shared, best, True, True)
    assert int(ORACLE.download(counted)[0]) == 3
    assert (lanes - 1) * room <= max(stacks.depth.handle.held) < lanes * room
