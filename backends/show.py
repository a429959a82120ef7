"""``onekernel show FILE:KERNEL --as DIALECT``: a kernel's text for a device's compiler."""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from backends.launch import scalar_argument
from core.errors import UserError
from core.lang import Function, Kernel
from core.lang.types import BY_NAME, Array, Const, Generic, Integer, Scalar, Table, boolean
from core.program_parser import ProgramParser, invocation
from core.standard_output import run_watched

if TYPE_CHECKING:
    from core.lang import tree


class Dialect(NamedTuple):
    """A printer and the limits of its launches."""

    printer: str
    """A class of `backends.emit`, imported at its first use."""
    lanes: int
    """Default number of lanes in a team."""
    most_lanes: int = 1024
    images: bool = False


DIALECTS = {
    "numba": Dialect("numba_python.CpuPython", 1, 1),
    "cuda": Dialect("numba_python.CudaPython", 32),
    "cuda-nvrtc": Dialect("cuda_c.CudaC", 32),
    "opencl": Dialect("opencl_c.OpenClC", 32, images=True),
    "opencl-intel": Dialect("opencl_c.IntelC", 1, images=True),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a kernel for a device; returns the exit code: 0, or 2 for a user's mistake, reported in one line."""
    parser = ProgramParser(prog=invocation("backends.show"), description=__doc__)
    add = parser.add_argument
    add("kernel", metavar="FILE:KERNEL", help="a file or dotted module, and a kernel's name in it")
    dialect = (
        "numba: Python for numba on CPUs; cuda: Python for numba on NVIDIA GPUs; cuda-nvrtc: CUDA C++ for NVRTC on "
        "NVIDIA GPUs; opencl: OpenCL C; opencl-intel: OpenCL C with loop hints for Intel's CPU compiler"
    )
    add("--as", dest="dialect", choices=DIALECTS, required=True, help=dialect)
    sizes = ", ".join(f"{name} {dialect.lanes}" for name, dialect in DIALECTS.items())
    add("--team-size", type=int, metavar="N", help=f"lanes of a team ({sizes})")
    constants, types = "values of Const parameters", "types of generic parameters, as T=i32"
    add("--constants", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=constants)
    add("--types", nargs="+", action="extend", default=[], metavar="NAME=TYPE", help=types)
    options = parser.parse_args(arguments)
    try:
        print(show_kernel(options.kernel, options.dialect, options.team_size, options.constants, options.types), end="")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def show_kernel(named: str, dialect: str, team_size: int | None, constants: Sequence[str], types: Sequence[str]) -> str:
    """Return the text of a kernel, named ``FILE:KERNEL``, for one of `DIALECTS` and by default its number of lanes.

    There is a ``name=value`` for each ``Const`` parameter, and a ``name=type`` for each generic type. Raises
    `UserError` for those that are missing, unknown or do not fit, and for no such kernel of the language.
    """
    kind = DIALECTS[dialect]
    kernel = find_kernel(named)
    lanes = kind.lanes if team_size is None else team_size
    if not 1 <= lanes <= kind.most_lanes:
        raise UserError(f"--team-size {lanes}: {dialect} runs teams of 1 to {kind.most_lanes} lanes")
    kinds = {name: parameter for name, parameter in kernel.signature.items() if name != "return"}
    images = [name for name, parameter in kinds.items() if isinstance(parameter, Table) and parameter.place == "image"]
    if images and not kind.images:
        raise UserError(f"{kernel.name}: {images[0]} is an image, which exists on OpenCL devices; show it --as opencl")
    consts = {name: parameter.scalar for name, parameter in kinds.items() if isinstance(parameter, Const)}
    elements = [parameter.element if isinstance(parameter, Array) else parameter for parameter in kinds.values()]
    generics = dict.fromkeys(element.name for element in elements if isinstance(element, Generic))
    texts = parse_assignments(kernel, "constants", consts, constants)
    values = {name: parse_constant(kernel, name, consts[name], text) for name, text in texts}
    bound = {name: parse_type(text) for name, text in parse_assignments(kernel, "types", generics, types)}
    return print_program(kernel.specialise(values, lanes, bound), kind)


def print_program(program: tree.Program, dialect: Dialect) -> str:
    module, _, name = dialect.printer.partition(".")
    printer = getattr(importlib.import_module(f"backends.emit.{module}"), name)
    return f"{printer(program).source().rstrip()}\n"


# --- what the user names ---


def find_kernel(named: str) -> Kernel:
    place, colon, name = named.rpartition(":")
    if not colon:
        place, name = named, ""
    module = load_module(place)
    kernel = getattr(module, name, None) if name else None
    if isinstance(kernel, Kernel):
        return kernel
    if not name:
        what = "expected FILE:KERNEL"
    elif isinstance(kernel, Function):
        what = f"{name} is a @function, which devices get as a part of the kernels that call it"
    else:
        what = f"no kernel {name}"
    raise UserError(f"{place}: {what}; {list_kernels(module)}")


def list_kernels(module: ModuleType) -> str:
    """List a module's kernels, and kernels made by its functions, which have no name in the module."""
    kernels = [name for name, value in vars(module).items() if isinstance(value, Kernel)]
    nested = [name for name in list_nested_kernels(module) if name not in kernels]
    text = f"its kernels: {', '.join(kernels)}" if kernels else "it has no kernels"
    if nested:
        text += f"; to show what its functions make, give it a name at module level: {', '.join(nested)}"
    return text


def list_nested_kernels(module: ModuleType) -> list[str]:
    """List names of kernels defined inside functions of a module."""
    parsed = ast.parse("".join(linecache.getlines(getattr(module, "__file__", None) or "")))
    inner = [node for node in ast.walk(parsed) if isinstance(node, ast.FunctionDef) and node not in parsed.body]
    return list(dict.fromkeys(function.name for function in inner if any(map(is_kernel, function.decorator_list))))


def is_kernel(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(named, ast.Name) and named.id == "kernel"


def load_module(place: str) -> ModuleType:
    """Import the module at a path or of a dotted name; any error is reported as the user's."""
    is_path = place.endswith(".py") or os.sep in place
    if not place or (is_path and not os.path.isfile(place)):
        raise UserError(f"{place or 'nothing'}: no such file; expected FILE:KERNEL, FILE a path or a dotted module")
    try:
        return execute_file(Path(place)) if is_path else importlib.import_module(place)
    except SyntaxError as error:
        raise UserError(f"{error.filename}:{error.lineno}: {error.msg}") from error
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{place}: {type(error).__name__}: {error}") from error


def execute_file(path: Path) -> ModuleType:
    """Execute a file as a module, with imports from its folder as for a started program."""
    name = f"shown.{path.stem}"  # it is never imported by this name
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    sys.path.append(str(path.parent.resolve()))
    loader.exec_module(module)
    return module


# --- what the user gives it ---


def parse_assignments(kernel: Kernel, option: str, keys: dict[str, Any], texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return names and texts of ``name=text``, one for each key."""
    pairs = [text.partition("=")[::2] for text in texts]
    names = [name for name, _ in pairs]
    if sorted(names) != sorted(keys):
        expected = f"--{option} {' '.join(f'{key}=...' for key in keys)}" if keys else f"no --{option}"
        found = f"--{option} {' '.join(texts)}" if texts else "none"
        raise UserError(f"{kernel.name}: expected {expected}, found {found}")
    return pairs


def parse_constant(kernel: Kernel, name: str, scalar: Scalar, text: str) -> object:
    if scalar is boolean:
        value = {"true": True, "false": False, "1": True, "0": False}.get(text.lower())
        if value is None:
            raise UserError(f"{kernel.name}: {name}={text}; expected true or false")
        return value
    try:
        return scalar_argument(scalar, (int if issubclass(scalar, Integer) else float)(text), kernel, name)
    except ValueError as error:
        raise UserError(f"{kernel.name}: {name}={text}; expected a number of type {scalar.__name__}") from error


def parse_type(text: str) -> Scalar:
    if text not in BY_NAME:
        raise UserError(f"no type {text!r}; choose one of {', '.join(BY_NAME)}")
    return BY_NAME[text]


if __name__ == "__main__":
    sys.exit(run_watched(main))
