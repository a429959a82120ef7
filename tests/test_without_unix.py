"""All modules load, and searches run, where Python has none of the parts that Windows lacks. No test runs on Windows."""

import subprocess
import sys
from pathlib import Path

import pytest

import onekernel as ok

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "backends", "cluster", "drivers", "reports", "onekernel")
MASK = """
import asyncio, contextlib, multiprocessing.util, os, signal, socket, subprocess, sys, tempfile
import cloudpickle, filelock, numba, platformdirs, psutil  # which use them where they are
with contextlib.suppress(ImportError):
    import cuda.pathfinder
MISSING = ("fcntl", "resource", "pwd", "grp", "termios")
for name in MISSING:
    sys.modules[name] = None
for name in ("getuid", "geteuid", "getpgid", "killpg", "setsid", "fork", "forkpty", "sysconf", "uname", "getloadavg",
             "sched_getaffinity", "sched_setaffinity", "memfd_create", "posix_fallocate", "statvfs",
             "fstatvfs", "O_DIRECTORY"):
    vars(os).pop(name, None)
for name in ("SIGUSR1", "SIGUSR2", "SIGKILL", "SIGCHLD", "SIGHUP", "SIGALRM", "pthread_kill", "setitimer"):
    vars(signal).pop(name, None)
del socket.AF_UNIX
"""
LOAD = f"""
import importlib
PACKAGES = {PACKAGES}
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.split(".")[0] in PACKAGES or error.name in MISSING:
            raise
        print("no", error.name)
print("all")
"""
SEARCH = """
import onekernel as ok
print([ok.run("ihc", instance="uniform:12:seed=1", climbers=4, backend=backend).hash for backend in ("python", "cpu", "threads")])
"""
PROGRAM = "from drivers.console import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def masked(tmp_path, environment):
    def run(program, *arguments, code=0):
        command = [sys.executable, "-c", MASK + program, *map(str, arguments)]
        place = environment | {"ONEKERNEL_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(command, cwd=tmp_path, env=place, capture_output=True, text=True, timeout=250)
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    return run


def test_every_module_loads(masked):
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths if path.name != "__main__.py"]
    assert len(names) > 400
    assert masked(LOAD, *(name.removesuffix(".__init__") for name in names)).endswith("all\n")


@pytest.mark.slow
def test_a_search_finds_the_same(masked):
    expected = ok.run("ihc", instance="uniform:12:seed=1", climbers=4, backend="python").hash
    assert masked(SEARCH) == f"{[expected] * 3}\n"


@pytest.mark.slow
def test_a_program_writes_records_and_a_checkpoint(masked, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)  # as Windows reports every folder
    words = ["ihc", "--instance", "uniform:12:seed=1", "--climbers", 4, "--backend", "python", "--repeats", 2]
    masked(PROGRAM, *words, "--record", "runs.jsonl", "--checkpoint", "state")
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 1
    assert list((tmp_path / "cache").glob("self-test/python-*"))


REFUSED = {
    "ihc --climbers 4 --backend joblib": "joblib's workers map the memory of their parent as only Unix can; or --backend threads",
    "peers install elkai": "elkai>=2,<3: environments of other solvers need a Unix system",
    "lcs random:3000 --backend cpu --mapping published --spill .": "--spill .: ",
}


@pytest.mark.slow
@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_run_is_one_line(masked, line):
    error = masked(PROGRAM, *line.split(), code=2)
    assert error.startswith(f"error: {REFUSED[line]}") and error.count("\n") == 1
