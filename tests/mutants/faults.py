"""Faults made by hand, which show that tests catch what they should: each file ``*.patch`` here is one.

A patch begins with ``Symptom:``, what a user would see, and with ``Caught by:`` for each test that fails because of it.
`python -m tests.mutants.faults [NAME...]` puts each fault into a copy of the checkout and runs these tests there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
FAILED = 1
"""Pytest's exit code for tests that failed; tests that could not be collected give another."""


class Fault(NamedTuple):
    """A patch, what it causes, and the tests that notice it."""

    name: str
    symptom: str
    tests: tuple[str, ...]
    patch: str


def faults() -> list[Fault]:
    """All faults, by name."""
    return [read(path) for path in sorted(FOLDER.glob("*.patch"))]


def read(path: Path) -> Fault:
    """Read one patch with its header."""
    header, _, patch = path.read_text().partition("\n\n")
    symptom, *tests = header.split("\nCaught by: ")
    return Fault(path.stem, " ".join(symptom.removeprefix("Symptom: ").split()), tuple(tests), patch)


@contextmanager
def copied() -> Iterator[Path]:
    """Copy what git knows of the checkout to a folder beside which instances lie as they do beside the checkout."""
    with tempfile.TemporaryDirectory(prefix="onekernel-") as folder:
        copy = Path(folder) / "checkout"
        for name in git("ls-files").splitlines():
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        if (ROOT / "../shared").is_dir():
            (copy / "../shared").symlink_to((ROOT / "../shared").resolve())
        yield copy


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def apply(fault: Fault, copy: Path, *options: str) -> None:
    """Put a fault into a copy of the checkout; a patch that does not fit raises `ValueError`."""
    asked = ["git", "apply", "--unsafe-paths", *options, f"--directory={copy}", "-"]
    done = subprocess.run(asked, cwd=copy, input=fault.patch, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{fault.name}.patch does not fit: {done.stderr.strip()}")


def run(tests: tuple[str, ...], copy: Path) -> subprocess.CompletedProcess[str]:
    """Run some tests of a copy until one fails; without bytecode, which a patch within a second would leave stale."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    asked = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command = [*asked, f"--basetemp={copy.parent / 'pytest'}", *tests]
    there = kept | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=copy, env=there, capture_output=True, text=True, timeout=600)


def missed(fault: Fault, copy: Path) -> str:
    """Return why a fault is not caught in a copy, which is as before at the end; an empty text if it is caught."""
    apply(fault, copy)
    try:
        done = run(fault.tests, copy)
    finally:
        apply(fault, copy, "--reverse")
    return "" if done.returncode == FAILED else f"{fault.name}: exit code {done.returncode}\n{done.stdout[-2000:]}"


if __name__ == "__main__":
    with copied() as copy:
        for fault in faults():
            if len(sys.argv) < 2 or fault.name in sys.argv[1:]:
                print(missed(fault, copy) or f"{fault.name}: caught", flush=True)
