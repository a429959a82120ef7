"""The paper's own mapping makes the same search as the suite's, and lays it on a device as the paper says."""

import numpy as np
import pytest

from backends.tuning import ShapeTuner
from cluster import Solo
from core.errors import UserError
from core.local_search import HillClimbing, Iterations, LocalSearch, Seconds, SimulatedAnnealing, TabuSearch
from core.local_search.host_loop import blocks_of
from core.local_search.kernels.fitness_reduction import BLOCK, reduction_kernels
from core.local_search.kernels.hooks import BEST, FIRST, NO_KEY
from core.local_search.kernels.moves import NEVER
from core.ppp import perceptron
from core.ppp import problem as ppp_problem
from core.qap import problem as qap_problem
from tests.backends.fake_cuda import MS_A_LAUNCH, FakeCuda
from tests.core.local_search.neighbours import neighbours
from tests.core.local_search.table import ALGORITHMS, PROBLEMS, cases, named, result_of

# problem, neighbourhoods, algorithm, who selects
ROWS = [
    ("qap", "exchange2", "tabu", "host"),
    ("qap", "exchange2+exchange3", "vns", "device"),
    ("ppp", "flip2", "tabu", "host"),
    ("ppp", "flip3", "first", "device"),
    ("tsp", "exchange2", "tabu of moves", "device"),
    ("tsp", "2opt", "ils", "host"),
    ("weierstrass", "crowns", "tabu", "host"),
    ("order", "insert", "ils", "host"),
    ("order", "blocks", "hill", "device"),
    ("colours", "assign", "tabu", "host"),
    ("qap", "exchange3", "hill", "host"),
]


def make_search(backend, row, ranks=None, **how):
    """The search of a row, in the suite's mapping by default."""
    problem, names, algorithm, _ = row
    return LocalSearch(
        backend, ranks or Solo(), PROBLEMS[problem](), ALGORITHMS[algorithm], names.split("+"), seed=3, **how
    )


def published(backend, row, **how):
    return make_search(backend, row, mapping="published", select=row[3], **how)


@pytest.mark.parametrize("row", cases([ROWS[0], ROWS[4]], [ROWS[k] for k in (1, 2, 3, 5, 6, 7, 8, 9, 10)]))
def test_the_paper_s_mapping_is_the_same_search_on_every_backend(backend, row, cpu):
    """If the host selects moves, it may also make the neighbours, but no custom ones."""
    expected = result_of(make_search(cpu, row))
    assert result_of(published(backend, row)) == expected
    if row[3] == "host" and row[0] != "weierstrass":
        assert result_of(published(backend, row, generate="host")) == expected


@pytest.mark.parametrize("row", [ROWS[5], ROWS[7], ROWS[9]], ids=named)
def test_plain_python_evaluates_what_a_host_copies(python, row, cpu):
    search = published(python, row, generate="host")
    assert result_of(search, Iterations(2)) == result_of(make_search(cpu, row), Iterations(2))


@pytest.mark.parametrize(
    ("layout", "select"), [("columns", "host"), pytest.param("rows", "device", marks=pytest.mark.slow)]
)
def test_a_layout_of_histograms_is_the_same_search_on_every_backend(backend, layout, select, cpu):
    problem = ppp_problem.Ppp(perceptron.load("9-11"), layout=layout)
    search = LocalSearch(backend, Solo(), problem, TabuSearch(), "flip2", mapping="published", select=select, seed=3)
    assert result_of(search, Iterations(3)) == result_of(make_search(cpu, ROWS[2]), Iterations(3))


@pytest.mark.parametrize("row", cases([("qap", "exchange2", "hill", "device")], [("ppp", "flip2", "tabu", "device")]))
def test_walks_one_after_another_find_what_they_find_side_by_side(cpu, row):
    """The paper's sequence of 100 hill climbs (section 6.7)."""
    side_by_side = result_of(make_search(cpu, row, level="algorithm", walks=5))
    search = published(cpu, row, walks=5)
    assert [result_of(search), result_of(search)] == [side_by_side] * 2


def test_no_walk_begins_after_the_time_is_over(cpu, counted_time):
    search = published(cpu, ROWS[0], walks=1000)
    outcome = search.run(Seconds(0.2) | Iterations(10**6))
    assert 0 < outcome.iterations < 10**8


@pytest.mark.parametrize("row", cases(ROWS[:1], ROWS[1:3]))
def test_thread_control_tries_shapes_of_the_kernel_that_evaluates(python, row, cpu):
    def tune(kernel, n, size):
        assert kernel.name == "write_fitness"
        return ShapeTuner(python.capabilities._replace(max_team_size=8), n, size, 2)

    search = published(python, row, tune=tune)
    assert result_of(search) == result_of(make_search(cpu, row))
    assert search.launcher.shape.tuner.done


@pytest.mark.parametrize(("select", "launches"), [("host", 2), ("device", 3)])
def test_the_host_waits_once_in_an_iteration_and_all_launches_count(cpu, select, launches):
    search = make_search(FakeCuda(), ROWS[0], mapping="published", select=select)
    assert result_of(search, Iterations(5)) == result_of(make_search(cpu, ROWS[0]), Iterations(5))
    search.walks.begin(Iterations(40), None)
    search.backend.rest()
    before = search.backend.waits
    search.iterate(20)
    assert search.backend.waits - before == 20
    assert search.backend.timings.kernel_s == pytest.approx(20 * launches * MS_A_LAUNCH * 1e-3)


# --- how it is laid on the device ---


@pytest.mark.parametrize(
    ("select", "reduced"), [("host", []), ("device", [("reduce_fitnesses", 2, 256), ("reduce_keys", 1, 256)])]
)
def test_every_neighbour_has_a_lane_of_a_team_of_256(python, launches, select, reduced):
    problem = ppp_problem.Ppp.load("9-40")
    search = LocalSearch(python, Solo(), problem, HillClimbing(), "flip2", mapping="published", select=select)
    search.run(Iterations(1))
    # 40 * 39 / 2 neighbours are 4 teams; the fitnesses are 2 blocks of 512.
    assert launches[-3 - len(reduced) : -2] == [("write_fitness", 4, 256), *reduced]


EVALUATIONS = [("qap", "exchange2", "linear"), ("ppp", "flip2", "histogram"), ("tsp", "exchange2", "table")]


@pytest.mark.parametrize(
    ("problem", "name", "evaluation"), [*EVALUATIONS, ("weierstrass", "crowns", "full"), ("colours", "assign", "delta")]
)
def test_neighbours_are_evaluated_as_the_paper_does(cpu, problem, name, evaluation):
    search = LocalSearch(cpu, Solo(), PROBLEMS[problem](), TabuSearch(), name, mapping="published")
    assert search.plan.evaluation.name == evaluation
    assert (search.plan.execution["mapping"], search.plan.execution["evaluation"]) == ("published", evaluation)


def test_cities_that_the_suite_places_in_the_plane_are_looked_up_in_a_table(cpu, monkeypatch):
    monkeypatch.setattr("core.tours.problem.LARGEST_TABLE", 0)
    names = [
        LocalSearch(cpu, Solo(), PROBLEMS["tsp"](), TabuSearch(), "exchange2", mapping=mapping).plan.evaluation.name
        for mapping in ("native", "published")
    ]
    assert names == ["coordinates", "table"]


def copied_bytes(cpu, **how):
    search = LocalSearch(cpu, Solo(), qap_problem.Qap.load("taillard:40:seeds=1,2"), TabuSearch(), "exchange2", **how)
    search.walks.begin(Iterations(9), None)
    before = cpu.timings.copied_bytes
    search.iterate(5)
    return cpu.timings.copied_bytes - before


def test_what_is_copied_depends_on_who_selects_and_who_generates(cpu):
    """A reduction copies one key, selection on the host all fitnesses; a host that generates, the solutions too."""
    on_host, on_device = (copied_bytes(cpu, mapping="published", select=select) for select in ("host", "device"))
    assert on_host - on_device == 5 * (4 * 780 - 8)

    assert copied_bytes(cpu, mapping="published", select="host", generate="host") - on_host == 5 * 4 * 40 * (780 + 1)


@pytest.mark.parametrize("count", [1, BLOCK + 1, BLOCK * BLOCK + 1])
def test_a_reduction_finds_the_smallest_key(backend, count):
    if backend.is_reference and count > 2 * BLOCK:
        pytest.skip("minutes of plain Python")
    draw = np.random.default_rng(count)
    fitnesses = draw.integers(-3, 40, count).astype(np.int32)
    fitnesses[draw.random(count) < 0.3] = NEVER
    team_size = min(32 if backend.is_reference else 256, backend.capabilities.max_team_size)
    first = 1000
    for values in (fitnesses, np.abs(fitnesses), np.full(count, NEVER, np.int32)):
        best = int(np.argmin(values))
        better = np.flatnonzero(values < 0)
        expected = {
            BEST: NO_KEY if values[best] == NEVER else (int(values[best]) + 2**31 << 32) | (first + best),
            FIRST: first + int(better[0]) if better.size else NO_KEY,
        }
        for rule, key in expected.items():
            (of_fitnesses, of_keys), left = reduction_kernels(rule), blocks_of(count)
            keys, fewer = backend.allocate(left, np.uint64), backend.allocate(blocks_of(left), np.uint64)
            backend.launch(of_fitnesses, 3, team_size, first, first + count, backend.upload(values), keys)
            while left > 1:
                backend.launch(of_keys, 2, team_size, left, keys, fewer)
                left, keys, fewer = blocks_of(left), fewer, keys
            assert backend.read(keys, 0, 1)[0] == key


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_histograms_lie_as_their_layout_says(python, layout):
    instance = perceptron.load("9-11")
    problem = ppp_problem.Ppp(instance, layout=layout)
    search = LocalSearch(python, Solo(), problem, HillClimbing(), "flip2", mapping="published", select="host")
    search.walks.begin(Iterations(9), None)
    search.launcher.evaluate(0, range(55))
    lanes, groups = search.launcher.memory.data.bundle.lanes, instance.n + 1
    cells = python.download(search.launcher.memory.data.bundle.counts)
    by_lane = cells.reshape(groups, lanes).T if layout == "columns" else cells.reshape(lanes, groups)
    solution = python.download(search.launcher.memory.walkers.solution)
    assert lanes == 256
    for lane, other in enumerate(neighbours("flip2", solution, 2)):
        products = instance.matrix.astype(int) @ (2 * np.array(other) - 1)
        expected = np.bincount((products + instance.n) // 2, minlength=groups)
        assert by_lane[lane].tolist() == expected.tolist()


# --- what is refused ---


@pytest.mark.parametrize(
    ("algorithm", "how", "words"),
    [
        (TabuSearch(), {"mapping": "paper"}, "mapping='paper': expected one of native, published"),
        (TabuSearch(), {"level": "solution"}, "mapping published at the solution level: expected level iteration"),
        (TabuSearch(), {"walks": 0}, "walks=0: expected an integer of at least 1"),
        (TabuSearch(), {"walks": 3, "exchange": 5}, "use level algorithm"),
        (TabuSearch(), {"walks": 3, "history": True}, "a history of 3 walks one after another: expected 1 walk"),
        (
            TabuSearch(),
            {"evaluation": "incremental"},
            "mapping published with evaluation incremental: expected linear, the paper's",
        ),
        (SimulatedAnnealing(), {}, "mapping published for simulated annealing: expected an algorithm that looks at"),
    ],
)
def test_what_the_paper_does_not_map_is_refused(cpu, algorithm, how, words):
    with pytest.raises(UserError, match=words):
        LocalSearch(
            cpu,
            Solo(),
            qap_problem.Qap.load("taillard:6:seeds=1,2"),
            algorithm,
            "exchange2",
            **{"mapping": "published"} | how,
        )


def test_a_layout_that_there_is_not_and_arrays_beyond_32_bits_are_refused(cpu):
    with pytest.raises(UserError, match="histograms in layout 'tiles': expected local, columns, rows"):
        ppp_problem.Ppp.load("9-11", layout="tiles")
    on_host = {"mapping": "published", "select": "host", "generate": "host"}
    with pytest.raises(UserError, match=r"2001000 whole neighbours of 2001 elements from the host: expected less than"):
        LocalSearch(cpu, Solo(), ppp_problem.Ppp.load("3-2001"), TabuSearch(), "flip2", **on_host)
    with pytest.raises(UserError, match="crowns: the host makes no custom neighbours; let the device generate them"):
        LocalSearch(cpu, Solo(), PROBLEMS["weierstrass"](), TabuSearch(), "crowns", **on_host)
    problem = ppp_problem.Ppp.load("3-2000", layout="rows")
    with pytest.raises(UserError, match=r"histograms of 2001 groups for 1100000 neighbours .* use layout local"):
        problem.with_room(problem.data_for("histogram"), 1_100_000)
