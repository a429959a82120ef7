"""A search resumes from any checkpoint, on any backend and number of ranks, with the result of an undisturbed run."""

import numpy as np
import pytest

from backends.cpu.threads import ThreadsBackend
from cluster import Solo
from core import local_search
from core.ant_colony import AntColony, Settings
from core.errors import UserError
from core.exact import ExactSearch
from core.hill_climbing.outcome import HillClimbOutcome as Climbs
from core.hill_climbing.search import HillClimbing
from core.local_search import search as search_module
from core.local_search.kernels import walks as walk_words
from core.run.checkpoint import SECONDS, Checkpointer
from core.run.stop import Iterations, Stop
from core.tables.knapsack.branch_and_bound import KnapsackBranchAndBound
from core.weierstrass.problem import Weierstrass
from tests.core.local_search import rules
from tests.core.run.searches import HARD, KINDS, QAP, Kind, cities
from tests.thread_ranks import on_ranks, twin

SEARCHES = (local_search.LocalSearch, HillClimbing, AntColony, ExactSearch, KnapsackBranchAndBound)
SLOW = Settings(ants=5, variant="mmas", candidates=4, best_every=3, stagnation=2)
SIXTY = Iterations(60)
EVEN = 1 - np.eye(8, dtype=int)


def walks(settings, algorithm=QAP[1], names="exchange2", stop=SIXTY, problem=QAP[0]):
    return Kind(
        local_search.LocalSearch, (problem, algorithm, names), {"level": "algorithm", "walks": 2, **settings}, stop, ""
    )


def ants(n, iterations, settings, **more):
    return Kind(AntColony, (cities(n), settings), more, Iterations(iterations), "")


def exact(distances, **settings):
    return Kind(ExactSearch, (distances,), {"count": True, **settings}, None, "")


MORE = {
    "walks in turn": walks({"level": "iteration", "walks": 3, "mapping": "published"}, stop=Iterations(90)),
    "walks that exchange": walks({"walks": 3, "exchange": 4, "history": True}),
    "annealing": walks({"exchange": 2, "history": True}, local_search.SimulatedAnnealing()),
    "a descent in turns": walks(
        {"exchange": 4},
        local_search.VariableNeighbourhoodSearch(),
        ("exchange2", "exchange3"),
        Stop(iterations=60, patience=30),
    ),
    "late acceptance that restarts": walks(
        {"walks": 3, "exchange": 5, "history": True}, local_search.Rule(rules.late, lag=7, batch=5, restart=11)
    ),
    "late acceptance": Kind(
        local_search.LocalSearch, (QAP[0], local_search.Rule(rules.late, lag=50, batch=5), "exchange2"), {}, SIXTY, ""
    ),
    "a threshold": walks(
        {}, local_search.Rule(rules.below_threshold, rules.Threshold(np.array([90, 20, 0], np.int32), 20), restart=30)
    ),
    "annealing that restarts": walks({}, local_search.SimulatedAnnealing(plateau=7, batch=5, restart=9)),
    "shakes that grow and restarts": walks(
        {"level": "iteration", "walks": 2, "mapping": "published"}, local_search.VariableNeighbourhoodSearch(restart=5)
    ),
    "points drawn around": walks({}, names="crowns", problem=Weierstrass("2", points=5)),
    "ants, limited": ants(30, 12, SLOW, seed=2),
    "colonies that exchange": ants(20, 14, SLOW._replace(colonies=3, exchange=4)),
    "ants as published": ants(20, 9, Settings(ants=6), mapping="published")._replace(shared=False),
    "1-trees, counted": exact(EVEN),
    "the thesis' bound, counted": exact(cities(9), bound="edges", depth=3),
    "all tours, counted": exact(EVEN, bound="none"),
    "the thesis' mapping, counted": exact(cities(9), bound="none", mapping="published"),
}
CASES = {**{name: kind for name, kind in KINDS.items() if kind.search in SEARCHES}, **MORE}
QUICK = ("walks that exchange", "late acceptance that restarts", "hill climbing", "colonies that exchange", "ants as published", "1-trees, counted",
         "the thesis' bound, counted", "knapsack bounded")  # fmt: skip
"""One search for every kind of state; `make test-all` runs the others too."""


def marked(names):
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names]


SHARED = marked(name for name, kind in CASES.items() if kind.shared)


class Kept:
    """Checkpointers that keep every state."""

    def __init__(self):
        self.states = []

    def checkpointer(self, earlier=None):
        def write(state):
            self.states.append({name: np.array(array) for name, array in state.items()})

        return Checkpointer(write, earlier, every_s=0.0)


@pytest.fixture(scope="module")
def other():
    return ThreadsBackend(ThreadsBackend.devices()[0])


def impatient(search):
    """Check often, so that small searches have many checkpoints, and redistribute remaining items."""
    method = getattr(search, "method", None)
    if method is not None:
        for name, value in (("patience", 7), ("patience_kept", 7), ("slice_seconds", 1e-9)):
            if hasattr(method, name):
                setattr(method, name, value)
        if hasattr(method, "least_slice") and not hasattr(method, "waiting"):
            method.least_slice = method.first_slice = method.most_slice = 400
    return search


def run(kind, backend, ranks, checkpointer=None):
    search = impatient(kind.make(backend, ranks))
    history = (
        kind.settings.get("history", False)
        if kind.search is local_search.LocalSearch
        else kind.search is not KnapsackBranchAndBound
    )
    return search.run(kind.stop, history=history, ranks=ranks, checkpointer=checkpointer)


def said(outcome):
    """Results that must not depend on place and interruptions."""
    # The host checks climbs between launches, so the improvements in its history depend on the times of checks.
    history = (
        None
        if outcome.history is None or isinstance(outcome, Climbs)
        else [(row[0], row[3]) for row in outcome.history]
    )
    counts = (
        getattr(outcome, "evaluations", None) if not hasattr(outcome, "nodes") else getattr(outcome, "optimal_tours", 0)
    )
    return outcome.hash, outcome.cost, outcome.solution.tolist(), history, counts, outcome.finished


UNDISTURBED = {}


def undisturbed(name, cpu):
    if name not in UNDISTURBED:
        UNDISTURBED[name] = run(CASES[name], cpu, Solo())
    return UNDISTURBED[name]


def same(name, outcome, expected):
    if CASES[name].search is ExactSearch:
        assert (outcome.cost, outcome.hash, outcome.optimal_tours, outcome.finished) == (
            expected.cost, expected.hash, expected.optimal_tours, expected.finished,
        )  # fmt: skip
        distances = CASES[name].problem[0]
        assert distances[outcome.tour, np.roll(outcome.tour, -1)].sum() == outcome.cost
    else:
        assert said(outcome) == said(expected)


@pytest.fixture(params=marked(CASES))
def name(request):
    return request.param


def kept_states(name, backend):
    kept = Kept()
    outcome = run(CASES[name], backend, Solo(), kept.checkpointer())
    return kept.states, outcome


def some(states, most=4):
    return [states[k] for k in sorted({round(x) for x in np.linspace(0, len(states) - 1, most)})] if states else []


def test_a_run_keeps_states_and_goes_on_from_each_as_if_nothing_had_been(name, cpu):
    states, outcome = kept_states(name, cpu)
    same(name, outcome, undisturbed(name, cpu))
    # The root alone solves one, and the other's first launch.
    assert states or name in ("1-trees", "knapsack bounded")
    for state in some(states, 8):
        same(name, run(CASES[name], cpu, Solo(), Kept().checkpointer(state)), undisturbed(name, cpu))


def test_a_run_goes_on_on_another_backend(name, cpu, other):
    states, _ = kept_states(name, cpu)
    for state in some(states, 2):
        kept = Kept()
        same(name, run(CASES[name], other, Solo(), kept.checkpointer(state)), undisturbed(name, cpu))
        for later in some(kept.states, 1):
            same(name, run(CASES[name], cpu, Solo(), Kept().checkpointer(later)), undisturbed(name, cpu))


@pytest.mark.parametrize("name", SHARED)
def test_a_run_goes_on_on_another_number_of_ranks_and_back(name, cpu):
    kind = CASES[name]
    states, _ = kept_states(name, cpu)
    for state in some(states, 3):
        kept = Kept()

        def act(ranks, state=state, kept=kept):
            return run(kind, twin(cpu), ranks, kept.checkpointer(state))

        for found in on_ranks(2, act):
            same(name, found, undisturbed(name, cpu))
        for later in some(kept.states, 2):
            same(name, run(kind, cpu, Solo(), Kept().checkpointer(later)), undisturbed(name, cpu))


@pytest.mark.parametrize(
    "name", marked(name for name in CASES if "turn" in name or "late" in name or "restart" in name)
)
def test_a_run_that_ends_at_every_pause_and_goes_on_elsewhere_is_the_undisturbed_one(name, cpu, other, monkeypatch):
    monkeypatch.setattr(search_module, "MOST_GROWTH", 1)
    kind, state = CASES[name], None
    for pauses in range(100):
        kept = Kept()
        if pauses % 3 == 2:
            outcomes = on_ranks(2, lambda ranks: run(kind, twin(cpu), ranks, kept.checkpointer(state)))  # noqa: B023
        else:
            outcomes = [run(kind, (cpu, other)[pauses % 2], Solo(), kept.checkpointer(state))]
        for found in outcomes:
            same(name, found, undisturbed(name, cpu))
        if len(kept.states) < 4:
            break
        state = kept.states[3]
    assert 3 <= pauses < 99


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("late acceptance that restarts", "memory", slice(0, -walk_words.RESTART_WORDS)),
        ("late acceptance that restarts", "memory", -walk_words.RESTARTS),
        ("late acceptance that restarts", "memory", -walk_words.BEGAN_AT),
        pytest.param("annealing that restarts", "heat", 0, marks=pytest.mark.slow),
    ],
)
def test_what_decides_a_walk_that_restarts_is_part_of_a_state(name, array, words, cpu):
    states, _ = kept_states(name, cpu)
    state = dict(states[len(states) // 2])
    state[array] = state[array].copy()
    state[array][:, words] = 0
    outcome = run(CASES[name], cpu, Solo(), Kept().checkpointer(state))
    assert outcome.hash != undisturbed(name, cpu).hash


def test_states_have_the_seconds_of_all_that_went_before(cpu):
    kept = Kept()
    kind = CASES["ants"]
    run(kind, cpu, Solo(), kept.checkpointer())
    later = dict(kept.states[0], **{SECONDS: np.array(1000.0)})
    outcome = run(kind, cpu, Solo(), kept.checkpointer(later))
    assert outcome.history[-1][2] >= outcome.history[0][2]
    assert kept.states[-1][SECONDS] > 1000


def test_the_ants_of_one_mapping_go_on_from_the_state_of_the_other(cpu):
    expected = undisturbed("ants as published", cpu)
    published = CASES["ants as published"]
    suite = published._replace(settings={})
    for one, other in ((published, suite), (suite, published)):
        kept = Kept()
        run(one, cpu, Solo(), kept.checkpointer())
        for state in some(kept.states, 3):
            assert said(run(other, cpu, Solo(), Kept().checkpointer(state))) == said(expected)


def test_a_search_that_wide_devices_left_goes_on_on_one_core(cpu):
    """The one core has no memory for all records."""
    name = "the thesis' bound, counted"
    states, _ = kept_states(name, cpu)
    state = max(states, key=lambda one: len(one["left records"]))
    assert len(state["left records"]) > 8
    narrow = impatient(CASES[name].make(cpu, Solo()))
    narrow.method.room = 3
    same(name, narrow.run(history=True, checkpointer=Kept().checkpointer(state)), undisturbed(name, cpu))


def test_records_that_wait_for_room_are_part_of_a_state(cpu):
    """All tours have the same length, so the count shows lost records."""

    def states(state, room):
        kept, search = Kept(), impatient(ExactSearch(cpu, Solo(), EVEN, bound="none", depth=2, count=True))
        search.method.room = room
        assert search.run(checkpointer=kept.checkpointer(state)).optimal_tours == 2520
        return kept.states

    counting = [one for one in states(None, 4096) if one["found"][1]]
    many = max(counting, key=lambda one: len(one["left records"]))
    assert len(many["left records"]) > 1
    for state in some(states(many, 1)):
        states(state, 4096)


@pytest.mark.parametrize(
    ("name", "other", "said"),
    [
        ("1-trees, counted", "the thesis' bound", "'bound': found a search with bound one-tree, expected bound edges"),
        ("ants", "colonies", r"'numbers': found uint32 of shape \(1, 4\), expected uint32 of shape \(2, 4\)"),
        ("the thesis' bound", "the thesis' mapping", r"'left records': found \d+ parts of items, which"),
        ("tabu search", "several walks", r"'control': found int32 of shape \(1, 13\), expected int32 of shape \(3"),
    ],
)
def test_a_state_of_another_search_is_refused_in_one_line(name, other, said, cpu):
    states, _ = kept_states(name, cpu)
    state = max(states, key=lambda one: len(one.get("left records", ())))
    with pytest.raises(UserError, match="^the state of the search: array " + said) as refusal:
        run(CASES[other], cpu, Solo(), Kept().checkpointer(state))
    assert "\n" not in str(refusal.value)


def test_branch_and_bound_of_a_knapsack_goes_on_where_it_stood(cpu):
    whole = KnapsackBranchAndBound(cpu, Solo(), HARD, most_nodes=50_000).run()
    kept = Kept()
    assert (
        KnapsackBranchAndBound(cpu, Solo(), HARD, most_nodes=20_000).run(checkpointer=kept.checkpointer()).nodes
        == 20_000
    )
    assert kept.states
    for state in kept.states:
        ended = KnapsackBranchAndBound(cpu, Solo(), HARD, most_nodes=50_000).run(
            checkpointer=Kept().checkpointer(state)
        )
        assert (ended.value, ended.nodes, ended.chosen.tolist()) == (whole.value, whole.nodes, whole.chosen.tolist())


@pytest.mark.parametrize("name", ["Held and Karp", "restricted", "strings", "knapsack", "knapsack by a core"])
def test_dynamic_programming_keeps_no_state(name, cpu):
    search = KINDS[name].make(cpu, Solo())
    with pytest.raises(UserError, match="^--checkpoint: .* has none, since it takes seconds; leave it out$"):
        search.run(checkpointer=Kept().checkpointer())
    # States in memory, for lost ranks, are not written: the others begin again.
    assert search.run(checkpointer=Checkpointer(None)).hash == search.run().hash


def test_rows_that_a_checkpoint_is_to_have_are_rows_of_the_data(cpu, monkeypatch):
    monkeypatch.setattr(Weierstrass, "remembered", ("moves",))
    said = r"^weierstrass:2: `remembered` names 'moves', expected rows of the data: state, costs, squares$"
    with pytest.raises(UserError, match=said):
        CASES["points drawn around"].make(cpu, Solo())
