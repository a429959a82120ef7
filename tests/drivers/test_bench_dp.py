"""The bench of dynamic programming: every contestant finds the same, and packages stand beside the backends."""

import re
import sys

import numpy as np
import pytest

import backends
from core.errors import UserError
from core.problems import tsp
from core.problems.knapsack import generate
from core.problems.strings import common_length, random_strings
from core.search.dp import held_karp
from drivers import bench, bench_dp
from drivers.endings import run_driver

TINY = bench_dp.Sizes(700, 300, 12, 400, (5, 8), (9,), 4096)
survey = backends.survey()

RAPIDFUZZ = """
from core.problems.strings import common_length
class LCSseq:
    @staticmethod
    def similarity(first, second):
        return common_length(first, second)
"""
HELD_KARP = """
import numpy as np
from core.problems.small_tours import held_karp
def solve_flat(flat, n):
    length, tour, _ = held_karp(np.array(flat, dtype=int).reshape(n, n))
    return list(tour), float(length)
"""


@pytest.fixture
def cpu():
    made = backends.create("cpu")
    yield made
    made.close()


@pytest.fixture
def options():
    return type("Options", (), {"repeats": 2, "seed": 3, "full": False})


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Packages of the peers' names that compute in NumPy and plain Python."""
    (tmp_path / "rapidfuzz").mkdir()
    (tmp_path / "rapidfuzz" / "__init__.py").write_text("")
    (tmp_path / "rapidfuzz" / "distance.py").write_text(RAPIDFUZZ)
    (tmp_path / "held_karp.py").write_text(HELD_KARP)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("rapidfuzz", "rapidfuzz.distance", "held_karp")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in names:
        sys.modules.pop(name, None)


def lines_of(said):
    """The lines of contestants by title: what stands first, and the numbers behind."""
    found, title = {}, ""
    for line in said.splitlines():
        if line.startswith("    "):
            found[title].append(re.split(r"  +", line.strip()))
        elif line.startswith("  "):
            title = line.strip()
            found[title] = []
    return found


def test_the_bench_measures_every_problem_with_and_without_a_trace(monkeypatch, capsys, packages):
    monkeypatch.setattr(bench_dp, "ON_CORES", TINY)
    monkeypatch.setattr(backends, "survey", lambda: [row for row in survey if row.backend == "cpu"])
    assert run_driver(bench.main, ["--workload", "dp", "--repeats", "2", "--full", "--seed", "3"]) == 0
    found = lines_of(capsys.readouterr().out)
    with_trace = ["no trace", "traced", "traced, 0 MiB of room"]
    assert {title: [line[0] for line in lines] for title, lines in found.items()} == {
        "LCS, 700 random letters of 4": ["cpu", "rapidfuzz"],
        "LCS, 300 random letters of 4, cpu": with_trace,
        "knapsack, 12 items, capacity 400, cpu": with_trace,
        "Held-Karp, 5 cities": ["cpu", "held-karp"],
        "Held-Karp, 8 cities": ["cpu", "held-karp"],
        "Held-Karp, 9 cities": ["cpu", "held-karp"],
    }
    assert all("G cells/s" in " ".join(line) for lines in found.values() for line in lines)
    assert all("of the time of" in " ".join(line) for lines in found.values() for line in lines[1:])
    assert "length only" in found["LCS, 300 random letters of 4, cpu"][0][-1]


def test_the_largest_held_karp_is_measured_only_when_asked_for(cpu, options, capsys):
    bench_dp.DynamicProgramming(options).measure({"cpu": cpu}, TINY, peers=False)
    assert "Held-Karp, 9 cities" not in capsys.readouterr().out


def test_what_is_compared_is_what_plain_code_finds(cpu, options):
    measured = bench_dp.DynamicProgramming(options)
    measured.measure({"cpu": cpu}, TINY, peers=False)
    found = {place: value for place, (value, _) in measured.found.items()}
    a, b = random_strings(700, letters=4, seed=3)
    assert found["LCS, 700 random letters of 4", "length"] == common_length(a, b)
    instance = generate("paper", 12, 400, 3)
    best = np.zeros(401, int)
    for weight, value in zip(instance.weights.tolist(), instance.values.tolist(), strict=True):
        best[weight:] = np.maximum(best[weight:], best[: 401 - weight] + value)
    assert found["knapsack, 12 items, capacity 400", "value"] == best[400]


def test_packages_that_are_not_installed_are_named(cpu, options, capsys, monkeypatch):
    monkeypatch.setattr(bench_dp.importlib.util, "find_spec", lambda name: None)
    bench_dp.DynamicProgramming(options).measure({"cpu": cpu}, TINY._replace(cities=(4,)), peers=True)
    said = capsys.readouterr().out
    assert "no rapidfuzz beside them: pip install rapidfuzz" in said
    assert "no held-karp beside them: pip install held-karp" in said


def test_a_package_that_finds_something_else_ends_the_bench(cpu, options, packages, monkeypatch):
    import rapidfuzz.distance

    monkeypatch.setattr(rapidfuzz.distance.LCSseq, "similarity", staticmethod(lambda first, second: 7))
    with pytest.raises(RuntimeError, match=r"LCS, 700 .*: length is 7 by rapidfuzz, but \d+ by cpu"):
        bench_dp.DynamicProgramming(options).lcs({"cpu": cpu}, TINY, peers=True)


def test_a_later_backend_is_compared_with_an_earlier_one(cpu, options):
    measured = bench_dp.DynamicProgramming(options)
    measured.knapsack({"cpu": cpu}, TINY)
    measured.found["knapsack, 12 items, capacity 400", "value"] = (1, "cuda")
    with pytest.raises(RuntimeError, match=r"value is \d+ by cpu no trace, but 1 by cuda"):
        measured.knapsack({"cpu": cpu}, TINY)


@pytest.mark.parametrize("make", ["common", "packed", "toured"])
def test_what_was_traced_wrong_is_refused(cpu, make):
    if make == "common":
        a, b = random_strings(50, letters=4, seed=1)
        contestant = bench_dp.common(cpu, a, b, True)
        outcome = contestant.solve()
        wrong = outcome._replace(pairs=outcome.pairs[::-1])
    elif make == "packed":
        contestant = bench_dp.packed(cpu, generate("paper", 8, 100, 1), True)
        outcome = contestant.solve()
        wrong = outcome._replace(chosen=~outcome.chosen)
    else:
        contestant = bench_dp.toured(cpu, tsp.load("uniform:8:seed=1"))
        outcome = contestant.solve()
        wrong = outcome._replace(length=outcome.length + 1)
    assert contestant.facts(outcome)
    with pytest.raises(RuntimeError, match="cpu traced no "):
        contestant.facts(wrong)


def test_a_device_that_is_too_small_says_so_and_the_rest_goes_on(cpu, options, capsys, monkeypatch):
    def refused(*arguments, **others):
        raise UserError("5 cities need 12 bytes, there are 7")

    monkeypatch.setattr(held_karp, "HeldKarp", refused)
    bench_dp.DynamicProgramming(options).held_karp({"cpu": cpu}, 5, TINY, peers=False)
    assert "Held-Karp, 5 cities, cpu: not measured (5 cities need 12 bytes, there are 7)" in capsys.readouterr().out
