"""Hashes of the specification: by the suite on every backend, and by the plain program that follows the page."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import onekernel as ok

FOLDER = Path(__file__).parent
VECTORS = json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))


def by_the_suite(vector, backend, tmp_path):
    given = vector["arguments"]
    if vector["algorithm"] == "hill climbing":
        points = "".join(f"{i} {x} {y}\n" for i, (x, y) in enumerate(given["points"], 1))
        file = tmp_path / "points.tsp"
        head = f"TYPE: TSP\nDIMENSION: {len(given['points'])}\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        file.write_text(f"{head}{points}EOF\n")
        return ok.run("ihc", instance=str(file), climbers=given["climbers"], backend=backend).hash
    if vector["algorithm"] == "tabu search":
        problem = ok.Qap(np.array(given["flows"]), np.array(given["distances"]))
        more = {"walks": given["walks"], "seed": given["seed"], "backend": backend}
        return ok.minimize(problem, algorithm=ok.TabuSearch(), stop=ok.Iterations(given["iterations"]), **more).hash
    return ok.run("lcs", text=(given["a"], given["b"]), trace=given["trace"], backend=backend).hash


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['algorithm']} {vector['hash']}")
def test_a_hash_of_the_specification(vector, backend, tmp_path):
    assert by_the_suite(vector, backend.name, tmp_path) == vector["hash"]


def test_a_program_written_from_the_page_finds_the_hashes():
    command = [sys.executable, str(FOLDER / "plain.py"), str(FOLDER / "vectors.json")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split()[0] for line in lines]
    assert found == [vector["hash"] for vector in VECTORS]
