"""Other solvers on the same instance in the same run: Concorde, LKH, elkai and OR-tools, those that are here.

Each runs in processes of its own and is judged by its tour, which our scorer measures. What its process takes to start
is told apart from what the instance takes: a minimal run, of five cities, is timed as often as the instance's.

python -m drivers.exact_peers PACKAGE MATRIX.npy REPEATS      what a package's process does; prints one line of JSON
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LIMIT_S = 60.0
"""Seconds after which a single run of a peer is given up."""

MINIMAL = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
"""Five cities on a line: what a peer's start-up is measured with."""


class Peer(NamedTuple):
    """A solver to compare with; `proves`: whether its answer is proved to be the shortest tour."""

    name: str
    proves: bool
    how_to_get: str


class Measured(NamedTuple):
    """What a peer did, medians over its repetitions; `trouble` says why there is nothing, and is empty otherwise.

    `solve_s` is the time of the instance without `start_s`, that of a minimal run: differences of wall-clock times for
    a program, and times inside the process for a package, whose start is its import and that minimal run. `own_clock_s`
    is what a program says itself, with the digits that it prints.
    """

    name: str
    proves: bool
    length: int | None = None
    solve_s: float | None = None
    start_s: float | None = None
    own_clock_s: float | None = None
    repetitions: int = 0
    version: str = ""
    trouble: str = ""


class PeerError(Exception):
    """A peer ran and gave no tour; says why."""


CONCORDE = Peer("concorde", True, "build it from www.math.uwaterloo.ca/tsp/concorde and put it on PATH")
LKH = Peer("LKH", False, "build it from webhotel4.ruc.dk/~keld/research/LKH-3 and put it on PATH")
ELKAI = Peer("elkai", False, "pip install elkai (LKH as a package)")
ORTOOLS = Peer("ortools", True, "pip install ortools")
PEERS = (CONCORDE, LKH, ELKAI, ORTOOLS)


def measure(distances: np.ndarray, repeats: int) -> list[Measured]:
    """Run every peer that is here on one instance.

    Parameters
    ----------
    distances : ndarray, shape (n, n), integers, symmetric
    repeats : int
        Runs of the instance, and of the minimal one.

    Returns
    -------
    list of Measured
        One for each of `PEERS`; one that is missing, fails or is given up after `LIMIT_S` says so in `trouble`.
    """
    return [_measured(peer, distances, repeats) for peer in PEERS]


def _measured(peer: Peer, distances: np.ndarray, repeats: int) -> Measured:
    if peer in PROGRAMS:
        path = shutil.which(peer.name)
        here = path is not None
    else:
        path = None
        here = importlib.util.find_spec(peer.name) is not None
    if not here:
        return Measured(peer.name, peer.proves, trouble=f"not found: {peer.how_to_get}")
    try:
        with tempfile.TemporaryDirectory(prefix="onekernel-peer-") as name:
            folder = Path(name)
            if path is not None:
                return _program(peer, path, folder, distances, repeats)
            return _package(peer, folder, distances, repeats)
    except PeerError as error:
        return Measured(peer.name, peer.proves, trouble=f"failed: {error}")


def table(rows: Sequence[Measured]) -> list[str]:
    """Lines of text: what each solver found and how long it took, or why there is nothing."""
    cells: list[tuple[str, ...]] = [("solver", "length", "proved", "solve", "start-up", "own clock")]
    for row in rows:
        if row.length is not None:
            proved = "yes" if row.proves else "no"
            cells.append((row.name, str(row.length), proved, *map(_time, (row.solve_s, row.start_s, row.own_clock_s))))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
    return [*lines, *(f"{row.name}: {row.trouble}" for row in rows if row.trouble)]


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.3f} ms"


# --- programs ---


class Run(NamedTuple):
    """One run of a program: wall-clock seconds, what it printed, and its tour's cities from 0."""

    seconds: float
    said: str
    tour: list[int]


def _program(peer: Peer, path: str, folder: Path, distances: np.ndarray, repeats: int) -> Measured:
    solve, own_clock = PROGRAMS[peer]
    write_full_matrix(folder / "minimal.tsp", MINIMAL)
    write_full_matrix(folder / "instance.tsp", distances)
    solve(path, folder, "minimal")  # the first run reads the program from the disk
    starts = [solve(path, folder, "minimal").seconds for _ in range(repeats)]
    runs = [solve(path, folder, "instance") for _ in range(repeats)]
    start_s = statistics.median(starts)
    clocks = [float(found[-1]) for run in runs if (found := own_clock.findall(run.said))]
    return Measured(
        peer.name,
        peer.proves,
        _length(distances, [run.tour for run in runs]),
        max(0.0, statistics.median(run.seconds for run in runs) - start_s),
        start_s,
        statistics.median(clocks) if clocks else None,
        repeats,
    )


def _concorde(path: str, folder: Path, name: str) -> Run:
    """Solve with the given seed and without files left over; the answer is the number of cities and they, from 0."""
    answer = folder / "answer.sol"
    seconds, said = _timed([path, "-s", "1", "-x", "-o", answer.name, f"{name}.tsp"], folder, answer)
    _, *tour = _numbers(answer.read_text(), answer.name)
    return Run(seconds, said, tour)


def _lkh(path: str, folder: Path, name: str) -> Run:
    """Make one run of LKH, whose own default is ten; the answer is a TSPLIB tour, cities from 1, ended by -1."""
    answer, parameters = folder / "answer.tour", folder / f"{name}.par"
    parameters.write_text(f"PROBLEM_FILE = {name}.tsp\nRUNS = 1\nSEED = 1\nTOUR_FILE = {answer.name}\n")
    seconds, said = _timed([path, parameters.name], folder, answer)
    section = answer.read_text().partition("TOUR_SECTION")[2].partition("-1")[0]
    return Run(seconds, said, [city - 1 for city in _numbers(section, answer.name)])


PROGRAMS: dict[Peer, tuple[Callable[[str, Path, str], Run], re.Pattern[str]]] = {
    CONCORDE: (_concorde, re.compile(r"Total Running Time: ([\d.]+)")),
    LKH: (_lkh, re.compile(r"Time\.(?:avg|total) = ([\d.]+)")),
}
"""How each program is asked, and where it prints its own time."""


def write_full_matrix(path: Path, distances: np.ndarray) -> None:
    """Write an instance in the form that both programs read, whatever its own was: TSPLIB's explicit full matrix."""
    header = f"NAME: {path.stem}\nTYPE: TSP\nDIMENSION: {len(distances)}\n"
    form = "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
    rows = "".join(" ".join(map(str, row)) + "\n" for row in distances.tolist())
    path.write_text(f"{header}{form}{rows}EOF\n", encoding="ascii")


def _timed(command: Sequence[str], folder: Path, answer: Path) -> tuple[float, str]:
    """Run a program that has to leave a file: wall-clock seconds, and what it printed."""
    answer.unlink(missing_ok=True)
    began = time.perf_counter()
    said = _finished(command, LIMIT_S, cwd=folder)
    seconds = time.perf_counter() - began
    if not answer.exists():
        raise PeerError(f"no tour; its last line: {_last_line(said)}")
    return seconds, said


def _finished(command: Sequence[str], limit: float, **options: Any) -> str:
    """What a process prints on standard output until it ends well."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, check=False, **options
        )
    except subprocess.TimeoutExpired:
        raise PeerError(f"no answer within {limit:g} s") from None
    except OSError as error:
        raise PeerError(f"cannot be started: {error.strerror}") from None
    if done.returncode:
        raise PeerError(f"ended with code {done.returncode}: {_last_line(done.stderr or done.stdout)}")
    return done.stdout


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "it printed nothing"


def _numbers(text: str, name: str) -> list[int]:
    try:
        numbers = [int(word) for word in text.split()]
    except ValueError:
        numbers = []
    if not numbers:
        raise PeerError(f"found {text[:40]!r} in {name}, expected a tour's cities")
    return numbers


def _length(distances: np.ndarray, tours: Sequence[Sequence[int]]) -> int:
    """Score the tours of all repetitions and return the longest: a peer is as good as it is every time."""
    from core.problems.tsp import tour_length

    try:
        return max(tour_length(distances, np.array(tour, dtype=np.int64)) for tour in tours)
    except ValueError as error:
        raise PeerError(f"no tour: {error}") from None


# --- packages ---


def _package(peer: Peer, folder: Path, distances: np.ndarray, repeats: int) -> Measured:
    matrix = folder / "instance.npy"
    np.save(matrix, distances)
    command = [sys.executable, "-m", "drivers.exact_peers", peer.name, str(matrix), str(repeats)]
    paths = os.pathsep.join(path for path in sys.path if path)
    said = _finished(command, LIMIT_S * (repeats + 1), env=os.environ | {"PYTHONPATH": paths})
    try:
        answer = json.loads(_last_line(said))
    except ValueError:
        raise PeerError(f"found {_last_line(said)!r}, expected its result") from None
    return Measured(
        peer.name,
        peer.proves,
        _length(distances, answer["tours"]),
        statistics.median(answer["seconds"]),
        answer["start_s"],
        None,
        repeats,
        answer["version"],
    )


def solve_with_elkai(distances: list[list[int]]) -> list[int]:
    """One run of LKH inside this process, from the matrix to the tour."""
    elkai = importlib.import_module("elkai")
    closed: list[int] = elkai.DistanceMatrix(distances).solve_tsp(runs=1)
    return closed[:-1]


def solve_with_ortools(distances: list[list[int]]) -> list[int]:
    """CP-SAT's circuit constraint on all cores, from the matrix to the tour and its proof.

    Raises
    ------
    PeerError
        It stopped without a proof.
    """
    cp_model = importlib.import_module("ortools.sat.python.cp_model")
    n = len(distances)
    model = cp_model.CpModel()
    arcs = [(i, j, model.new_bool_var("")) for i in range(n) for j in range(n) if i != j]
    model.add_circuit(arcs)
    model.minimize(sum(distances[i][j] * taken for i, j, taken in arcs))
    solver = cp_model.CpSolver()
    status = solver.solve(model)
    if status != cp_model.OPTIMAL:
        raise PeerError(f"stopped with {solver.status_name(status)}, expected a proved optimum")
    following = {i: j for i, j, taken in arcs if solver.boolean_value(taken)}
    tour = [0]
    while len(tour) < n:
        tour.append(following[tour[-1]])
    return tour


PACKAGES = {"elkai": solve_with_elkai, "ortools": solve_with_ortools}


def main(argv: Sequence[str]) -> int:
    """Be the process of a package: time its start, the import and a minimal run, and then the instance."""
    name, matrix, repeats = argv
    solve = PACKAGES[name]
    began = time.perf_counter()
    solve(MINIMAL.tolist())
    start_s = time.perf_counter() - began
    distances = np.load(matrix).tolist()
    seconds, tours = [], []
    for _ in range(int(repeats)):
        began = time.perf_counter()
        tours.append(solve(distances))
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"start_s": start_s, "seconds": seconds, "tours": tours, "version": _version(name)}))
    return 0


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
