"""The C programs do a workload's work: they climb the same climbs, walk the same tours and say the same of them."""

import shutil
import subprocess

import numpy as np
import pytest

import backends
from cluster import Solo
from core import tours as tsp
from core.ant_colony import AntColony, Settings
from core.hill_climbing.search import HillClimbing
from core.run.stop import Iterations
from drivers.aco import AntOptions
from drivers.cli.exit_codes import run_driver
from drivers.experiments.c_programs import PROGRAMS, compile_program, main, run_program
from drivers.ihc import ClimbOptions
from reports.records.files import load


def matrix(entries):
    return np.array(entries, np.uint32)


INSTANCES = {
    **{spec: tsp.load(spec).distances for spec in ("uniform:5:seed=1", "uniform:61:seed=3")},
    "equal distances": matrix(7 * (1 - np.eye(12, dtype=int))),
    "distances of more than 16 bits": matrix([[abs(i - j) * 90_000 for j in range(12)] for i in range(12)]),
    # Many moves gain the same, so ties decide.
    "small distances": matrix(np.triu(t := np.random.default_rng(5).integers(1, 4, (12, 12)), 1) + np.triu(t, 1).T),
}


@pytest.fixture(scope="module")
def cpu():
    backend = backends.create("cpu")
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def run_in_c(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("reference programs in C need gcc")
    compiled = {}

    def run(name, form, distances, options, damage=lambda content: content):
        chosen, folder = PROGRAMS[name], tmp_path_factory.mktemp("program")
        if (name, form) not in compiled:
            compiled[name, form] = compile_program(chosen.source, chosen.forms[form], folder)
        path = folder / "instance"
        chosen.write(path, distances, options)
        path.write_bytes(damage(path.read_bytes()))
        return run_program(compiled[name, form], path, *chosen.arguments(options))

    return run


@pytest.mark.parametrize("form", PROGRAMS["ihc"].forms)
@pytest.mark.parametrize("name", INSTANCES)
def test_it_makes_the_same_climbs(cpu, run_in_c, name, form):
    ours = HillClimbing(cpu, Solo(), INSTANCES[name], scan="full").run(Iterations(40), trace=False)
    said = run_in_c("ihc", form, INSTANCES[name], ClimbOptions(climbers=40))
    assert [int(said[key]) for key in ("best", "index", "steps", "evaluations")] == [
        *(ours.length, ours.climber, ours.steps, ours.evaluations)
    ]
    assert said["digest"] == f"{ours.digest:016x}"
    assert float(said["seconds"]) >= 0


@pytest.mark.parametrize("form", PROGRAMS["aco"].forms)
@pytest.mark.parametrize(
    ("spec", "count", "rho", "beta", "seed"),
    [
        # Numbers of ants that leave a group of the program with vector types incomplete; all pheromone evaporates.
        ("uniform:3:seed=1", 7, 0.1, 2.0, 0),
        ("uniform:33:seed=3", 10, 1.0, 2.5, 2**40 + 5),
        ("uniform:70:seed=4", 4, 1e-6, 0.0, 9),
    ],
)
def test_it_walks_the_same_tours(cpu, run_in_c, form, spec, count, rho, beta, seed):
    distances = tsp.load(spec).distances
    ours = AntColony(cpu, Solo(), distances, Settings(ants=count, rho=rho, beta=beta), seed=seed).run(Iterations(6))
    said = run_in_c("aco", form, distances, AntOptions(ants=count, rho=rho, beta=beta, seed=seed, iterations=6))
    assert [int(said[key]) for key in ("best", "index", "evaluations")] == [ours.length, ours.ant, ours.evaluations]
    assert said["digest"] == f"{ours.digest:016x}"
    assert float(said["seconds"]) > 0


@pytest.mark.parametrize(
    ("name", "damage", "climbers", "message"),
    [
        ("ihc", lambda content: content[:-1], 1, "cut short"),
        ("ihc", lambda content: (4).to_bytes(8, "little") + content[8:], 1, "expected 5 to 46340 cities"),
        ("ihc", lambda content: content, 0, "CLIMBERS is at least 1"),
        ("aco", lambda content: content[:-1], 1, "cut short"),
    ],
)
def test_it_refuses_what_it_cannot_solve(run_in_c, name, damage, climbers, message):
    options = ClimbOptions(climbers=climbers) if name == "ihc" else AntOptions(ants=1, iterations=1)
    with pytest.raises(subprocess.CalledProcessError) as stopped:
        run_in_c(name, "C, plain loops", tsp.load("uniform:32:seed=2").distances, options, damage)
    assert stopped.value.returncode == 2
    assert message in stopped.value.stderr


def test_a_run_is_recorded_once_and_verified_by_one_of_ours(tmp_path, monkeypatch, capsys):
    if shutil.which("gcc") is None:
        pytest.skip("reference programs in C need gcc")
    path = tmp_path / "r.jsonl"
    line = ["C, plain loops", "ihc", *f"--instance uniform:9:seed=1 --climbers 5000 --record {path}".split()]
    assert run_driver(main, [*line, "--repeats", "1"]) == 0
    assert run_driver(main, [*line, "--repeats", "3"]) == 0
    (record,) = load(path)
    assert (record.backend, len(record.repetitions), record.verified) == ("C", 3, False)
    assert record.execution["program"] == "hill_climbing.c" and record.execution["compiler"].startswith("gcc ")
    program = tmp_path / "gcc"
    program.write_text("#!/bin/sh\necho 'no such processor' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert run_driver(main, [*line, "--repeats", "4"]) == 2
    assert "gcc does not compile hill_climbing.c: no such processor" in capsys.readouterr().err
