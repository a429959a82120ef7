"""The order of the house: imports point one way, costly packages come late, core knows no device."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ("core", "backends", "cluster", "reports", "drivers")
LANGUAGE = ("core.lang", "core.errors")
MAY_IMPORT = {
    "core": ("core",),
    "core.lang": LANGUAGE,
    "core.kernels": ("core.kernels", *LANGUAGE),
    "core.problems": ("core.problems", "core.kernels", *LANGUAGE),
    "backends": ("backends", *LANGUAGE),
    "cluster": ("cluster", *LANGUAGE),
    "reports": ("reports", "core"),
    "drivers": HOUSE,
}
LATE = {
    *("numba", "llvmlite", "pyopencl", "mpi4py"),
    *("matplotlib", "scipy", "rich", "jinja2"),
    *("tsplib95", "networkx", "joblib", "pooch", "requests", "psutil"),
}
STARTED_BY_EVERY_RANK = (
    "core.lang",
    "core.problems",
    "backends",
    "backends.base",
    "cluster",
    "drivers.aco",
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


def imported_from_the_house(path: Path) -> list[str]:
    """Name every module that the file imports anywhere, relative imports resolved."""
    found = []
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            # In full, because `from core import lang` imports a module of that name.
            found += [f"{module}.{alias.name}" for alias in node.names]
    return [module for module in found if is_in(module, HOUSE)]


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


@pytest.mark.parametrize("module", STARTED_BY_EVERY_RANK)
def test_costly_packages_are_imported_late(module):
    command = [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
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
