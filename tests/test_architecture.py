"""The order of the house: imports point one way, costly packages come late, core knows no device."""

import ast
import graphlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import backends
from drivers.workload.registry import NAMES

ROOT = Path(__file__).parents[1]
HOUSE = ("core", "backends", "cluster", "reports", "drivers")
LANGUAGE = ("core.lang", "core.program_parser", "core.errors", "core.standard_output", "core.atomic_files")
MAY_IMPORT = {
    "core": ("core",),
    "core.lang": LANGUAGE,
    "core.kernels": ("core.kernels", *LANGUAGE),
    "core.problems": ("core.problems", "core.kernels", "core.arguments", *LANGUAGE),
    "backends": ("backends", *LANGUAGE),
    "cluster": ("cluster", *LANGUAGE),
    "reports": ("reports", "core"),
    "drivers": HOUSE,
}
LATE = {
    *("numba", "llvmlite", "pyopencl", "mpi4py"),
    *("matplotlib", "scipy", "rich", "jinja2"),
    *("tsplib95", "networkx", "joblib", "requests", "psutil", "argcomplete"),
}
STARTED_BY_EVERY_RANK = (
    *("core.lang", "core.problems", "backends.device", "cluster", "cluster.programs", "drivers.cli.console"),
    *("drivers.cluster_programs.check", *(f"drivers.{name}" for name in NAMES)),
)
DEVICES = re.compile(r"\b(cpu|threads|cuda|opencl|pyopencl|pocl|numba|joblib|loky|mpi|mpi4py|nvidia)\b", re.I)


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package.replace(".", "/")).rglob("*.py"))


def is_in(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def module_of(path: Path) -> str:
    """The name by which a file is imported; a package's is that of its `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    """A file's code; every check reads all of them."""
    return ast.parse(path.read_text())


def executed(node: ast.AST):
    """Yield all nodes below one, functions' bodies included, but for the `if TYPE_CHECKING:` that no program runs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).rpartition(".")[2] == "TYPE_CHECKING":
            child = ast.Module(child.orelse, [])
        yield child
        yield from executed(child)


def imported_from_the_house(path: Path, nodes=ast.walk) -> list[str]:
    """Name every module that the file imports anywhere, relative imports resolved."""
    found = []
    package = path.relative_to(ROOT).parent.parts
    for node in nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            # In full, because `from core import lang` imports a module of that name.
            found += [f"{module}.{alias.name}" for alias in node.names]
    return [module for module in found if is_in(module, HOUSE)]


def import_graph(paths: list[Path]) -> dict[str, set[str]]:
    """For each file's module those of the others that it imports, at its top or in a function."""
    modules = {module_of(path) for path in paths}
    graph = {}
    for path in paths:
        names = imported_from_the_house(path, executed)
        # What is no module is a name within one: `core.problems.instances.optima.table` stands for `core.problems.instances.optima`.
        graph[module_of(path)] = {name if name in modules else name.rpartition(".")[0] for name in names} & modules
    return graph


def circle(graph: dict[str, set[str]]) -> list[str]:
    """A circle of imports, in which each module is imported by the next; empty: there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_one_way(package):
    assert sources(package)
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sources(package)
        for module in imported_from_the_house(path)
        if not is_in(module, MAY_IMPORT[package])
    ]
    assert not wrong


def test_no_imports_form_a_circle():
    graph = import_graph([path for package in HOUSE for path in sources(package)])
    assert circle(graph) == []
    assert graph["core.lang.front.translator"] and "core.lang.tree" in circle(
        graph | {"core.lang.tree": {"core.lang.front.translator"}}
    )


def test_costly_packages_are_imported_late():
    program = f"import sys, {', '.join(STARTED_BY_EVERY_RANK)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not LATE.intersection(done.stdout.split())


def names_of_devices(path: Path) -> list[str]:
    """The lines of a file that name a device, comments and docstrings aside."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return [line.strip() for line in ast.unparse(tree).splitlines() if DEVICES.search(line)]


def test_core_names_no_device():
    found = {str(path.relative_to(ROOT)): names_of_devices(path) for path in sources("core")}
    assert {path: lines for path, lines in found.items() if lines} == {}


# --- a backend is added by one file and a line: nobody outside `backends` compares with a backend's name ---


def names_in(node: ast.AST, constants: dict[str, set[str]]) -> set[str]:
    """The backends' names among the texts of an expression, and of the module's constants that it uses."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and part.value in backends.NAMES:
            found.add(part.value)
        elif isinstance(part, ast.Name):
            found |= constants.get(part.id, set())
    return found


def compared(tree: ast.Module) -> list[tuple[int, str]]:
    """The lines of a module on which something is compared with a backend's name, and the name."""
    constants = {
        target.id: names_in(statement.value, {})
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        sides: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            # What is looked up in a mapping or called with a name is compared as what comes out.
            sides = [side for side in [node.left, *node.comparators] if not isinstance(side, ast.Call | ast.Subscript)]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        found += [(node.lineno, name) for side in sides for name in sorted(names_in(side, constants))]
    return found


def test_nobody_outside_backends_compares_with_a_backends_name():
    paths = [path for package in ("core", "cluster", "reports", "drivers") for path in sources(package)]
    found = {str(path.relative_to(ROOT)): compared(tree_of(path)) for path in paths}
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert compared(ast.parse('BASE = "cpu"\nz = record.backend in (BASE, "x")')) == [(2, "cpu")]
