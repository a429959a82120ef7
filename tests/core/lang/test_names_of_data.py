"""A user's datum may have any name: that of a local, parameter or word in the templates that carry it changes nothing."""

import ast
import importlib.util
import keyword
from pathlib import Path

import numpy as np
import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.kernels import local_search
from core.problems.problem import Evaluation, Kept
from core.search.local_search import (
    Bits,
    HillClimbing,
    Iterations,
    LocalSearch,
    Problem,
    SimulatedAnnealing,
    TabuSearch,
    VariableNeighbourhoodSearch,
)

N = 5


def names_in(*templates):
    """Every identifier that a template's source text has: parameters, locals, functions, constants and words."""
    nodes = [node for one in templates for node in ast.walk(ast.parse(Path(one.__file__).read_text()))]
    found = {node.id for node in nodes if isinstance(node, ast.Name)}
    found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return sorted(found - set(keyword.kwlist) - {"n"})


OF_SEARCH = names_in(local_search)
# Those that gave wrong answers, and a parameter, a word and a type.
SOME = ["above", "base", "c", "i32", "iteration", "lane", "left", "sizes", "step", "w", "window"]

# The README's problem; it loses its way if a datum has not the value 100, 101 ... that it was
# given. The names of their own begin with `my_`, and the functions that read the data use no word of the language.
TEXT = """
from core.lang import *
from core.search.local_search import flipped

@function
def my_energy(my_bits: Array[i32], my_i: i32, my_j: i32, my_k: i32, n: i32) -> i32:
    total = 0
    for lag in range(1, n):
        correlation = 0
        for p in range(n - lag):
            equal = flipped(my_bits, p, my_i, my_j, my_k) == flipped(my_bits, p + lag, my_i, my_j, my_k)
            correlation += 1 if equal else -1
        total += correlation * correlation
    return total

@function
def added(my_bits: Array[i32], my_i: i32, my_j: i32, my_k: i32, n: i32, {parameters}) -> i32:
    my_difference = my_energy(my_bits, my_i, my_j, my_k, n) - my_energy(my_bits, -1, -1, -1, n)
{checks}    return my_difference
"""  # fmt: skip


def functions(folder, names):
    """The problem's functions, with data of these names."""
    checks = "".join(f"    if {name} != {100 + k}:\n        my_difference += 1\n" for k, name in enumerate(names))
    text = TEXT.format(parameters=", ".join(f"{name}: i32" for name in names), checks=checks)
    path = folder / f"functions_{len(names)}_{names[0]}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def given(names):
    return {"n": N, **{name: 100 + k for k, name in enumerate(names)}}


class Labs(Problem):
    def __init__(self, delta, names):
        super().__init__("labs", Bits(N), given(names))
        self.delta = delta

    def cost(self, bits):
        signs = 2 * np.asarray(bits, np.int64) - 1
        return sum(int(signs[lag:] @ signs[:-lag]) ** 2 for lag in range(1, N))


def search(backend, module, names, algorithm, **how):
    problem = Labs(module.added, names)
    found = LocalSearch(backend, Solo(), problem, algorithm, "flip1", **how).run(Iterations(3))
    assert problem.cost(found.solution) == found.cost
    return found[:-1]


PYTHON, CPU = (kind(kind.devices()[0]) for kind in (PythonBackend, CpuBackend))
ONE_TEAM = {"level": "algorithm", "walks": 3}


@pytest.fixture(scope="module")
def unlike(tmp_path_factory):
    """The same problem with names that no template has, and what each search of it finds."""
    folder = tmp_path_factory.mktemp("unlike")
    names = [f"my_own_{k}" for k in range(len(OF_SEARCH))]
    return functions(folder, names), names


@pytest.mark.parametrize(
    ("algorithm", "how"),
    [
        (TabuSearch(), ONE_TEAM),
        (SimulatedAnnealing(temperature=3.0, batch=3), ONE_TEAM),
        (VariableNeighbourhoodSearch(), {}),
        (TabuSearch(), {"select": "host"}),
        (HillClimbing(), {"select": "host", "generate": "host"}),
    ],
    ids=["tabu", "annealing", "vns", "selected by the host", "listed by the host"],
)
def test_a_search_does_not_depend_on_what_data_are_called(tmp_path, unlike, algorithm, how):
    assert {"iteration", "base", "step", "w", "lane", "u32", "data", "CONTROL"} < set(OF_SEARCH)
    expected = search(PYTHON, *unlike, algorithm, **how)
    assert search(PYTHON, functions(tmp_path, OF_SEARCH), OF_SEARCH, algorithm, **how) == expected


def test_machine_code_does_not_depend_on_what_data_are_called(tmp_path, unlike):
    module = functions(tmp_path, SOME)
    assert search(CPU, module, SOME, TabuSearch(), **ONE_TEAM) == search(PYTHON, *unlike, TabuSearch(), **ONE_TEAM)


@pytest.mark.parametrize("name", ["two words", "3rd", "data.n", "lambda", ""])
def test_a_datum_that_no_parameter_can_name_is_refused(name):
    problem = Labs(None, [])
    problem.data = {name: 5}
    with pytest.raises(UserError, match=f"data named '{name}': expected a name"):
        problem.hooks(Evaluation(None), problem.data, "flip1")


def test_state_and_data_of_one_name_are_refused():
    problem = Labs(None, [])
    with pytest.raises(UserError, match="labs: n is the name of data and of kept state"):
        problem.hooks(Evaluation(None, kept={"n": Kept("int32", 3)}), problem.data, "flip1")


def test_parts_of_a_size_that_nobody_gives_are_refused():
    problem = Labs(None, [])
    with pytest.raises(UserError, match="parts of kept, as many as 'm' says: expected one of n, kept"):
        problem.hooks(Evaluation(None, kept={"kept": Kept("int32", "m")}), problem.data, "flip1")


def test_a_message_names_the_datum_as_its_user_does(tmp_path):
    problem = Labs(functions(tmp_path, ["step"]).added, ["step"])
    problem.data["step"] = 2**31
    with pytest.raises(UserError, match=r"argument step is i32; 2147483648 does not fit"):
        LocalSearch(PYTHON, Solo(), problem, TabuSearch(), "flip1").run(Iterations(1))
