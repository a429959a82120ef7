"""Checkpoints of tables: a run resumes from any of them on any device and ranks, with the same answer."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.errors import UserError
from core.problems.tables.knapsack import Knapsack, generate
from core.search import checkpoint
from core.search.checkpoint import Checkpointer, Terminated
from core.search.dp.engine import checkpoints
from core.search.dp.engine.checkpoints import RowCheckpoints, run_in_bands
from core.search.dp.engine.table_search import TableRun
from core.search.dp.held_karp import checkpoint as held_karp_checkpoint
from core.search.dp.held_karp import layers
from core.search.dp.held_karp.balas_simonetti import BalasSimonettiSearch
from core.search.dp.held_karp.neighbourhood import RestrictedSettings
from core.search.dp.held_karp.search import HeldKarp
from core.search.dp.knapsack import search as knapsack_search
from core.search.dp.knapsack.search import KnapsackSearch
from core.search.dp.lcs import checkpoint as lcs_checkpoint
from core.search.dp.lcs import search as lcs_search
from core.search.dp.lcs.search import LongestCommonSubsequence
from core.search.run import Step
from core.search.stop import Iterations
from tests.core.search.dp.tables import best_selection, by_permutations, common_pairs, drawn, letters, random_distances
from tests.core.search.dp.tables import knapsack as make_knapsack
from tests.thread_ranks import on_ranks, twin


@pytest.fixture(autouse=True)
def many_pauses(monkeypatch):
    """Pause after every step of problems with hundreds of steps, and distribute small ones."""
    monkeypatch.setattr(checkpoints, "PROGRESS_INTERVAL_S", 0)
    monkeypatch.setattr(lcs_checkpoint, "FILLS", 0)
    monkeypatch.setattr(held_karp_checkpoint, "PART", 100)
    monkeypatch.setattr(layers, "SMALL_OF_A_CORE", 64)
    monkeypatch.setattr(knapsack_search, "LEAST_PART", {True: 1, False: 1})


class Kind(NamedTuple):
    search: Any
    problem: tuple
    settings: dict
    traces: bool = True

    def run(self, backend, ranks, checkpointer=None, trace=True):
        search = self.search(backend, Rehearsal(ranks) if ranks.size > 1 else ranks, *self.problem, **self.settings)
        return answer(search.run(ranks=ranks, checkpointer=checkpointer, **({"trace": trace} if self.traces else {})))


def answer(result):
    return result.cost, result.hash, None if result.solution is None else result.solution.tolist()


SUMS = generate("subset-sum", 31, seed=1)
SUMS = Knapsack("sums", SUMS.weights // 8, SUMS.values // 8, SUMS.capacity // 8)
PAIR = tuple(letters(string) for string in drawn(1, 200, 300, letters=3))
KINDS = {
    "strings": Kind(LongestCommonSubsequence, PAIR, {}),
    "knapsack": Kind(KnapsackSearch, (SUMS,), {}),
    "knapsack, decisions leave": Kind(KnapsackSearch, (SUMS,), {"room": 4000}),
    "even": Kind(HeldKarp, (random_distances(11, 8, 60, False),), {}),
    "odd": Kind(HeldKarp, (random_distances(10, 8, 60, False),), {}),
    "directed": Kind(HeldKarp, (random_distances(9, 8, 60, True),), {}),
    "restricted": Kind(
        BalasSimonettiSearch, (random_distances(40, 3, 900, False), RestrictedSettings(3, improve=True, rotations=3)),
        {"start": np.arange(40)}, False,
    ),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", KINDS)
SMALL = {
    "strings": KINDS["strings"]._replace(problem=tuple(string[:70] for string in PAIR)),
    "knapsack": KINDS["knapsack"]._replace(problem=(make_knapsack([(1, 2), (2, 4), (2, 5), (3, 8), (4, 10)], 7),)),
    "even": KINDS["even"]._replace(problem=(random_distances(7, 8, 60, False),)),
    "directed": KINDS["directed"]._replace(problem=(random_distances(6, 8, 60, True),)),
}


def copied(kept):
    """Return a function that appends a checkpoint to a list, as a file would store it."""
    return lambda state: kept.append({name: np.array(rows) for name, rows in state.items()})


def states_of(kind, backend, size=1, earlier=None):
    """The result of a run, and a checkpoint at each pause."""
    kept = []
    results = on_ranks(
        size,
        lambda ranks: kind.run(twin(backend), ranks, Checkpointer(copied(kept), earlier if earlier else None, 0.0)),
    )
    assert results == results[:1] * size
    return results[0], kept


def some(kept, most=6):
    return [kept[k] for k in sorted(set(np.linspace(0, len(kept) - 1, most).astype(int).tolist()))]


# --- going on ---


@EVERY
@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_state_leads_to_the_same_answer_on_another_number_of_ranks(name, size, cpu):
    kind = KINDS[name]
    undisturbed = kind.run(cpu, Solo())
    outcome, kept = states_of(kind, cpu, size)
    assert outcome == undisturbed and len(kept) > 3
    for state in some(kept, 4):
        for other in (1, 2, 4):
            again, later = states_of(kind, cpu, other, state)
            assert again == undisturbed
        for further in some(later, 2) if later else []:
            assert states_of(kind, cpu, 1, further)[0] == undisturbed


@pytest.mark.parametrize(
    "name", ["strings", *(pytest.param(name, marks=pytest.mark.slow) for name in SMALL if name != "strings")]
)
def test_states_go_on_on_every_backend(name, device, cpu):
    kind = SMALL[name]
    undisturbed, kept = states_of(kind, cpu)
    assert states_of(kind, device, 1, kept[len(kept) // 2])[0] == undisturbed
    outcome, kept = states_of(kind, device)
    assert outcome == undisturbed
    for state in some(kept, 2):
        assert states_of(kind, cpu, 2, state)[0] == undisturbed


@EVERY
def test_a_run_that_is_ended_at_every_pause_comes_to_the_end(name, cpu, monkeypatch):
    monkeypatch.setattr(held_karp_checkpoint, "PART", 1 << 20)  # the computed part of a layer is lost
    kind = KINDS[name]
    for size in (1, 2):
        earlier, lives = [None], 0

        def live(ranks, earlier=earlier):
            checkpointer = Checkpointer(copied(earlier), earlier[-1], 1e9)
            checkpointer.asked = ranks.rank == ranks.size - 1  # another rank than the one that writes
            return kind.run(twin(cpu), ranks, checkpointer)

        # A slow machine pauses more often. The time limit of tests ends a run without progress.
        while True:
            lives += 1
            try:
                results = on_ranks(size, live)
                break
            except Terminated as end:
                assert end.code == 143
        assert lives > 2
        assert results == [kind.run(cpu, Solo())] * size


@EVERY
def test_states_that_all_ranks_hold_lead_to_the_same_answer_for_those_who_are_left(name, cpu, monkeypatch):
    monkeypatch.setattr(checkpoint, "HOLD_EVERY_S", 0)
    monkeypatch.setattr(checkpoint, "HOLD_RATIO", 0)
    kind = KINDS[name]
    held = [[] for _ in range(3)]
    results = on_ranks(
        3, lambda ranks: kind.run(twin(cpu), ranks, Checkpointer(None, None, hold=held[ranks.rank].append))
    )
    undisturbed = kind.run(cpu, Solo())
    assert results == [undisturbed] * 3 and len(held[0]) == len(held[2]) > 3
    for state in some(held[1], 4):  # as they are in memory after all that the run did behind them
        assert states_of(kind, cpu, 2, state)[0] == undisturbed


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.traces])
def test_the_length_alone_goes_on_too(name, cpu):
    kind = KINDS[name]
    undisturbed = kind.run(cpu, Solo(), trace=False)
    assert undisturbed[2] is None
    kept = []
    assert kind.run(cpu, Solo(), Checkpointer(copied(kept), None, 0.0), trace=False) == undisturbed
    for state in some(kept, 3):
        for size in (1, 3):
            checkpointer = lambda state=state: Checkpointer(lambda state: None, state, 0.0)  # noqa: E731
            results = on_ranks(
                size, lambda ranks, checkpointer=checkpointer: kind.run(twin(cpu), ranks, checkpointer(), trace=False)
            )
            assert results == [undisturbed] * size


# --- against plain tables, ended anywhere ---

TEXT = st.text("abc", min_size=1, max_size=150)
LIVES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 9)), max_size=5)
"""Number of ranks of each part of a run, and the pause at which it ends."""
WEIGHTS = st.one_of(st.integers(0, 9), st.integers(0, 90))
ITEMS = st.lists(st.tuples(WEIGHTS, st.integers(0, 60)), min_size=1, max_size=16)


def through(kind, backend, lives):
    earlier = None
    for size, pause in lives:
        kept = []

        def live(ranks, kept=kept, pause=pause, earlier=earlier):
            checkpointer = Checkpointer(copied(kept), earlier, 0.0)
            keep = checkpointer.keep

            def counted(ranks, state):
                keep(ranks, state)
                checkpointer.asked = len(kept) >= pause - 1

            checkpointer.keep = counted
            return kind.run(twin(backend), ranks, checkpointer)

        try:
            return on_ranks(size, live)[0]
        except Terminated:
            earlier = kept[-1]
    return kind.run(backend, Solo(), Checkpointer(lambda state: None, earlier, 1e9))


@settings(max_examples=25, deadline=None)
@given(TEXT, TEXT, LIVES)
def test_strings_have_the_pairs_of_the_table_whenever_runs_are_ended(cpu, text, other, lives):
    a, b = text.encode(), other.encode()
    outcome = through(Kind(LongestCommonSubsequence, (letters(a), letters(b)), {}), cpu, lives)
    assert [tuple(pair) for pair in outcome[2]] == common_pairs(a, b)


@settings(max_examples=25, deadline=None)
@given(ITEMS, st.integers(0, 400), LIVES)
def test_knapsacks_have_the_selection_of_the_table_whenever_runs_are_ended(cpu, items, capacity, lives):
    instance = make_knapsack(items, capacity)
    value, _, chosen = through(Kind(KnapsackSearch, (instance,), {}), cpu, lives)
    assert (value, set(np.flatnonzero(chosen).tolist())) == best_selection(instance)


@settings(max_examples=12, deadline=None)
@given(st.integers(3, 8), st.booleans(), st.integers(0, 99), LIVES)
def test_tours_are_shortest_whenever_runs_are_ended(cpu, n, directed, seed, lives):
    distances = random_distances(n, seed, 30, directed)
    outcome = through(Kind(HeldKarp, (distances,), {}), cpu, lives)
    assert outcome[0] == by_permutations(distances)


# --- memory ---


def test_a_trace_behind_a_state_goes_block_by_block_where_bits_do_not_fit(cpu, monkeypatch):
    undisturbed, kept = states_of(KINDS["strings"], cpu)
    monkeypatch.setattr(lcs_search, "host_bytes", lambda: 2000)
    for size in (1, 2):
        for state in some(kept, 4):
            kind = KINDS["strings"]._replace(settings={"room": 600})
            assert states_of(kind, cpu, size, state)[0] == undisturbed


@pytest.mark.parametrize("name", ["strings", "knapsack"])
@pytest.mark.parametrize("limit", ["MOST_ROWS", "MOST_BYTES"])
def test_a_state_without_room_for_all_rows_leads_to_the_same_answer(name, limit, cpu, monkeypatch):
    undisturbed = KINDS[name].run(cpu, Solo())
    monkeypatch.setattr(checkpoints, limit, 2)
    earlier = None
    for _ in range(3):
        outcome, kept = states_of(KINDS[name], cpu, 1, earlier)
        assert outcome == undisturbed
        assert all(len(state["places"]) <= (2 if limit == "MOST_ROWS" else 1) for state in kept)
        earlier = kept[len(kept) // 3]


def test_rows_go_whose_neighbours_are_close_and_never_the_last(monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST_ROWS", 3)
    rows = RowCheckpoints()
    for place in (10, 20, 21, 40, 41):
        rows = rows.with_row(place, np.full(2, place))
        assert rows.last[0] == place
    assert rows.places == [20, 40, 41] or rows.places == [10, 21, 41]
    assert [row[0] for row in rows.rows] == rows.places
    same = RowCheckpoints.of(rows.state(2, np.int64))
    assert same.places == rows.places and same.before(41).places == rows.places[:-1]


def test_a_layer_that_is_too_large_is_said_before_the_run_and_computed_again(cpu, monkeypatch):
    kind = KINDS["even"]
    undisturbed = kind.run(cpu, Solo())
    monkeypatch.setattr(held_karp_checkpoint, "MOST_BYTES", 2 * 3 * 120 + 1)  # paths through 3 of 10 cities
    with pytest.warns(UserWarning, match="^layers of more than 3 cities are no part of a state"):
        outcome, kept = states_of(kind, cpu, 2)
    assert outcome == undisturbed and max(int(state["at"][0]) for state in kept) == 3
    with pytest.warns(UserWarning):
        assert states_of(kind, cpu, 1, kept[-1])[0] == undisturbed


# --- refusals ---


def test_a_run_without_states_refuses_to_keep_one(cpu):
    square = random_distances(6, 1, 9, False)
    for search, problem, changes, way in (
        (
            LongestCommonSubsequence,
            PAIR,
            {"tiling": "published"},
            "--mapping published: it has no checkpoints: expected --mapping n",
        ),
        (
            KnapsackSearch,
            (SUMS,),
            {"tiling": "published"},
            "--mapping published: it has no checkpoints: expected --mapping n",
        ),
        (HeldKarp, (square,), {"tiling": "published"}, "--mapping published"),
        (HeldKarp, (square,), {"tiling": "none"}, "--tiling none: it has no checkpoints"),
        (KnapsackSearch, (SUMS,), {"tiling": "none"}, "--tiling none: it has no checkpoints: expected"),
        (LongestCommonSubsequence, PAIR, {"tiling": "tiles"}, "--tiling tiles: it has no checkpoints"),
        (BalasSimonettiSearch, (square, RestrictedSettings(3)), {}, "a single pass: it has no checkpoints"),
    ):
        with pytest.raises(UserError) as refusal:
            search(cpu, Solo(), *problem, **changes).run(checkpointer=Checkpointer(lambda state: None))
        assert str(refusal.value).startswith(f"--checkpoint with {way}") and "\n" not in str(refusal.value)


def test_restricted_passes_are_counted_from_the_first_life_on(cpu):
    kind = KINDS["restricted"]
    _, kept = states_of(kind, cpu)
    search = kind.search(cpu, Solo(), *kind.problem, **kind.settings)
    outcome = search.run(Iterations(3), checkpointer=Checkpointer(lambda state: None, kept[0], 1e9))
    assert outcome.passes == 3 and answer(outcome) == answer(search.run(Iterations(3)))


# --- pauses ---


def test_pauses_come_a_quarter_of_a_second_after_each_other(monkeypatch):
    monkeypatch.setattr(checkpoints, "PROGRESS_INTERVAL_S", 0.25)
    clock, steps, kept = 0.0, [], []
    monkeypatch.setattr("time.perf_counter", lambda: clock)

    class Rows:
        """A table of 1,200 rows that take a hundredth of a second each."""

        def begin(self, run, checkpoint):
            assert checkpoint is None

        def step(self, run):
            nonlocal clock
            steps.append(run.budget().steps)
            clock += 0.01 * steps[-1]
            return Step(steps[-1], undone=int(clock < 12))

        def checkpoint(self, run):
            return {}

        def layout(self, run, state):
            return []

        def result(self, run):
            return clock

    run = TableRun(True, None, Solo(), Checkpointer(lambda state: kept.append(clock), None, 10.0))
    assert 12 <= run_in_bands(Rows(), run) < 12.3
    assert steps[:5] == [1, 2, 4, 8, 16] and set(steps[6:]) <= {24, 25, 26}
    assert len(kept) == 1 and 10 <= kept[0] < 10.3
