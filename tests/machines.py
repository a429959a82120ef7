"""Made-up machines for the quick tests that read facts of a machine: `python -m tests.machines [NAME ...]`.

Linux name spaces replace /proc/cpuinfo, the host's name and the network; a `sitecustomize` module replaces the number of
cores. Each machine has a home folder of its own, so its caches are empty.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FACTS = re.compile(
    r"hostname|uname|cpu_count|affinity|_cores|processor|cpu_model|locale|time\.(str|local)|umask|HOME|expanduser|survey\("
)
CLOCKS = re.compile(r"perf_counter|monotonic|process_time|thread_time")
CORES = """
import os
os.sched_getaffinity = lambda process: set(range({cores}))
os.cpu_count = lambda: {cores}
"""
NAMESPACES = ("unshare", "--map-root-user", "--mount", "--uts", "--net", "sh", "-c")
# Ctrl-C is ignored as in a background job.
INSIDE = (
    'trap "" INT; ip link set lo up; hostname "$2" && mount --bind "$1/cpuinfo" /proc/cpuinfo && shift 2 && exec "$@"'
)


class Machine(NamedTuple):
    """Facts of a machine; ``tests`` matches the texts of the test modules that run on it."""

    processor: str
    cores: int
    host: str
    environment: dict[str, str]
    umask: int = 0o022
    load: int = 0
    checkout: str = ""
    tests: re.Pattern[str] = FACTS


MACHINES = {
    "brackets": Machine("Intel(R) Xeon(R) Processor @ 2.50GHz", 1, "node-17.cluster", {"TZ": "Asia/Kolkata"}),
    "commas": Machine(
        'Höchst, "K" [8] | *fast* <b>_x_</b>, 3 of 4 cores', 4, "1", {"LC_ALL": "C", "TZ": "Pacific/Apia"}
    ),
    "nameless": Machine("", 2, "localhost", {"LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns"}),
    "large": Machine("AMD EPYC 9755 128-Core Processor", 64, "n" * 63, {"LANG": "de_DE.ISO-8859-1"}),
    "blanks": Machine(
        "Neoverse-N1", 3, "my-host", {"LC_ALL": "C.UTF-8"}, umask=0o077, checkout="a clone (of mine)/it's"
    ),
    "busy": Machine("Intel(R) Core(TM) i7", 2, "busy", {}, load=4, tests=CLOCKS),
}


def modules(words: re.Pattern[str]) -> list[str]:
    """Return the test modules whose text has one of the words."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in paths if words.search(path.read_text(encoding="utf-8"))]


def prepared(machine: Machine, folder: Path) -> tuple[dict[str, str], Path]:
    """Write a machine's files into a folder; return the environment of its programs and its checkout."""
    (folder / "home of me").mkdir()
    facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    lines = [line for line in facts.splitlines(keepends=True) if not line.startswith("model name")]
    named = [f"model name\t: {machine.processor}\n"] if machine.processor else []
    (folder / "cpuinfo").write_text("".join([*named, *lines]), encoding="utf-8")
    (folder / "sitecustomize.py").write_text(CORES.format(cores=machine.cores))
    checkout = ROOT
    if machine.checkout:
        checkout = folder / machine.checkout
        files = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
        )
        for name in filter(lambda name: (ROOT / name).exists(), files.stdout.splitlines()):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, checkout / name)
    paths = {"HOME": str(folder / "home of me"), "PYTHONPATH": f"{folder}{os.pathsep}{checkout}"}
    without = ("XDG_CACHE_HOME", "ONEKERNEL_CACHE", "LANG", "LC_ALL")
    kept = {name: value for name, value in os.environ.items() if name not in without}
    return kept | machine.environment | paths, checkout


def run(name: str) -> bool:
    """Run the tests of a machine; True if they pass."""
    machine = MACHINES[name]
    with tempfile.TemporaryDirectory(prefix="machine-") as base:
        folder = Path(base)
        environment, checkout = prepared(machine, folder)
        tests = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-m", "not slow and not long"]
        words = [*NAMESPACES, INSIDE, "sh", str(folder), machine.host, *tests, *modules(machine.tests)]
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(machine.load)]
        try:
            print(f"machine {name}: {machine._replace(tests=machine.tests.pattern[:20])}", flush=True)
            return subprocess.run(words, cwd=checkout, env=environment, umask=machine.umask).returncode == 0
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()


if __name__ == "__main__":
    refused = shutil.which("unshare") is None or subprocess.run([*NAMESPACES, "true"], capture_output=True).returncode
    if refused:
        print("made-up machines are not tested: this system allows no name spaces (unshare)")
    failed = [] if refused else [name for name in sys.argv[1:] or MACHINES if not run(name)]
    sys.exit(f"failed on: {', '.join(failed)}" if failed else 0)
