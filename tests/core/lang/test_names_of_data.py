"""A field of a problem's data may have any name: that of a local, parameter or word in the templates changes nothing."""

import ast
import keyword
from pathlib import Path

import numpy as np
import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.kernels import hooks, local_search, move_trials, moves, neighbour_scans, walk_steps, walks
from core.search.local_search import (
    Bits,
    HillClimbing,
    Iterations,
    LocalSearch,
    Problem,
    SimulatedAnnealing,
    TabuSearch,
    Unconfirmed,
    VariableNeighbourhoodSearch,
    check,
)
from tests.core.lang.module_texts import loaded

N = 5
TEMPLATES = (walks, hooks, neighbour_scans, walk_steps, local_search, moves, move_trials)


def names_in(*templates):
    """Every identifier in the templates' source: parameters, locals, functions, classes, fields, constants, words."""
    nodes = [node for one in templates for node in ast.walk(ast.parse(Path(one.__file__).read_text()))]
    found = {node.id for node in nodes if isinstance(node, ast.Name)}
    found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    found |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    found |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return sorted(found - set(keyword.kwlist) - {"n"})


NAMES = names_in(*TEMPLATES)
# Those that gave wrong answers once, and a parameter, a word, a type and a field of the template's own.
SOME = ["above", "base", "c", "i32", "iteration", "lane", "left", "sizes", "step", "w", "window", "solution"]

# Those that the problem's own functions use.
OWN = {"Move", "Sequence", "added", "bits", "difference", "energy", "flipped", "i32", "move", "p", "range", "total"}

# Low autocorrelation binary sequences, which loses its way if a datum has not the value 100, 101 ... that it was given.
TEXT = """
from core.lang import Array, bundle, function, i32
from core.search.local_search import Move, flipped

@bundle
class Sequence:
    n: i32
{fields}
@function
def energy(bits: Array[i32], move: Move, {parameter}: Sequence) -> i32:
    total = 0
    for lag in range(1, {parameter}.n):
        correlation = 0
        for p in range({parameter}.n - lag):
            equal = flipped(bits, p, move) == flipped(bits, p + lag, move)
            correlation += 1 if equal else -1
        total += correlation * correlation
    return total

@function
def added(bits: Array[i32], move: Move, {parameter}: Sequence) -> i32:
    difference = energy(bits, move, {parameter}) - energy(bits, Move(-1, -1, -1), {parameter})
{checks}    return difference
"""


def module_of(folder, names, parameter="labs"):
    """The problem's bundle and functions, with data of these names in a parameter of that name."""
    checks = "".join(
        f"    if {parameter}.{name} != {100 + k}:\n        difference += 1\n" for k, name in enumerate(names)
    )
    fields = "".join(f"    {name}: i32\n" for name in names)
    return loaded(folder, TEXT.format(fields=fields, parameter=parameter, checks=checks))


class Labs(Problem):
    tested = True  # so that a search does not try it first; one test here does

    def __init__(self, module, names):
        super().__init__("labs", Bits(N), module.Sequence(N, *(100 + k for k in range(len(names)))))
        self.delta = module.added

    def cost(self, bits):
        signs = 2 * np.asarray(bits, np.int64) - 1
        return sum(int(signs[lag:] @ signs[:-lag]) ** 2 for lag in range(1, N))


def search(backend, problem, algorithm, iterations=2, **how):
    found = LocalSearch(backend, Solo(), problem, algorithm, "flip1", **how).run(Iterations(iterations))
    assert problem.cost(found.solution) == found.cost
    return found._replace(solution=None)


PYTHON, CPU = (kind(kind.devices()[0]) for kind in (PythonBackend, CpuBackend))
ONE_TEAM = {"level": "algorithm", "walks": 2}
SEARCHES = {
    "tabu": (TabuSearch(), ONE_TEAM),
    "annealing": (SimulatedAnnealing(temperature=3.0, batch=3), ONE_TEAM),
    "vns": (VariableNeighbourhoodSearch(), {}),
    "selected by the host": (TabuSearch(), {"select": "host"}),
    "listed by the host": (HillClimbing(), {"select": "host", "generate": "host"}),
}


@pytest.fixture(scope="module")
def unlike(tmp_path_factory):
    """The same problem with names that no template has."""
    names = [f"my_own_{k}" for k in range(len(NAMES))]
    return Labs(module_of(tmp_path_factory.mktemp("unlike"), names), names)


def test_the_names_are_those_of_the_templates():
    assert {"iteration", "key", "step", "w", "lane", "u32", "data", "CONTROL", "one", "solution"} < set(NAMES)


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_does_not_depend_on_what_data_are_called(tmp_path, unlike, kind):
    algorithm, how = SEARCHES[kind]
    alike = Labs(module_of(tmp_path, NAMES), NAMES)
    assert search(PYTHON, alike, algorithm, **how) == search(PYTHON, unlike, algorithm, **how)


@pytest.mark.parametrize("names", [SOME, pytest.param(NAMES[::8], marks=pytest.mark.slow)], ids=["some", "an eighth"])
def test_nor_on_what_one_datum_is_called_nor_the_parameter_that_holds_it(tmp_path, unlike, names):
    expected = search(PYTHON, unlike, TabuSearch(), 1, **ONE_TEAM)
    for name in names:
        module = module_of(tmp_path, [name], "labs" if name in OWN else name)
        assert search(PYTHON, Labs(module, [name]), TabuSearch(), 1, **ONE_TEAM) == expected, name


def test_machine_code_does_not_depend_on_what_data_are_called(tmp_path, unlike):
    alike = Labs(module_of(tmp_path, SOME), SOME)
    assert search(CPU, alike, TabuSearch(), **ONE_TEAM) == search(PYTHON, unlike, TabuSearch(), **ONE_TEAM)


def test_nor_does_what_a_new_problem_is_tried_with(tmp_path):
    check(Labs(module_of(tmp_path, NAMES), NAMES), "flip2", moves=2)


def test_a_wrong_datum_would_be_seen(tmp_path, unlike):
    """What the tests above rest on: every datum is read, and one that has another's value changes the search."""
    module = module_of(tmp_path, SOME)
    for k in (0, len(SOME) - 1):
        problem = Labs(module, SOME)
        setattr(problem.data, SOME[k], 99)
        with pytest.raises((AssertionError, Unconfirmed)):
            assert search(PYTHON, problem, TabuSearch(), 1) == search(PYTHON, unlike, TabuSearch(), 1)
