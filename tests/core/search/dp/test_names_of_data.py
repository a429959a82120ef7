"""A user's datum may have the name of a local, parameter or word in the templates that carry it."""

import ast
import importlib.util
import keyword
from pathlib import Path

import numpy as np

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.kernels.dp import grid, waves
from core.search.dp import Grid, WaveEngine

PYTHON, CPU = (kind(kind.devices()[0]) for kind in (PythonBackend, CpuBackend))


def names_in(*templates):
    """Every identifier in a template's source: parameters, locals, functions, fields, constants and words."""
    nodes = [node for one in templates for node in ast.walk(ast.parse(Path(one.__file__).read_text()))]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return sorted(names - set(keyword.kwlist))


ALL = names_in(grid, waves)
# Those that gave wrong answers once, and a parameter, a field, a word and a type.
SOME = ["above", "c", "corner", "data", "i32", "lane", "left", "near", "step", "wave", "window"]

# A recurrence in which every cell changes if a datum does not have its value 100, 101 ...
TEXT = """
from core.lang import Array, bundle, function, i32, u32
from core.search.dp import Near

@bundle
class Data:
{fields}

@function
def cell({i}: i32, {j}: i32, {near}: Near, {choice}: Array[u32], {data}: Data) -> i32:
    value = {near}.corner + 3 * {near}.up - {near}.left + {i} * {j} & 1023
{checks}
    return value
"""


def functions(folder, names, **parameters):
    """A user's module with data of these names; parameters of its functions have any names."""
    called = {own: own for own in ("i", "j", "near", "choice", "data")} | parameters
    fields = "\n".join(f"    {name}: i32" for name in names)
    checks = "\n".join(
        f"    if {called['data']}.{name} != {100 + k}:\n        value += 1" for k, name in enumerate(names)
    )
    path = folder / "users.py"
    path.write_text(TEXT.format(fields=fields, checks=checks, **called))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Table(Grid):
    rows, columns = 6, 7

    def __init__(self, module, names):
        self.step = module.cell
        self.data = module.Data(*range(100, 100 + len(names)))

    def edge(self, i, j):
        return i - j

    def value_by_numpy(self):
        table = np.zeros((self.rows + 1, self.columns + 1), np.int64)
        for i in range(self.rows + 1):
            for j in range(self.columns + 1):
                inside = i > 0 and j > 0
                near = table[i - 1, j - 1] + 3 * table[i - 1, j] - table[i, j - 1] + i * j if inside else 0
                table[i, j] = near & 1023 if inside else i - j
        return table[-1, -1]


def test_a_table_does_not_depend_on_what_data_are_called(tmp_path):
    assert {"c", "above", "wave", "V", "min", "frontier", "cells", "data"} < set(ALL)
    table = Table(functions(tmp_path, ALL), ALL)
    assert WaveEngine(PYTHON, Solo(), table, shape=(2, 2, 3)).run().value == table.value_by_numpy()


def test_machine_code_does_not_depend_on_what_data_and_parameters_are_called(tmp_path):
    own = {"i": "left", "j": "up", "near": "frontier", "choice": "kept", "data": "corner"}
    table = Table(functions(tmp_path, SOME, **own), SOME)
    assert WaveEngine(CPU, Solo(), table).run().value == table.value_by_numpy()
