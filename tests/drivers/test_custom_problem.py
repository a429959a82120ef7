"""A user-defined problem as a program: constructor parameters as options, runs, records, comparisons, over ranks."""

import sys
from pathlib import Path

import pytest

from core.errors import UserError
from drivers.library.custom_problem import declare_options, declare_workload, make_problem, run_program
from drivers.options.local_search import DEFAULT_WALKS
from reports.records.files import load

PARITY = '''
"""Bits of which as few as can be are 1, with a weight for every place."""
import numpy as np

import onekernel as ok
from tests.lightest import Lightest, Weights


class Parity(Lightest):
    def __init__(self, n: int = 12, factor: float = 1.0, heavy: bool = False, *, name: str = "parity"):
        self.weights = (np.arange(1, n + 1) * (3 if heavy else 1) * factor).astype(np.int32)
        ok.Problem.__init__(self, f"{name}:{n}", ok.Bits(n), Weights(n, self.weights))


ok.main(Parity)
'''


@pytest.fixture
def parity(tmp_path, monkeypatch):
    (tmp_path / "parity.py").write_text(PARITY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("parity", None)
    from importlib import import_module

    yield import_module("parity").Parity
    sys.modules.pop("parity", None)


def run(problem, *words):
    return run_program(problem, ("parity.py",), list(map(str, words)))


def test_its_functions_are_checked(parity, capsys):
    assert run(parity, "--check", "--n", "5") == 0
    assert "all right" in capsys.readouterr().out
    wrong = type("Wrong", (parity,), {"cost": lambda self, bits: 2 * parity.cost(self, bits)})
    with pytest.raises(UserError, match="flip1"):
        run(wrong, "--check", "--n", "5")


def test_options_are_the_parameters_of_the_constructor(parity):
    options = declare_options(parity)
    declared = {one.name: (one.default, how.decides) for one, how in options.declared()}
    assert {name: declared[name] for name in ("n", "factor", "heavy", "name")} == {
        "n": (12, "work"),
        "factor": (1.0, "work"),
        "heavy": (False, "work"),
        "name": ("parity", "work"),
    }
    assert "instance" not in declared and "data" not in declared and "peers" not in declared
    own = type("Qap", (parity,), {})  # it has the name of a workload of the project
    assert declare_workload(own, ("x.py",)).name == "own-qap"
    assert make_problem(parity, options(n=7, heavy=True)).weights.tolist() == [3, 6, 9, 12, 15, 18, 21]


def test_runs_find_the_optimum_and_are_recorded(parity, capsys):
    words = ("--n", 10, "--backend", "cpu", "--iterations", 50, "--seeds", "0..2", "--record", "runs.jsonl")
    assert run(parity, *words) == 0
    said = capsys.readouterr().out
    assert "parity:10: best cost 0 in iteration" in said and "confirmed by the scorer" in said
    records = load("runs.jsonl")
    assert [record.seed for record in records] == [0, 1, 2]
    record = records[0]
    assert (record.workload, record.instance, record.best_cost, record.verified) == ("parity", "parity:10", 0, True)
    assert record.parameters["n"] == 10 and record.parameters["neighbourhood"] == "flip1"


def test_a_needed_parameter_is_asked_for(parity):
    def needed(n: int):
        return parity(n)

    with pytest.raises(UserError, match=r"--n: found nothing, expected it, since needed needs it"):
        run(needed, "--backend", "cpu", "--iterations", 5)


def table(weights: list): ...


def steps(iterations: int = 3): ...


def drawn(seed: int = 3): ...


def nothing():
    return 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (table, r"table\(weights\): no option can hold this value"),
        (steps, r"steps\(iterations\): --iterations is an option of the search: expected anot"),
        (drawn, r"drawn\(seed\): --seed is an option of the search: expected anot"),
        (nothing, "nothing made 3: expected a Problem"),
    ],
)
def test_what_makes_no_problem_is_refused(make, words):
    with pytest.raises(UserError, match=words):
        make_problem(make, declare_options(make)())


def test_a_record_takes_no_other_instance_of_the_same_name(parity):
    words = ("--backend", "cpu", "--iterations", 5, "--record", "runs.jsonl")
    assert run(parity, *words) == 0
    before = load("runs.jsonl")
    words_of_refusal = r"^runs.jsonl: found runs of parity on parity:12, an instance of that name with o"
    with pytest.raises(UserError, match=words_of_refusal):
        run(parity, "--heavy", *words)
    assert load("runs.jsonl") == before
    assert run(parity, "--heavy", "--name", "heavy", *words) == 0


def test_a_file_that_is_not_there_is_a_mistake_of_the_user(parity):
    def read(instance: Path = Path("missing.txt")):
        return parity(len(instance.read_text()))

    with pytest.raises(UserError, match=r"missing\.txt: cannot read it: No such file"):
        run(read, "--backend", "cpu")
    assert "--instance" in {"--" + one.name for one, _ in declare_options(read).declared()}


def test_an_instance_by_default_asks_for_nothing_else(parity):
    def named(instance: str = "parity"):
        return parity(name=instance)

    options = declare_options(named)
    assert options().settled(None, 1).walks == DEFAULT_WALKS and options().settled(None, 1).seconds is None
    assert options(instance="other").settled(None, 1).walks == 1


@pytest.mark.slow
def test_ranks_do_the_same_work_for_a_problem_already_made(parity, mpirun, tmp_path, capsys):
    words = ("--iterations", 30, "--backend", "cpu")
    assert run(parity(12), *words) == 0
    alone = capsys.readouterr().out
    three = mpirun(3, tmp_path / "parity.py", *words)
    assert three.returncode == 0, three.stderr
    assert alone.split("hash ")[1][:16] == three.stdout.split("hash ")[1][:16]
