"""Weak scaling by `drivers.compare`: what is run on how many ranks, with a stub in the driver's place."""

import json
import sys
from types import SimpleNamespace

import pytest

from core.errors import UserError
from drivers.compare import House, main
from drivers.workloads import everything

# Stands in for a driver: reads its own options as the driver does, and writes a record; a rank's work takes a second.
STUB = """
import dataclasses, json, sys
from drivers.compare_options import asked_of
from drivers.workloads import named
from reports.environment import environment
name, sha256, backend, ranks, scored, *arguments = sys.argv[1:]
declared = named(name)
options = asked_of(declared, arguments)
amount = getattr(options, declared.scaled)
sample = {"compile_s": 0.0, "transfer_s": 0.0, "kernel_s": 1.0, "total_s": 1.0}
record = {
    "schema": 2, "workload": name, "instance": "stub", "instance_sha256": sha256, "ways": {},
    "parameters": {declared.scaled: amount}, "seed": options.seed, "backend": backend, "device": "0",
    "device_kind": "core", "ranks": int(ranks), "samples": [sample] * options.repeats, "best_cost": 7,
    "best_index": 3, "evaluations": 10**9, "trajectory_hash": f"{amount:04x}", "hash_covers": "climbs",
    "scored": scored == "True", "environment": environment(1), "unit": declared.unit,
    "details": {"asked": options.asked(), "scaled": options.scaled},
}
print(json.dumps(record), file=open(options.record, "a"))
"""
INSTANCE = "uniform:20:seed=1"


@pytest.fixture
def weak(tmp_path, monkeypatch):
    """Compare with `--weak` in a folder of its own, on a core and all cores; the exit code and the drivers' options."""
    monkeypatch.setattr("drivers.configurations.mpi_obstacle", lambda: None)

    def run(*arguments, scored=lambda ranks: True):
        given = []

        def command(contest, configuration):
            own = contest.command(configuration)
            own = own[own.index("-m") + 2 :]
            given.append((configuration.backend, configuration.ranks, own))
            about = contest.workload.name, contest.task.problem.sha256, configuration.backend, configuration.ranks
            words = (*about, scored(configuration.ranks), *own)
            return [sys.executable, "-c", STUB, *map(str, words)]

        devices = [
            SimpleNamespace(backend=name, device="0", name=name, usable=True, reason="", kind=kind, oracle=False)
            for name, kind in (("cpu", "core"), ("threads", "cores"))
        ]
        fixed = ["--weak", "--repeats", "3", "--oversubscribe", "--out", str(tmp_path)]
        code = main([*arguments, *fixed], House(lambda: devices, command))
        return code, given

    return run


def value(arguments, flag):
    """What is given to an option last, which is what counts."""
    return arguments[len(arguments) - arguments[::-1].index(flag)]


def test_the_work_grows_with_the_ranks_and_is_recorded_as_such(weak, tmp_path):
    code, given = weak("ihc", "--instance", INSTANCE, "--climbers", "50", "--ranks", "1", "2", "4")
    assert code == 0
    assert [(backend, ranks, value(own, "--climbers")) for backend, ranks, own in given] == [
        ("cpu", 1, "50"),
        ("threads", 1, "50"),
        ("cpu", 2, "100"),
        ("cpu", 4, "200"),
    ]
    records = [json.loads(line) for line in (tmp_path / "compare-ihc-weak.jsonl").open()]
    assert [record["details"]["scaled"] for record in records] == [1, 1, 2, 4]
    assert (tmp_path / "compare-ihc-weak.md").exists()


@pytest.mark.parametrize(("workload", "flag", "usual"), [("aco", "--ants", 256), ("ppp", "--walks", 64)])
def test_what_is_left_open_grows_from_what_one_rank_does(weak, workload, flag, usual):
    instance = INSTANCE if workload == "aco" else "31-31:seed=1"
    _, given = weak(workload, "--instance", instance, "--ranks", "3")
    assert [(ranks, value(own, flag)) for _, ranks, own in given] == [
        (1, f"{usual}"),
        (1, f"{usual}"),
        (3, f"{3 * usual}"),
    ]


def test_what_is_recorded_already_is_not_run_again(weak):
    arguments = ("ihc", "--instance", INSTANCE, "--ranks", "2")
    assert len(weak(*arguments)[1]) == 3
    assert weak(*arguments) == (0, [])
    assert [ranks for _, ranks, _ in weak(*arguments, "4")[1]] == [4]


def test_grown_work_that_the_scorer_contradicts_is_an_error(weak, capsys):
    code, _ = weak("ihc", "--instance", INSTANCE, "--ranks", "2", scored=lambda ranks: ranks == 1)
    assert code == 1
    assert "error: cpu (device 0, 2 ranks): the NumPy scorer did not confirm" in capsys.readouterr().err


@pytest.mark.parametrize("workload", [one.name for one in everything() if not one.scaled])
def test_one_problem_cannot_grow(weak, workload):
    with pytest.raises(UserError, match=f"--weak: found {workload}, whose work .* expected one of ihc, aco, qap"):
        weak(workload, "--ranks", "2")


@pytest.mark.parametrize("ranks", [(), ("1",)])
def test_one_rank_alone_is_no_scaling(weak, ranks):
    with pytest.raises(UserError, match="--weak: found one rank alone"):
        weak("ihc", "--instance", INSTANCE, "--ranks", *ranks)


@pytest.mark.parametrize("declared", [one for one in everything() if one.scaled], ids=lambda one: one.name)
def test_what_grows_is_an_option_that_decides_the_work(declared):
    options = {one.name: how for one, how in declared.options.declared()}
    assert options[declared.scaled].decides in ("work", "search")
    assert options["scaled"].decides == "nothing"
