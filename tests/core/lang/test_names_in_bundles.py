"""A field of a bundle may have any name: that of whatever stands in a template does not change code."""

import ast
import keyword
import re

import numpy as np
import pytest

from backends.emit.numba_python import CpuPython, CudaPython
from backends.emit.opencl_c import OpenClC
from core.lang.bundles import Rows, unbundled
from tests.core.lang.module_texts import loaded

TEMPLATE = """\
from core.lang import *
from core.lang.library import team_min
D = Generic("D")
S = Generic("S")
SHAPES = (1, 2, 5)

@bundle
class Walk:
    control: Row(i32, 2)
    solution: Row(S, "length")
    length: i32

@bundle
class Move:
    i: i32
    j: i32

def made(delta, begin):
    @function
    def tried(one: Walk, move: Move, data: D, best: i32) -> i32:
        found = delta(one.solution, move, data)
        for k in unroll(len(SHAPES)):
            found = min(found, best + SHAPES[k])
        return found

    @kernel
    def search(walks: Rows[Walk], problem: Rows[D], word: u32, out: Array[i32]):
        scratch = shared_array(team_size(), i32)
        counts = local_array(3, i32)
        for w in range(team_rank(), walks.count, team_count()):
            one, data = walks[w], problem[w]
            if begin is not None:
                begin(one.solution, data)
            least = 1000
            counts[w % 3] = 0
            for bit in set_bits(word):
                move = Move(bit, w)
                least = tried(one, move, data, least)
                move = Move(move.j, move.i)
                least, counts[w % 3] = tried(one, move, data, least), counts[w % 3] + 1
            least = team_min(least, scratch)
            barrier()
            if lane() == 0:
                out[w] = least * 100 + counts[w % 3]
                one.control[0] = least

    return search
"""
OWN = """\
from core.lang import *

@bundle
class Data:
    my_weights: Array[i32]
    my_kept: Row(i32, "my_size")
    my_size: i32
{fields}

@function
def my_begin(my_solution: Array[u8], my_data: Data):
    my_data.my_kept[1] = i32(my_solution[0]) + my_data.my_size

@function
def my_delta(my_solution: Array[u8], my_move: Move, my_data: Data) -> i32:
    my_total = my_data.my_weights[my_move.i] * my_move.j - my_data.my_kept[1]
{checks}
    return my_total
"""


def modules(folder, names):
    """The template and a problem whose data have these names too, each with a value of its own."""
    fields = "".join(f"    {name}: {'Array[i32]' if k % 3 == 2 else 'i32'}\n" for k, name in enumerate(names))
    checks = ""
    for k, name in enumerate(names):
        value = f"my_data.{name}[0]" if k % 3 == 2 else f"my_data.{name}"
        checks += f"    if {value} != {100 + k}:\n        my_total -= 5000\n"
    template = loaded(folder, TEMPLATE)
    return template, loaded(folder, OWN.format(fields=fields, checks=checks), Move=template.Move)


def names_in(text):
    """Every identifier of the template: parameters, locals, fields, functions, classes, constants and words."""
    nodes = list(ast.walk(ast.parse(text)))
    found = {node.id for node in nodes if isinstance(node, ast.Name)}
    found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    found |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    found |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    others = ["held", "count1", "stop2", "restrict", "global_", "float", "slots", "Move_"]
    return sorted(found - set(keyword.kwlist)) + others


NAMES = names_in(TEMPLATE)
assert {"one", "w", "least", "lane", "min", "S", "D", "Walk", "count", "control", "u32", "begin"} < set(NAMES)


def data_of(own, names):
    given = [np.array([100 + k], np.int32) if k % 3 == 2 else 100 + k for k in range(len(names))]
    return own.Data(np.arange(40, dtype=np.int32) % 11 - 5, None, 2, *given)


def emitted(folder, name):
    """What the devices' compilers get, for data with one name beside the problem's own."""
    template, own = modules(folder, ["my_own", name, "my_other"])
    data = data_of(own, ["my_own", name, "my_other"])
    data.my_kept = np.zeros(2, np.int32)
    walk = template.Walk(np.zeros(2, np.int32), np.zeros(4, np.uint8), 4)
    kernel = template.made(own.my_delta, own.my_begin)
    types = unbundled(kernel, (Rows(walk, 1), Rows(data, 1), 1, np.zeros(1, np.int32)))[2]
    program = kernel.specialise({}, 4, types | {"S": template.u8})
    return [kind(program).source() for kind in (CpuPython, CudaPython, OpenClC)]


@pytest.mark.parametrize("name", NAMES)
def test_code_does_not_depend_on_what_a_field_is_called(tmp_path, name):
    usual, found = emitted(tmp_path, "my_name"), emitted(tmp_path, name)
    again = "1" if name == "count" else ""  # the rows' own count has the name without a number
    for one, other in zip(usual, found, strict=True):
        assert len(re.findall(r"(problem|data)_my_name_field", one)) > 2
        assert one == re.sub(rf"(problem(?=_{name}_field{again}\b)|data)_{name}_field1?\b", r"\1_my_name_field", other)
