"""The driver of Held and Karp's dynamic programming: what it prints, records, refuses; ranks change only the speed."""

import itertools

import numpy as np

from drivers import exact, heldkarp
from tests.core.instances import samples
from tests.drivers.records import lines, saved

DRIVER = heldkarp
HERE = ["--backend", "cpu", "--no-progress"]
SMALL = ["--instance", "uniform:9:seed=1", *HERE]
ONE_WAY = np.array([[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]])
"""A ring of one-way roads: length 4 in one direction, 36 in the other."""


# --- what comes out ---


# --- matrices ---


def test_a_matrix_may_be_asymmetric(drive, tmp_path):
    np.save(tmp_path / "ring.npy", ONE_WAY + np.eye(4, dtype=int))  # the diagonal does not count
    tours = []
    for path in (saved(tmp_path / "ring.txt", ONE_WAY), tmp_path / "ring.npy"):
        record = path.with_suffix(path.suffix + ".jsonl")
        code, said, error = drive("--matrix", path, *HERE, "--verify", "--record", record)
        assert (code, error) == (0, "")
        room, result = said.splitlines()
        assert "in two directions" in room
        assert result.startswith("ring: shortest length 4, ")
        assert said.rstrip().endswith("confirmed by the scorer and by plain dynamic programming in NumPy")
        tours.append(lines(record)[0]["details"]["tour"])
    assert tours == [[0, 1, 2, 3], [0, 1, 2, 3]]


def test_a_file_may_be_asymmetric(drive, tmp_path):
    path = tmp_path / "a.atsp"
    path.write_text(samples.ASYMMETRIC)
    table = [row.split() for row in samples.ASYMMETRIC.splitlines()[6:-1]]
    tours = [[*tour, tour[0]] for tour in itertools.permutations(range(4))]
    shortest = min(sum(int(table[i][j]) for i, j in itertools.pairwise(tour)) for tour in tours)
    code, said, _ = drive("--instance", path, *HERE, "--verify")
    assert code == 0 and f"\na: shortest length {shortest}, " in said
    code, _, error = drive("--instance", path, *HERE, driver=exact)
    assert code == 2 and f"{path}:2: found TYPE ATSP (asymmetric)" in error and "onekernel heldkarp" in error


# --- more cities than can be proved ---


def test_of_many_cities_the_best_of_a_neighbourhood_is_found_and_not_called_exact(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    code, said, error = drive("--instance", "uniform:60:seed=2", *HERE, "--record", record)
    assert code == 0
    assert "60 cities, and a proof is possible for at most 36: restricted search with --k 8" in error
    assert "has room for" not in said
    assert "restricted, optimal over the neighbourhood (k = 8) of a start tour: length " in said
    assert "shortest" not in said and said.rstrip().endswith("confirmed by the scorer")
    (line,) = lines(record)
    assert line["details"]["proved"] is False and line["parameters"]["k"] == 8
    assert line["best_cost"] <= line["details"]["start_cost"]
