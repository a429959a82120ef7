"""The bench of ant colonies: both C reference programs walk the same tours, and published figures stand beside ours."""

import re
import subprocess

import pytest

from cluster import Solo
from core.problems import tsp
from core.search.ant_colony import AntColony, Settings
from core.search.stop import Iterations
from drivers.bench import ant_colonies, ant_strategies, main
from drivers.bench.cases import BenchmarkCase
from drivers.bench.runner import BenchmarkRun
from drivers.cli.exit_codes import run_driver
from reports.records.files import load


@pytest.fixture(params=ant_colonies.C_FORMS)
def program(compiler, request):
    return compiler.program(ant_colonies.C_SOURCE, ant_colonies.C_FORMS[request.param])


@pytest.fixture
def gpu(place):
    """A core that passes for a GPU."""
    return place._replace(kind="gpu", label="gpu")


def in_c(program, tmp_path, distances, settings, iterations, seed):
    path = tmp_path / "instance.ants"
    ant_colonies.write_instance(path, distances, settings.beta)
    return ant_colonies.run_reference_program(program, path, settings.ants, iterations, settings.rho, seed)


@pytest.mark.parametrize(
    ("spec", "count", "rho", "beta", "seed"),
    [
        # Numbers of ants that leave a group of the program with vector types incomplete; all pheromone evaporates.
        ("uniform:3:seed=1", 7, 0.1, 2.0, 0),
        ("uniform:33:seed=3", 10, 1.0, 2.5, 2**40 + 5),
        ("uniform:70:seed=4", 4, 1e-6, 0.0, 9),
    ],
)
def test_the_c_reference_program_walks_the_same_tours(cpu, program, tmp_path, spec, count, rho, beta, seed):
    distances = tsp.load(spec).distances
    settings = Settings(ants=count, rho=rho, beta=beta)
    ours = AntColony(cpu, Solo(), distances, settings, seed=seed).run(Iterations(6))
    theirs = in_c(program, tmp_path, distances, settings, 6, seed)
    assert (theirs.length, theirs.ant, theirs.digest) == (ours.length, ours.ant, ours.digest)
    assert 0 < theirs.constructing < theirs.seconds


def test_the_c_reference_program_refuses_a_file_that_is_cut_short(program, tmp_path):
    path = tmp_path / "short.ants"
    ant_colonies.write_instance(path, tsp.load("uniform:32:seed=2").distances, 2.0)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(subprocess.CalledProcessError) as stopped:
        ant_colonies.run_reference_program(program, path, 1, 1, 0.1, 0)
    assert stopped.value.returncode == 2
    assert "cut short" in stopped.value.stderr


def test_one_core_and_both_forms_of_c_are_timed_in_turn_and_recorded(only_cpu, compiler, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(ant_colonies, "ON_CORES", (("uniform:40:seed=1", 5, 3), ("nowhere", 5, 3)))
    path = tmp_path / "r.jsonl"
    assert run_driver(main, ["--workload", "aco", "--repeats", "2", "--reference-programs", "--record", str(path)]) == 0
    said = capsys.readouterr().out
    lines = [line for line in said.splitlines() if "selections/s" in line]
    assert [re.split("  +", line.strip())[0] for line in lines] == ["cpu", *ant_colonies.C_FORMS]
    assert all(float(re.search(r"(\S+) ns a step of a tour", line)[1]) > 0 for line in lines)
    assert said.count("x as fast as cpu") == 2
    assert "same result: length" in said
    assert "nowhere: not measured (" in said
    records = load(path)
    assert [(record.backend, record.verified) for record in records] == [("cpu", True), ("C", True), ("C", True)]
    assert len({record.hash for record in records}) == 1


def test_the_papers_ratios_stand_beside_ours():
    published = ant_strategies.published_seconds()
    ours = {"coarse": 3.0, "fine": 2.0}
    assert ant_strategies.ratio_notes(ours, None) == ["coarse / fine: 1.50, paper: not published"]
    if not published:
        pytest.skip("menezes2019's figures are not at hand")
    assert len(published) == len(ant_strategies.TABLE_II) * len(ant_strategies.TABLE_II_ANTS)
    # Section V-A: fine is 1.58x faster than coarse on dj38 with 1,024 ants.
    assert ant_strategies.ratio_notes(ours, published["dj38", 1024]) == ["coarse / fine: 1.50, paper: 1.58"]


@pytest.mark.parametrize("chosen", [None, "nowhere,uniform:20:seed=1"])
def test_every_cell_of_the_table_of_strategies_is_a_case(make_field, gpu, monkeypatch, capsys, tmp_path, chosen):
    monkeypatch.setattr(ant_strategies, "TABLE_II", ("another",) if chosen else ("nowhere", "uniform:20:seed=1"))
    monkeypatch.setattr(ant_strategies, "TABLE_II_ANTS", (2, 5))
    monkeypatch.setattr(ant_strategies, "TIMED_S", 0.0)
    path = tmp_path / "r.jsonl"
    BenchmarkRun(list(ant_strategies.cases(make_field(cores=(), gpus=[gpu], instance=chosen))), 3, str(path)).run()
    said = capsys.readouterr().out
    assert "nowhere: not measured (" in said
    titles = [line for line in said.splitlines() if line.startswith("[")]
    assert [title.split(", ")[2] for title in titles] == ["2 ants", "5 ants"]
    assert said.count("same result: length") == 2
    assert said.count("not published") == 4
    found = [
        (one.parameters["ants"], one.execution["strategy"], one.verified, len(one.repetitions)) for one in load(path)
    ]
    assert found == [(n, way, True, 1) for n in (2, 5) for way in ("coarse", "fine", "fine-deposit")]


def test_every_seed_of_mmas_has_its_gap_and_its_record(cpu, make_field, gpu, monkeypatch, capsys, tmp_path):
    field = make_field(cores=(), gpus=[gpu], seed=7)
    instance = field.instances.named("uniform:20:seed=1")
    monkeypatch.setattr(instance, "optimum", 300)
    case = ant_colonies.mmas_case(field, instance, ant_colonies.MmasInstance(instance.name, 3, 0.0042, 0.5), gpu)
    path = tmp_path / "r.jsonl"
    BenchmarkRun([case], 1, str(path)).run()
    said = capsys.readouterr().out
    assert "20 ants, 3 iterations, seeds 7 to 11" in said
    assert "GPU-MMAS on an H200: +0.42% in 0.50 s" in said
    settings = Settings(ants=20, variant="mmas", rho=0.1, best_every=1, candidates=32, local_search="2opt-near")
    lengths = [
        AntColony(cpu, Solo(), instance.distances, settings, seed=7 + k).run(Iterations(3)).length for k in range(5)
    ]
    assert f"gaps {' '.join(f'{length / 300 - 1:+.2%}' for length in lengths)}" in said
    assert [(one.seed, one.best_cost, one.verified) for one in load(path)] == [
        (7 + k, length, True) for k, length in enumerate(lengths)
    ]


def test_gpus_have_rates_phases_and_candidate_lists_beside_full_roulette(make_field, gpu, monkeypatch, capsys):
    monkeypatch.setattr(ant_colonies, "ON_GPU", (("uniform:40:seed=1", 5, 3),))
    monkeypatch.setattr(ant_colonies, "MMAS_INSTANCES", (ant_colonies.MmasInstance("nowhere", 3, 0.0, 0.5),))
    monkeypatch.setattr(ant_colonies, "ROULETTES", (("uniform:40:seed=1", 3, 2),))
    cases = list(ant_colonies.cases(make_field(cores=(), gpus=[gpu])))
    assert all(isinstance(one, BenchmarkCase) and one.where == "gpu on a core" for one in cases)
    BenchmarkRun(cases, 2).run()
    said = capsys.readouterr().out
    assert re.search(r"ms an iteration: .*construct \S+ ms \(\S+%\)", said)
    assert re.search(r"32 candidates .*x as fast as all cities", said)
    assert "hash of 32 candidates" in said and "hash of all cities" in said
