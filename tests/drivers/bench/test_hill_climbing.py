"""The bench of hill climbing: the C reference program makes the same climbs, and stands beside one core."""

import re
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from cluster import Solo
from core.problems import tsp
from core.search.hill_climbing.search import HillClimbing
from core.search.stop import Iterations
from drivers.bench import hill_climbing, main
from drivers.bench.devices import BenchmarkDevice
from drivers.bench.runner import BenchmarkRun
from drivers.cli.exit_codes import run_driver
from reports.records.files import load

PLACES = (("threads", "cores", 2), ("cpu", "core", 1), ("joblib", "cores", 2))
DEVICES = [BenchmarkDevice(name, "0", kind, cores, "a processor", name) for name, kind, cores in PLACES]


def matrix(entries):
    """An instance by its distances."""
    return np.array(entries, np.uint32)


EQUAL = matrix(7 * (1 - np.eye(12, dtype=int)))
LONG = matrix([[abs(i - j) * 90_000 for j in range(12)] for i in range(12)])
INSTANCES = {
    **{spec: tsp.load(spec).distances for spec in ("uniform:5:seed=1", "uniform:61:seed=3")},
    "equal distances": EQUAL,
    "distances of more than 16 bits": LONG,
    # Many moves gain the same, so ties decide.
    "small distances": matrix(np.triu(t := np.random.default_rng(5).integers(1, 4, (12, 12)), 1) + np.triu(t, 1).T),
}


@pytest.fixture(params=hill_climbing.C_FORMS)
def program(compiler, request):
    return compiler.program(hill_climbing.C_SOURCE, hill_climbing.C_FORMS[request.param])


def in_c(program, tmp_path, distances, climbers):
    path = tmp_path / "instance.cities"
    hill_climbing.write_instance(path, distances)
    return hill_climbing.run_reference_program(program, path, climbers)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_c_reference_program_makes_the_same_climbs(cpu, program, tmp_path, name):
    distances = INSTANCES[name]
    ours = HillClimbing(cpu, Solo(), distances, scan="full").run(Iterations(40), trace=False)
    theirs, digest, seconds = in_c(program, tmp_path, distances, 40)
    assert theirs == ours
    assert digest == f"{ours.digest:016x}"
    assert seconds >= 0


@pytest.mark.parametrize(
    ("damage", "climbers", "said"),
    [
        (lambda content: content[:-1], 1, "cut short"),
        (lambda content: (4).to_bytes(8, "little") + content[8:], 1, "expected 5 to 46340 cities"),
        (lambda content: content, 0, "CLIMBERS is at least 1"),
    ],
)
def test_the_c_reference_program_refuses_what_it_cannot_climb(program, tmp_path, damage, climbers, said):
    path = tmp_path / "instance.cities"
    hill_climbing.write_instance(path, tsp.load("uniform:5:seed=1").distances)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(subprocess.CalledProcessError) as stopped:
        hill_climbing.run_reference_program(program, path, climbers)
    assert stopped.value.returncode == 2
    assert said in stopped.value.stderr


def test_c_stands_beside_one_core_one_core_beside_all_and_these_beside_others():
    found = hill_climbing.comparison_partner(DEVICES, "C, plain loops")
    assert {name: other for name, other in found.items() if name.endswith("full")} == {
        "threads full": "cpu full",
        "cpu full": "C, plain loops",
        "joblib full": "threads full",
    }
    assert hill_climbing.comparison_partner(DEVICES, "")["cpu pruned"] == ""
    assert hill_climbing.comparison_partner(DEVICES[2:], "") == {"joblib full": "", "joblib pruned": ""}


def test_both_scans_and_both_forms_of_c_are_timed_and_recorded(only_cpu, compiler, tmp_path, capsys):
    path = tmp_path / "r.jsonl"
    line = f"--workload ihc --instance uniform:61:seed=3 --climbers 40 --repeats 2 --reference-programs --record {path}"
    assert run_driver(main, line.split()) == 0
    said = capsys.readouterr().out
    names = re.findall(r"^    (\S.*?)  +\S+ \w*s \(", said, re.M)
    assert names == ["cpu full", "cpu pruned", *hill_climbing.C_FORMS]
    assert "same result: length" in said
    assert said.count("x as fast as C, plain loops") == 2
    records = load(path)
    assert [record.backend for record in records] == ["cpu", "cpu", "C", "C"]
    assert len({record.hash for record in records}) == 1
    assert all(record.verified and len(record.repetitions) == 2 for record in records)


def test_gpus_climb_on_the_first_instance_and_on_large_ones(make_field, place, monkeypatch, capsys):
    monkeypatch.setattr(hill_climbing, "LARGE", (("uniform:61:seed=3", 4), ("nowhere", 4)))
    monkeypatch.setattr(hill_climbing, "LONG", 61)
    gpu = place._replace(kind="gpu", label="gpu")
    field = make_field(cores=(), gpus=[gpu], instance="uniform:5:seed=1")
    cases = list(hill_climbing.cases(field))
    assert [(one.work.split(", ")[1:], one.repeats) for one in cases] == [
        (["uniform:5:seed=1:side=10000", "30 climbers"], None),
        (["uniform:61:seed=3:side=10000", "4 climbers"], 2),
    ]
    assert all(one.where == "gpu on a core" and len(one.candidates) == 2 for one in cases)
    BenchmarkRun(cases, 1).run()
    said = capsys.readouterr().out
    assert said.count("x as fast as full") == 2
    assert "nowhere: not measured (" in said


@pytest.mark.parametrize("found", ["no gcc", "a gcc that fails"])
def test_without_a_working_gcc_the_rest_is_measured_and_a_line_says_why(only_cpu, monkeypatch, capsys, tmp_path, found):
    program = tmp_path / "gcc"
    program.write_text("#!/bin/sh\necho 'no such processor' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: None if found == "no gcc" else str(program))
    line = "--workload ihc --instance uniform:5:seed=1 --climbers 9 --repeats 1 --reference-programs"
    assert run_driver(main, line.split()) == 0
    said = capsys.readouterr().out
    if found == "no gcc":
        assert "no reference programs in C: they need gcc, which is not here" in said
    else:
        expected = "C, plain loops: not measured (gcc does not compile hill_climbing.c: no such processor)"
        assert expected in said
    assert "cpu full" in said and "length" in said


def test_a_tour_that_the_scorer_finds_longer_ends_the_bench(make_field, monkeypatch):
    field = make_field(instance="uniform:5:seed=1")
    (case,) = hill_climbing.cases(field)
    instance = field.instances.named("uniform:5:seed=1")
    monkeypatch.setattr(instance, "tour_length", lambda tour: 1)
    with pytest.raises(RuntimeError, match="the result of cpu full is NOT CONFIRMED"):
        BenchmarkRun([case], 1).run()


def test_no_program_is_compiled_that_nobody_asked_for(only_cpu, monkeypatch, capsys):
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("a program was started"))
    line = "--workload ihc --instance uniform:5:seed=1 --climbers 9 --repeats 1"
    assert run_driver(main, line.split()) == 0
    assert "no reference programs in C: --reference-programs compiles them with gcc" in capsys.readouterr().out


def test_where_nothing_is_usable_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.setattr("backends.survey", lambda: [SimpleNamespace(usable=False, is_reference=False, kind="gpu")])
    assert run_driver(main, []) == 0
    assert "0 benchmark cases with 0 candidates" in capsys.readouterr().out
