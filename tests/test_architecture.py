"""Architecture: direction of imports, circles, folders, names of classes, devices outside of `backends`."""

import ast
import graphlib
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import backends
import onekernel
from drivers.workload.registry import NAMES

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "backends", "cluster", "reports", "drivers")
MOST_MODULES = 18
LANGUAGE = (
    *("core.lang", "core.program_parser", "core.errors", "core.standard_output", "core.atomic_files"),
    *("core.granted_cores", "core.ranks"),
)
MAY_IMPORT = {
    "core": ("core",),
    "core.lang": LANGUAGE,
    "backends": ("backends", *LANGUAGE),
    "cluster": ("cluster", *LANGUAGE),
    "reports": ("reports", "core", "cluster.model"),
    "drivers": PACKAGES,
}
LAYERS = ("cli", "options", "peers", "workload", "runs", "experiments", "library")
"""Packages of `drivers`; each imports only those before it, and no program."""
for layer, name in enumerate(LAYERS):
    MAY_IMPORT[f"drivers.{name}"] = (*PACKAGES[:-1], *(f"drivers.{layer}" for layer in LAYERS[: layer + 1]))
LATE = {
    *("numba", "llvmlite", "pyopencl", "mpi4py"),
    *("matplotlib", "scipy", "pandas", "rich", "jinja2"),
    *("tsplib95", "networkx", "joblib", "pooch", "psutil", "filelock"),
}
STARTED_BY_EVERY_RANK = (
    *("core.lang", "core.instances", "core.tours", "backends.launch", "cluster", "drivers.console"),
    *(f"drivers.{name}" for name in NAMES),
)
DEVICES = re.compile(r"\b(cpu|threads|cuda|opencl|pyopencl|pocl|numba|joblib|loky|mpi|mpi4py|nvidia)\b", re.I)


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package.replace(".", "/")).rglob("*.py"))


def all_sources() -> list[Path]:
    return [path for package in PACKAGES for path in sources(package)]


def is_in(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    """Syntax tree of a file, cached since every check reads all files."""
    return ast.parse(path.read_text())


@cache
def project_imports(path: Path) -> list[str]:
    """Full names that a file imports from the five packages, also in functions and below `if TYPE_CHECKING:`."""
    names = []
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            # The last name may be a module too: `from core import lang`.
            names += [f"{module}.{alias.name}" for alias in node.names]
    return [module for module in names if is_in(module, PACKAGES)]


@cache
def import_graph() -> dict[str, set[str]]:
    modules = {module_of(path) for path in all_sources()}
    graph = {}
    for path in all_sources():
        names = project_imports(path)
        # A name that is no module belongs to one: `core.errors.UserError` means `core.errors`.
        graph[module_of(path)] = {name if name in modules else name.rpartition(".")[0] for name in names} & modules
    return graph


def folded(graph: dict[str, set[str]], package: str) -> dict[str, set[str]]:
    """Return the imports between the direct parts of a package: its modules and its sub-packages."""
    depth = package.count(".") + 2

    def part(module: str) -> str:
        return ".".join(module.split(".")[:depth])

    parts: dict[str, set[str]] = {}
    for module, imported in graph.items():
        if is_in(module, (package,)):
            imports = {part(one) for one in imported if is_in(one, (package,))} - {part(module)}
            parts.setdefault(part(module), set()).update(imports)
    return parts


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Circles of imports: in each, the next module imports the one before. A circle is broken at one import before the
    search continues, so few overlapping ones are listed.
    """
    rest = {module: set(imported) for module, imported in graph.items()}
    circles_found = []
    while True:
        try:
            graphlib.TopologicalSorter(rest).prepare()
        except graphlib.CycleError as error:
            circle = error.args[1]
        else:
            return circles_found
        circles_found.append(circle)
        rest[circle[1]].remove(circle[0])


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_one_way(package):
    assert sources(package)
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sources(package)
        for module in project_imports(path)
        if not is_in(module, MAY_IMPORT[package])
    ]
    assert not wrong


def test_kernels_import_kernels_and_the_language_alone():
    kernels = [path for path in sources("core") if "kernels" in path.with_suffix("").parts]
    assert len(kernels) > 40
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in kernels
        for module in project_imports(path)
        if not is_in(module, LANGUAGE) and "kernels" not in module.split(".")
    ]
    assert not wrong


# --- circles ---


def test_no_imports_form_a_circle():
    assert [set(one) for one in circles({"a": {"b"}, "b": {"a"}, "c": {"b"}})] == [{"a", "b"}]
    loops = circles(import_graph())
    assert not loops, "\n".join(" <- ".join(one) for one in loops)


def test_sub_packages_of_reports_form_no_circle():
    parts = folded(import_graph(), "reports")
    assert "reports.records" in parts["reports.papers"]
    assert not circles(parts)


# --- folders, names and docstrings of packages ---


def is_program(path: Path) -> bool:
    """True for a program at the root of `drivers`, which does not count as a module of its folder."""
    return path.parent.name == "drivers" and 'if __name__ == "__main__":' in path.read_text()


def crowded_folders() -> dict[str, int]:
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in all_sources() if not is_program(path))
    return {folder: count for folder, count in counts.items() if count > MOST_MODULES}


def repeated_classes() -> dict[str, list[str]]:
    classes: dict[str, list[str]] = {}
    for path in all_sources():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return {name: places for name, places in classes.items() if len(places) > 1}


def undocumented_packages() -> list[str]:
    folders = sorted({path.parent for path in all_sources()})
    starts = [folder / "__init__.py" for folder in folders]
    missing = [path for path in starts if not path.exists() or not ast.get_docstring(tree_of(path))]
    return [str(path.parent.relative_to(ROOT)) for path in missing]


def test_no_folder_is_crowded():
    assert crowded_folders() == {}


def test_no_two_classes_have_one_name():
    """But `ok.HillClimbing`, an algorithm of local search, and the search of `oneil2011`: both are the field's name."""
    assert set(repeated_classes()) <= {"HillClimbing"}


def test_every_package_says_what_it_holds():
    assert undocumented_packages() == []


# --- costs of an import, and names of devices ---


def test_costly_packages_are_imported_late():
    program = f"import sys, {', '.join(STARTED_BY_EVERY_RANK)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not LATE.intersection(done.stdout.split())


def names_of_devices(path: Path) -> list[str]:
    """Lines that name a device, without docstrings and comments."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return [line.strip() for line in ast.unparse(tree).splitlines() if DEVICES.search(line)]


def test_core_names_no_device():
    names = {str(path.relative_to(ROOT)): names_of_devices(path) for path in sources("core")}
    assert {path: lines for path, lines in names.items() if lines} == {}


# --- a new backend needs no change outside of `backends`, so no other package compares with a backend's name ---


def names_in(node: ast.AST, constants: dict[str, set[str]]) -> set[str]:
    """Names of backends in an expression, including the module's constants."""
    names = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and part.value in backends.NAMES:
            names.add(part.value)
        elif isinstance(part, ast.Name):
            names |= constants.get(part.id, set())
    return names


def compared(tree: ast.Module) -> list[tuple[int, str]]:
    """Lines that compare with a backend's name, each with the name."""
    constants = {
        target.id: names_in(statement.value, {})
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    comparisons = []
    for node in ast.walk(tree):
        sides: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            # A lookup or a call with a name is compared by its result.
            sides = [side for side in [node.left, *node.comparators] if not isinstance(side, ast.Call | ast.Subscript)]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        comparisons += [(node.lineno, name) for side in sides for name in sorted(names_in(side, constants))]
    return comparisons


def test_no_other_package_compares_with_a_backends_name():
    paths = [path for package in ("core", "cluster", "reports", "drivers") for path in sources(package)]
    comparisons = {str(path.relative_to(ROOT)): compared(tree_of(path)) for path in paths}
    assert {path: lines for path, lines in comparisons.items() if lines} == {}
    assert compared(ast.parse('BASE = "cpu"\nz = record.backend in (BASE, "x")')) == [(2, "cpu")]


def test_names_that_onekernel_imports_at_first_use_are_those_that_type_checkers_see():
    tree = ast.parse((ROOT / "onekernel" / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert {alias.name: node.module for node in block.body for alias in node.names} == onekernel._FOUND_IN
