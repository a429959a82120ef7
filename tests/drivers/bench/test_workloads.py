"""Benches of local search and exact search, and records that are those of the workloads' drivers."""

import importlib
import re

import pytest

from drivers.bench import ant_colonies, dynamic_programming, exact, local_search, main
from drivers.bench.local_search import TabuExperiment
from drivers.bench.runner import BenchmarkRun
from drivers.cli.exit_codes import run_driver
from reports.records.files import load

EXPERIMENTS = (
    TabuExperiment("qap", "taillard:8:seeds=1,2", "exchange2", 5, 28, 1e8, published_s=342),
    TabuExperiment("ppp", "11-13:seed=5", "flip2", 5, 78, 1e7),
    TabuExperiment("tsp", "uniform:9:seed=1", "exchange2", 5, 36, 1e8),
    TabuExperiment("weierstrass", "2", "crowns", 2, 10, 1e5, "solution"),
)
SIZES = dynamic_programming.TableSizes(300, 300, 12, 400, (5,), (), 4096)

LINES = {
    "ihc": "--instance uniform:9:seed=1 --climbers 20 --scan full",
    "qap": "--instance taillard:8:seeds=1,2 --iterations 5",
    "ppp": "--instance 11-13:seed=5 --iterations 5",
    "tsp": "--instance uniform:9:seed=1 --algorithm tabu --neighbourhood exchange2 --iterations 5",
    "weierstrass": "--instance 2 --points 10 --iterations 2 --level solution",
    "aco": "--instance uniform:9:seed=1 --ants 4 --iterations 2",
    "exact": "--instance uniform:8:seed=1 --bound edges",
    "lcs": "random:300:letters=4:seed=0",
    "knapsack": "--items 12 --capacity 400",
    "heldkarp": "--instance uniform:5:seed=1",
}
"""Drivers' command lines that do what a case of the tiny benches does."""


@pytest.fixture
def tiny(monkeypatch):
    """Benches of all workloads that take no time."""
    monkeypatch.setattr(local_search, "ON_ONE_CORE", (EXPERIMENTS[0], *EXPERIMENTS[2:]))
    monkeypatch.setattr(local_search, "ALL_CORES_EXPERIMENT", EXPERIMENTS[1])
    monkeypatch.setattr(ant_colonies, "ON_CORES", (("uniform:9:seed=1", 4, 2),))
    monkeypatch.setattr(exact, "published", lambda: {"uniform:9:seed=1": "0.5 s"})
    monkeypatch.setattr(exact, "ON_CORES", {"uniform:8:seed=1": 100.0})
    monkeypatch.setattr(dynamic_programming, "ON_CORES", SIZES)


@pytest.mark.slow
def test_one_bench_measures_all_workloads_and_its_records_are_those_of_their_drivers(only_cpu, tiny, tmp_path, capsys):
    """A driver that is told to append to the file of a bench finds its repetitions there, and runs nothing."""
    path = tmp_path / "r.jsonl"
    line = f"--instance uniform:9:seed=1 --climbers 20 --repeats 2 --record {path}"
    assert run_driver(main, line.split()) == 0
    said = capsys.readouterr().out
    assert said.startswith("usable: cpu:0\nno reference programs in C: ")
    number = int(re.search(r"^(\d+) benchmark cases with ", said, re.M)[1])
    assert f"[{number}/{number}] Held-Karp, 5 cities" in said
    assert {record.workload for record in load(path)} == set(LINES)
    before = path.read_bytes()
    for driver, line in LINES.items():
        arguments = [*line.split(), "--backend", "cpu", "--repeats", "2", "--record", str(path)]
        assert run_driver(importlib.import_module(f"drivers.{driver}").main, arguments) == 0
        assert f"2 of 2 repetitions are in {path} already" in capsys.readouterr().out, driver
    assert path.read_bytes() == before


def test_local_search_shows_iterations_a_second_and_the_papers_figure(make_field, place, capsys):
    case = local_search.make_case(make_field(), EXPERIMENTS[0], place)
    assert case.amount == 5 * 28
    BenchmarkRun([case], 2).run()
    said = capsys.readouterr().out
    assert re.search(r"neighbours/s  [\d,]+ iterations/s, paper 342 s\n", said)
    assert re.search(r"^    cost \d+, hash [0-9a-f]{16}$", said, re.M)


def test_exact_search_shows_its_nodes_and_the_thesis_time(make_field, monkeypatch, capsys):
    monkeypatch.setattr(exact, "published", lambda: {"nowhere": "1 s", "uniform:8:seed=1": "33.5 s"})
    monkeypatch.setattr(exact, "ON_CORES", {"uniform:8:seed=1": 100.0})
    cases = list(exact.cases(make_field()))
    assert [case.work.split(", ")[2] for case in cases] == ["1-trees", "the bound of the thesis"]
    BenchmarkRun(cases, 1).run()
    said = capsys.readouterr().out
    assert "nowhere: not measured (" in said
    assert said.count("the thesis, RTX 3090: 33.5 s") == 2
    assert len(re.findall(r"nodes/s  nodes: [\d,]+", said)) == 2


def test_a_shortest_tour_that_is_not_the_known_optimum_is_not_confirmed(make_field, cpu, monkeypatch):
    field = make_field()
    instance = field.instances.named("uniform:8:seed=1")
    prepared = exact.prepare_search(field, instance, exact.ONE_TREE, cpu)
    outcome = prepared.solve(0)
    assert prepared.read(outcome).confirmed is True
    monkeypatch.setattr(instance, "optimum", outcome.length - 1)
    assert prepared.read(outcome).confirmed is False


@pytest.mark.parametrize("workload", [local_search, exact])
def test_gpus_have_contests_of_their_own(make_field, place, monkeypatch, workload):
    monkeypatch.setattr(local_search, "ON_GPU", EXPERIMENTS)
    monkeypatch.setattr(exact, "BY_EDGES", {"uniform:8:seed=1": 100.0, "nowhere": 1.0})
    gpus = [place._replace(kind="gpu", label=label) for label in ("one", "another")]
    cases = list(workload.cases(make_field(cores=(), gpus=gpus)))
    each = {local_search: len(EXPERIMENTS), exact: 1}[workload]
    assert [case.where for case in cases] == ["one on a core"] * each + ["another on a core"] * each


def test_the_published_instances_of_exact_search_are_the_thesis_15():
    assert len(exact.published()) == 15
    assert exact.published()["gr24"] == "33.540 s"
