"""The order of the house: imports point one way, costly packages come late, core knows no device."""

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ("core", "backends", "cluster", "reports", "drivers")
LANGUAGE = ("core.lang", "core.command_line", "core.errors", "core.standard_output", "core.whole_files")
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
    "core.lang",
    "core.problems",
    "backends",
    "backends.base",
    "cluster",
    "drivers.console",
    "cluster.programs",
    "drivers.aco",
    "drivers.cluster_check",
    "drivers.exact",
    "drivers.heldkarp",
    "drivers.ihc",
    "drivers.knapsack",
    "drivers.lcs",
    "drivers.ppp",
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


def for_types_only(node: ast.AST) -> bool:
    """Whether a statement is the `if TYPE_CHECKING:` whose body no program runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING"


def executed(node: ast.AST):
    """Yield all nodes below one, functions' bodies included, but for what only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if for_types_only(child):
            child = ast.Module(child.orelse, [])
        yield child
        yield from executed(child)


def imported_from_the_house(path: Path, nodes=ast.walk) -> list[str]:
    """Name every module that the file imports anywhere, relative imports resolved."""
    found = []
    package = path.relative_to(ROOT).parent.parts
    for node in nodes(ast.parse(path.read_text())):
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
        # What is no module is a name within one: `core.problems.known.table` stands for `core.problems.known`.
        graph[module_of(path)] = {name if name in modules else name.rpartition(".")[0] for name in names} & modules
    return graph


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Describe circles of imports, until taking one import out of each leaves none."""
    graph, found = {module: set(imports) for module, imports in graph.items()}, []
    while True:
        try:
            graphlib.TopologicalSorter(graph).prepare()
            return found
        except graphlib.CycleError as error:
            # In the order of `TopologicalSorter`, where each module is imported by the next.
            circle = error.args[1][::-1]
            found.append(" imports ".join(circle))
            graph[circle[0]].remove(circle[1])


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
    paths = [path for package in HOUSE for path in sources(package)]
    assert circles(import_graph(paths)) == []


def test_circles_are_seen_wherever_an_import_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    texts = {
        "core/__init__.py": "",
        "core/a.py": "from core import b\nfrom core.c import name",
        "core/b.py": "def late():\n    if True:\n        import core.a",
        "core/c.py": "import typing\nif typing.TYPE_CHECKING:\n    from core import a\nelse:\n    from core import g",
        "core/d.py": "from . import e",
        "core/f.py": "import core.g",
        "core/g.py": "from core.c import name",
        "core/e.py": "class E:\n    def late(self):\n        from .d import anything",
    }
    (tmp_path / "core").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = [set(circle.split(" imports ")) for circle in circles(import_graph(sources("core")))]
    assert sorted(map(sorted, found)) == [["core.a", "core.b"], ["core.c", "core.g"], ["core.d", "core.e"]]


def test_costly_packages_are_imported_late():
    program = f"import sys, {', '.join(STARTED_BY_EVERY_RANK)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not LATE.intersection(done.stdout.split())


def without_docstrings(path: Path) -> str:
    """Print a file's code without comments and docstrings, which may well compare devices."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def test_core_names_no_device():
    wrong = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sources("core")
        for line in without_docstrings(path).splitlines()
        if DEVICES.search(line)
    ]
    assert not wrong
