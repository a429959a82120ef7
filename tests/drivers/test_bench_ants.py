"""The bench of ant colonies: both C yardsticks walk the same tours, and published figures stand beside ours."""

import shutil

import numpy as np
import pytest

import backends
from cluster import Solo
from core.problems import tsp
from core.search.ant_colony import AntColony, Settings
from core.search.ant_colony.colony import Colony
from drivers import bench_ants
from drivers.endings import run_driver

INSTANCES = ("uniform:3:seed=1", "uniform:32:seed=2", "uniform:33:seed=3", "uniform:70:seed=4")


@pytest.fixture(scope="module")
def cpu():
    made = backends.create("cpu")
    yield made
    made.close()


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("the C yardsticks need gcc")
    return bench_ants.compiled_yardsticks(str(tmp_path_factory.mktemp("yardstick")))


@pytest.fixture(params=bench_ants.C_FORMS)
def program(programs, request):
    return programs[request.param]


def in_c(program, tmp_path, distances, settings, iterations, seed):
    path = tmp_path / "instance.ants"
    bench_ants.write_instance(path, distances, settings.beta)
    return bench_ants.run_yardstick(program, path, settings.ants, iterations, settings.rho, seed)


@pytest.mark.parametrize("spec", INSTANCES)
@pytest.mark.parametrize(
    ("ants", "rho", "beta", "seed"),
    # 7 and 10 ants leave a group of the C program with vector types incomplete; a seed of 64 bits; all pheromone evaporates; hardly any.
    [(7, 0.1, 2.0, 0), (10, 1.0, 2.5, 2**40 + 5), (4, 1e-6, 0.0, 9)],
)
def test_the_c_yardstick_walks_the_same_tours(cpu, program, tmp_path, spec, ants, rho, beta, seed):
    distances = tsp.load(spec).distances
    settings = Settings(ants=ants, rho=rho, beta=beta)
    ours = AntColony(cpu, Solo(), distances, settings, seed=seed).run(6)
    theirs = in_c(program, tmp_path, distances, settings, 6, seed)
    assert (theirs.length, theirs.digest) == (ours.length, ours.digest)
    assert 0 < theirs.constructing < theirs.seconds


def test_the_c_yardstick_walks_other_tours_with_another_seed(program, tmp_path):
    distances = tsp.load(INSTANCES[1]).distances
    digests = {in_c(program, tmp_path, distances, Settings(ants=3), 2, seed).digest for seed in range(5)}
    assert len(digests) == 5


def test_the_c_yardstick_refuses_a_file_that_is_cut_short(program, tmp_path):
    path = tmp_path / "short.ants"
    bench_ants.write_instance(path, tsp.load(INSTANCES[1]).distances, 2.0)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(bench_ants.subprocess.CalledProcessError) as stopped:
        bench_ants.run_yardstick(program, path, 1, 1, 0.1, 0)
    assert stopped.value.returncode == 2
    assert "cut short" in stopped.value.stderr


def test_the_instance_is_written_along_a_nearest_neighbour_tour(tmp_path):
    x = np.array([0, 7, 1, 3])  # from city 0: 2, 3, 1
    path = tmp_path / "line.ants"
    bench_ants.write_instance(path, abs(x[:, None] - x[None, :]).astype(np.uint16), 1.0)
    content = path.read_bytes()
    assert np.frombuffer(content, "<u8", 2).tolist() == [4, 1 + 2 + 4 + 7]
    places = [0, 1, 3, 7]
    assert np.frombuffer(content, "<u4", 16, 16).tolist() == [abs(a - b) for a in places for b in places]
    heuristic = np.frombuffer(content, "<f4", 16, 80).reshape(4, 4)
    assert heuristic[3].tolist()[:3] == [np.float32(4 / 7), np.float32(4 / 6), 1]
    assert len(content) == 16 + 2 * 4 * 16


def test_the_bench_times_one_core_and_both_forms_of_c_in_turn(programs, monkeypatch, capsys):
    from drivers import bench

    monkeypatch.setattr(bench_ants, "ON_ONE_CORE", (("uniform:40:seed=1", 5, 3), ("nowhere", 5, 3)))
    monkeypatch.setattr(backends, "survey", lambda: [row for row in survey if row.backend == "cpu"])
    assert run_driver(bench.main, ["--workload", "aco", "--repeats", "2", "--yardsticks"]) == 0
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines() if "selection evaluations/s" in line]
    assert [words[:2] for words in lines][1:] == [["C,", "plain"], ["C,", "vector"]]
    assert lines[0][0] == "cpu"
    assert len({words[-1] for words in lines}) == 1
    assert all(float(words[words.index("ns") - 1]) > 0 for words in lines)
    for form in programs:
        assert f"cpu against {form}: " in said
    assert "nowhere: not measured (" in said


survey = backends.survey()


def test_a_contestant_that_walks_other_tours_ends_the_bench(cpu, programs, monkeypatch):
    written = bench_ants.write_instance
    monkeypatch.setattr(bench_ants, "write_instance", lambda path, d, beta: written(path, d[::-1, ::-1], beta))
    instance = tsp.load("uniform:40:seed=1")
    options = type("Options", (), {"seed": 0, "repeats": 1})
    with pytest.raises(RuntimeError, match="did not walk the same tours"):
        bench_ants.against_c(options, {"cpu": cpu}, instance, 5, 3, programs)


def test_the_papers_ratios_stand_beside_ours():
    published = bench_ants.published_seconds()
    if not published:
        assert bench_ants.beside({"coarse": 3.0, "fine": 2.0}, None, "coarse", "fine").split()[0] == "1.50"
        pytest.skip("menezes2019's figures are not at hand")
    assert len(published) == len(bench_ants.TABLE_II) * len(bench_ants.TABLE_II_ANTS)
    # Section V-A: fine is 1.58x faster than coarse on dj38 with 1,024 ants.
    line = bench_ants.beside({"coarse": 3.0, "fine": 2.0}, published["dj38", 1024], "coarse", "fine")
    assert line.split() == ["1.50", "1.58"]


@pytest.mark.parametrize("chosen", [None, "nowhere,uniform:20:seed=1"])
def test_the_table_of_strategies_has_a_line_per_cell(cpu, monkeypatch, capsys, chosen):
    monkeypatch.setattr(bench_ants, "TABLE_II", ("another",) if chosen else ("nowhere", "uniform:20:seed=1"))
    monkeypatch.setattr(bench_ants, "TABLE_II_ANTS", (2, 5))
    monkeypatch.setattr(bench_ants, "TIME_ENOUGH_S", 0.0)
    bench_ants.bench_strategies(type("Options", (), {"data": None, "seed": 0, "instance": chosen}), cpu)
    said = capsys.readouterr().out.splitlines()
    assert "nowhere: not measured (" in said[3]
    for line, ants in zip(said[4:], (2, 5), strict=True):
        assert line.split()[0] == f"uniform:20:seed=1{ants:5}".split()[0]
        assert line.count("not published") == 2


def test_a_slow_colony_is_ready_without_an_iteration_of_its_own(cpu, monkeypatch):
    iterated = []
    iterate = Colony.iterate
    monkeypatch.setattr(Colony, "iterate", lambda colony: (iterated.append(colony.ants.count), iterate(colony)))
    instance = tsp.load("uniform:100:seed=1")  # another shape than other tests compile
    colony = bench_ants.ready_colony(cpu, instance, Settings(ants=500), "coarse", 3)
    assert iterated == [colony.ants_per_team]
    compiled = cpu.timings.compile_s
    outcome = colony.run(1)
    assert cpu.timings.compile_s == compiled
    assert outcome.digest == AntColony(cpu, Solo(), instance.distances, Settings(ants=500), seed=3).run(1).digest


def test_every_seed_of_mmas_has_its_gap(cpu, monkeypatch, capsys):
    work = bench_ants.Climbed("eil51", 3, 0.0042, 0.5)
    instance = tsp.load("uniform:20:seed=1")
    monkeypatch.setattr(instance, "optimum", 300)
    monkeypatch.setattr(bench_ants, "CLIMBED", (work,))
    monkeypatch.setattr(bench_ants, "loaded", lambda name, data: instance)
    bench_ants.bench_mmas(type("Options", (), {"data": None, "seed": 7}), cpu)
    line = capsys.readouterr().out.splitlines()[1]
    assert "20 ants     3 iterations" in line
    ours, published = line.split(" s  ", 1)[1].split("GPU-MMAS")
    assert "+0.42% in 0.50 s" in published
    settings = Settings(ants=20, variant="mmas", rho=0.1, best_every=1, candidates=32, local_search="2opt-near")
    lengths = [AntColony(cpu, Solo(), instance.distances, settings, seed=7 + k).run(3).length for k in range(5)]
    assert ours.split() == [f"{length / 300 - 1:+.2%}" for length in lengths]


def test_candidate_lists_are_timed_against_full_roulette(cpu, monkeypatch, capsys):
    monkeypatch.setattr(bench_ants, "ROULETTES", (("uniform:40:seed=1", 3, 2), ("uniform:40:seed=1", 6, 2)))
    bench_ants.bench_roulettes(type("Options", (), {"data": None, "seed": 0, "repeats": 2}), cpu)
    said = capsys.readouterr().out.splitlines()
    assert [line.split(",")[1].split()[0] for line in said if "MMAS" in line] == ["all", "32"] * 2
    assert sum("candidates against all cities: " in line for line in said) == 2


@pytest.mark.parametrize(("pause", "runs"), [(4.0, [1]), (0.02, [1, 4, 16])])
def test_a_long_iteration_is_run_once_and_a_short_one_often(monkeypatch, pause, runs):
    class Colony:
        clock, runs = 0.0, []

        def run(self, iterations):
            self.runs.append(iterations)
            Colony.clock += pause * iterations
            return type("Outcome", (), {"digest": 7 * iterations})

    monkeypatch.setattr(bench_ants.time, "perf_counter", lambda: Colony.clock)
    seconds, digest = bench_ants.timed_iteration(Colony())
    assert seconds == pytest.approx(pause)
    assert digest == 7
    assert Colony.runs == runs
