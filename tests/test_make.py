"""Packages that `make` installs for a goal, with a Python that only records its arguments; and whether they exist."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from drivers.peers import packages
from drivers.peers.environment import NUMPY

ROOT = Path(__file__).parents[1]
PYTHON = """#!/bin/sh
echo "$*" >> "$TOLD"
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    *" install "*) if [ -e "$FAILS" ]; then exit 1; fi ;;
esac
"""


@pytest.fixture
def make(tmp_path):
    """Run a goal in a copy of the files that `make` reads; return the extras requested of pip."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "cluster/setup.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    tools, written = tmp_path / "tools", tmp_path / "told"
    tools.mkdir()
    program(tools / "python", PYTHON)
    program(tools / "ldconfig", "#!/bin/sh\n")
    paths = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "TOLD": str(written), "FAILS": str(tmp_path / "fails")}

    def run(*arguments, code=0):
        written.write_text("")
        environment = {name: value for name, value in os.environ.items() if name not in ("EXTRAS", "MAKEFLAGS")}
        command, there = ["make", *arguments, "PYTHON=python"], environment | paths
        done = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True, timeout=60)
        assert (done.returncode != 0) == (code != 0), done.stderr
        asked = [line.rpartition(" ")[2] for line in written.read_text().splitlines() if " install " in line]
        return [one.removeprefix(".[").removesuffix("]") for one in asked]

    return run


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a driver")
def test_programs_need_no_test_tools_and_cudas_wheels_only_where_a_driver_is(make, tmp_path):
    assert make("compare") == ["mpi,opencl,report"]
    assert make("overview") == make("paper") == []
    program(tmp_path / "tools" / "nvidia-smi", "#!/bin/sh\n")
    shutil.rmtree(tmp_path / ".venv")
    assert make("venv") == ["cuda,mpi,opencl,report"]


def test_a_set_of_extras_is_installed_once_and_kept(make):
    assert make("venv", "EXTRAS=opencl,report") == ["opencl,report"]
    assert make("venv", "EXTRAS=report,opencl") == make("compare") == make("venv") == make("venv", "EXTRAS=") == []


def test_checks_and_the_site_add_what_they_need_and_change_no_choice(make):
    assert make("venv", "EXTRAS=opencl") == ["opencl"]
    assert make("lint") == ["report,test"]
    assert make("docs") == ["docs,report"]
    assert make("lint") == make("docs") == make("compare") == []


def test_checks_need_nothing_more_after_tests(make):
    assert make("test")[0] == "all"
    assert make("lint") == make("docs") == make("compare") == []


def test_a_set_up_that_did_not_end_or_is_older_than_its_files_starts_over(make, tmp_path):
    assert make("venv", "EXTRAS=opencl") == ["opencl"]
    left = tmp_path / ".venv" / "left-over"
    left.touch()
    (tmp_path / "fails").touch()
    assert make("venv", "EXTRAS=report", code=2) == ["report"]
    (tmp_path / "fails").unlink()
    assert left.exists()
    assert make("venv", "EXTRAS=opencl") == ["opencl"]
    assert not left.exists() and os.listdir(tmp_path / ".venv" / "with") == ["opencl"]
    later = (tmp_path / ".venv" / "with" / "opencl").stat().st_mtime + 10
    os.utime(tmp_path / "pyproject.toml", (later, later))
    assert make("venv", "EXTRAS=opencl") == ["opencl"]


# --- extras and other solvers ---

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# CUDA 12 and 13 exclude each other.
TOGETHER = {"CUDA 13": {*EXTRAS} - {"cuda12"}, "CUDA 12": {*EXTRAS} - {"cuda", "cuda-nvrtc", "all"}}
UNKNOWN_TO_3_14 = ("elkai", "held-karp")
"""Solvers without a wheel for Python 3.14."""
NAMED = re.compile(r"""(?:onekernel|[' "]\.)\[([a-z][\w,-]*)\]|EXTRAS=([a-z][\w,-]*)""")


def test_extras_that_messages_and_pages_name_exist_and_can_be_installed_together():
    folders = ("core", "backends", "cluster", "drivers", "reports", "docs", "tests", "examples")
    files = [path for one in folders for path in ROOT.glob(f"{one}/**/*") if path.suffix in (".py", ".md", ".toml")]
    texts = [path.read_text() for path in (*files, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile")]
    named = {one or other for text in texts for one, other in NAMED.findall(text)}
    assert {"opencl,mpi,report", "all", "cuda12"} <= named
    assert not [names for names in named if all({*names.split(",")} - together for together in TOGETHER.values())]


@pytest.mark.slow
@pytest.mark.xdist_group("index")
@pytest.mark.parametrize(
    ("wanted", "python"),
    [
        (wanted, python)
        for wanted in (*TOGETHER, "ARM64", *packages())
        for python in ("3.11", "3.12", "3.13", "3.14")
        if python != "3.14" or wanted not in UNKNOWN_TO_3_14
    ],
)
def test_wheels_for_all_extras_together_and_for_each_solver_exist(wanted, python, tmp_path_factory):
    """A union that can be installed shows the same of each of its parts. Only metadata is read."""
    solver = packages().get(wanted)
    extras = [f"--extra={name}" for name in TOGETHER.get(wanted, TOGETHER["CUDA 13"])]
    machine = "aarch64" if wanted == "ARM64" else "x86_64"
    command = [sys.executable, "-m", "uv", "pip", "compile", *(["-"] if solver else ["pyproject.toml", *extras])]
    command += [f"--python-version={python}", f"--python-platform={machine}-manylinux_2_28", "--only-binary=:all:"]
    command += [f"--python={sys.executable}", f"--cache-dir={tmp_path_factory.getbasetemp() / 'uv'}", "--no-annotate"]
    asked, environment = solver and f"{solver.requirement}\n{NUMPY}", os.environ | {"UV_HTTP_RETRIES": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, input=asked, capture_output=True, text=True)
    if "error sending request" in done.stderr:
        pytest.skip(f"the package index is not reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    assert f"\n{wanted if solver else 'numba'}==" in done.stdout
