"""The driver of exact search: what it prints, records, refuses and compares; ranks change nothing but the speed."""

from dataclasses import replace

import numpy as np

from core.exact import ExactSearch, Solution
from drivers import exact
from drivers.workload.matrix_files import load_matrix
from tests.drivers.records import SQUARE, lines, saved

DRIVER = exact
SMALL = ["--instance", "uniform:9:seed=1", "--backend", "cpu", "--no-progress"]


# --- what comes out ---


def test_up_to_seven_cities_the_record_says_that_the_host_searched(drive, tmp_path):
    for bound in ([], ["--bound", "edges"]):
        drive("--instance", "uniform:7:seed=2", *SMALL[2:], *bound, "--record", tmp_path / "r.jsonl")
    host, edges = lines(tmp_path / "r.jsonl")
    assert [run["execution"]["bound"] for run in (host, edges)] == ["host", "edges"]
    assert host["hash"] == edges["hash"]


def test_customers_of_a_cvrp_are_a_tsp(drive, shared_data):
    _, said, _ = drive("--instance", "eil13", "--data", shared_data, *SMALL[2:])
    assert "eil13: shortest length 142 (the optimum)" in said


def test_a_fixed_edge_is_dropped_if_asked_and_parts_of_vehicle_routing_are_noted(drive, tmp_path):
    nodes, part = "".join(f"{k} {k * k % 7} {k}\n" for k in range(1, 7)), "FIXED_EDGES_SECTION"
    head = f"TYPE : TSP\nDIMENSION : 6\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{nodes}"
    (tmp_path / "six.tsp").write_text(f"{head}{part}\n1 3\n2 4\n-1\nEOF\n")
    code, said, error = drive("--instance", tmp_path / "six.tsp", "--drop", part, "--verify", *SMALL[2:])
    assert (code, error) == (0, "") and said.startswith(f"six without {part}: shortest length ")
    (tmp_path / "six.tsp").write_text(f"{head}DEPOT_SECTION\n1 3\n2 4\n-1\nEOF\n\x1a")
    _, again, error = drive("--instance", tmp_path / "six.tsp", *SMALL[2:])
    assert again.partition(",")[0] == said.partition(",")[0].replace(f" without {part}", "")
    assert error == "note: six: DEPOT_SECTION does not concern a tour through all 6 nodes and is skipped\n"
    code, _, error = drive("--matrix", saved(tmp_path / "m.txt", SQUARE), "--drop", part, *SMALL[2:])
    assert code == 2 and "--drop changes nothing here" in error


def test_without_options_bays29_runs_or_a_generated_instance(drive, monkeypatch, shared_data, tmp_path):
    monkeypatch.delenv("TSPLIB_DIR", raising=False)
    monkeypatch.setattr("core.instances.folders.cache_folder", lambda: tmp_path)
    _, said, _ = drive("--data", shared_data, *SMALL[2:])
    assert said.startswith("bays29: shortest length 2020 (the optimum), ")
    assert drive(*SMALL[2:])[1].startswith("uniform:25:seed=1:side=10000: shortest length ")


# --- who speaks against a result ---


def solution(length, tour, optimal_tours=None):
    return Solution(length, np.array(tour), optimal_tours, np.zeros(5, np.int64), None, length, 1)


def test_an_incumbent_of_a_search_that_was_ended_is_not_proved(drive, monkeypatch, tmp_path):
    ended = replace(solution(16, [0, 2, 1, 3]), proved=False, finished=False)
    monkeypatch.setattr(ExactSearch, "run", lambda self, **asked: ended)
    code, said, _ = drive("--matrix", saved(tmp_path / "square.txt", SQUARE), *SMALL[2:], "--verify")
    assert code == 0
    assert ": incumbent of length 16, " in said
    assert said.endswith(", NOT PROVED: the search stopped early; this is its incumbent\n")


def test_repetitions_of_other_numbers_of_nodes_are_one_run(drive, monkeypatch, tmp_path):
    solutions = iter([replace(solution(12, [0, 1, 2, 3]), nodes=np.array([0, nodes])) for nodes in (5, 7, 4)])
    monkeypatch.setattr(ExactSearch, "run", lambda self, **asked: next(solutions))
    asked = ["--matrix", saved(tmp_path / "square.txt", SQUARE), *SMALL[2:], "--record", tmp_path / "r.jsonl"]
    assert drive(*asked, "--repeats", "2")[0] == 0
    code, said, error = drive(*asked, "--repeats", "3")
    assert (code, error) == (0, "") and said.startswith("2 of 3 repetitions are in ")
    (run,) = lines(tmp_path / "r.jsonl")
    assert (len(run["repetitions"]), run["verified"]) == (3, True)


# --- distances from files ---


def test_texts_and_arrays_of_one_matrix_are_one_instance(tmp_path):
    upper = np.triu(np.random.default_rng(1).integers(1, 100, (6, 6)), 1)
    matrix = upper + upper.T
    np.save(tmp_path / "integers.npy", matrix.astype(np.uint8))
    np.save(tmp_path / "floats.npy", matrix.astype(np.float64))
    np.savetxt(tmp_path / "savetxt.txt", matrix)
    np.savetxt(tmp_path / "commas.csv", matrix, fmt="%d", delimiter=", ", header="from six cities")
    instances = [load_matrix(str(path)) for path in sorted(tmp_path.iterdir())]
    assert len(instances) == 4
    for instance in instances:
        assert (instance.distances == matrix).all()
        assert instance.sha256 == instances[0].sha256
