"""Solvers of the travelling salesman problem: fast-tsp, elkai, PyVRP, OR-tools, HiGHS, held-karp, Concorde, LKH.

All get the full matrix of distances.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from core.tours.distances import is_symmetric
from core.tours.instance import TspInstance, tour_length
from drivers.peers.peer import PeerAnswer, PeerError, PeerPackage, PeerProgram, PeerSubject

FEWEST = 3
MOST_MATRIX = 5_000
"""Cities with distances that fit in memory as Python integers, about 1 GB."""
MOST_PROVED = 60
"""Largest number of cities that OR-tools' circuit constraint, and HiGHS, solve to optimality in about a minute."""
MOST_ROUTE = 1_500
"""Largest number of cities for which PyVRP improves a route in seconds."""
MOST_HELD_KARP = 20

Matrix = list[list[int]]


def cost(instance: TspInstance, tour: Sequence[int]) -> int:
    return tour_length(instance.distances, np.array(tour, dtype=np.int64))


FIVE_ON_A_LINE = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
TOURS = PeerSubject(cost, TspInstance("minimal", distances=FIVE_ON_A_LINE))


def refusal(most: int = MOST_MATRIX, asymmetric: bool = True) -> Callable[[TspInstance], str | None]:
    """Return the function that refuses too few or too many cities, or asymmetric distances."""

    def refuses(instance: TspInstance) -> str | None:
        if not FEWEST <= instance.n <= most:
            return f"{instance.n:,} cities, expected {FEWEST} to {most:,}"
        if not asymmetric and not is_symmetric(instance.distances):
            return "asymmetric distances, expected symmetric ones"
        return None

    return refuses


# --- packages ---


def matrix_rows(instance: TspInstance) -> Matrix:
    return instance.distances.tolist()


def with_fast_tsp(distances: Matrix, seconds: float, seed: int) -> PeerAnswer:
    """Local search with repeated disturbances, for some seconds, without a seed."""
    return PeerAnswer(importlib.import_module("fast_tsp").find_tour(distances, duration_seconds=seconds), False)


def with_elkai(distances: Matrix, seconds: float, seed: int) -> PeerAnswer:
    """One run of LKH, from the matrix to the tour, without seed and time limit."""
    return PeerAnswer(importlib.import_module("elkai").DistanceMatrix(distances).solve_tsp(runs=1)[:-1], False)


def with_ortools(distances: Matrix, seconds: float, seed: int) -> PeerAnswer:
    """CP-SAT's circuit constraint on all cores, from the matrix to the tour and, in time, its proof."""
    cp_model = importlib.import_module("ortools.sat.python.cp_model")
    n = len(distances)
    model = cp_model.CpModel()
    arcs = [(i, j, model.new_bool_var("")) for i in range(n) for j in range(n) if i != j]
    model.add_circuit(arcs)
    model.minimize(sum(distances[i][j] * taken for i, j, taken in arcs))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.random_seed = seed
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise PeerError(f"stopped with {solver.status_name(status)}, expected a tour")
    following = {i: j for i, j, taken in arcs if solver.boolean_value(taken)}
    tour = [0]
    while len(tour) < n:
        tour.append(following[tour[-1]])
    return PeerAnswer(tour, status == cp_model.OPTIMAL)


def int_matrix(instance: TspInstance) -> np.ndarray:
    return instance.distances.astype(np.int64)


def with_pyvrp(distances: np.ndarray, seconds: float, seed: int) -> PeerAnswer:
    """Iterated local search for a single vehicle that visits all cities, for some seconds."""
    package, stop = importlib.import_module("pyvrp"), importlib.import_module("pyvrp.stop")
    n = len(distances)
    data = package.ProblemData(
        [package.Location(0, 0) for _ in range(n)],
        [package.Client(location=city) for city in range(1, n)],
        [package.Depot(location=0)],
        [package.VehicleType()],
        [distances],
        [np.zeros_like(distances)],
    )
    result = package.solve(data, stop.MaxRuntime(seconds), seed=seed, collect_stats=False, display=False)
    (route,) = result.best.routes()
    return PeerAnswer([0, *(visit.idx + 1 for visit in route if visit.is_client())], False)


def with_highs(distances: np.ndarray, seconds: float, seed: int) -> PeerAnswer:
    """A program over edges, solved again with constraints against its subtours until there is one tour.

    Dantzig, Fulkerson, Johnson, "Solution of a large-scale traveling-salesman problem", 1954. It takes no seed.
    """
    optimize, sparse = importlib.import_module("scipy.optimize"), importlib.import_module("scipy.sparse")
    graphs = importlib.import_module("scipy.sparse.csgraph")
    n = len(distances)
    first, second = np.triu_indices(n, 1)
    edges = np.arange(first.size)
    rows, columns = np.concatenate([first, second]), np.tile(edges, 2)
    degrees = sparse.csr_array((np.ones(rows.size), (rows, columns)), (n, edges.size))
    rules = [optimize.LinearConstraint(degrees, 2, 2)]
    while True:
        result = optimize.milp(distances[first, second], integrality=1, bounds=optimize.Bounds(0, 1), constraints=rules)
        if result.x is None:
            raise PeerError(f"stopped without a tour: {result.message}")
        chosen_edges = result.x > 0.5
        chosen = sparse.csr_array((np.ones(chosen_edges.sum()), (first[chosen_edges], second[chosen_edges])), (n, n))
        parts, label = graphs.connected_components(chosen, directed=False)
        if parts == 1:
            tour = graphs.depth_first_order(chosen, 0, directed=False, return_predecessors=False)
            return PeerAnswer(tour.tolist(), True)
        cuts = [(label[first] == part) & (label[second] == part) for part in range(parts)]
        rules.append(optimize.LinearConstraint(np.array(cuts, float), -np.inf, np.bincount(label) - 1))


def flat_matrix(instance: TspInstance) -> tuple[list[float], int]:
    return instance.distances.astype(float).ravel().tolist(), instance.n


def with_held_karp(matrix: tuple[list[float], int], seconds: float, seed: int) -> PeerAnswer:
    """The plain dynamic programming in Rust on one core, without seed and time limit."""
    tour, length = importlib.import_module("held_karp").solve_flat(*matrix)
    return PeerAnswer(list(tour), True, reported_cost=round(length))


SYMMETRIC = refusal(asymmetric=False)
# It takes any positive time, and its clock ticks in microseconds.
FAST_TSP = PeerPackage(
    "fast-tsp", TOURS, "fast-tsp>=0.2,<0.3", matrix_rows, with_fast_tsp, refuses=SYMMETRIC, timed=True, shortest_s=1e-6
)
# Its LKH is for non-commercial use only.
ELKAI = PeerPackage("elkai", TOURS, "elkai>=2,<3", matrix_rows, with_elkai, refuses=refusal())
ORTOOLS = PeerPackage("ortools", TOURS, "ortools>=9.10,<10", matrix_rows, with_ortools, refuses=refusal(MOST_PROVED))
PYVRP = PeerPackage(
    "pyvrp", TOURS, "pyvrp>=0.14,<0.15", int_matrix, with_pyvrp, refuses=refusal(MOST_ROUTE), timed=True
)
HIGHS = PeerPackage(
    "scipy highs", TOURS, "scipy>=1.14,<2", int_matrix, with_highs, refuses=refusal(MOST_PROVED, asymmetric=False)
)
HELD_KARP = PeerPackage(
    "held-karp", TOURS, "held-karp>=0.1,<0.2", flat_matrix, with_held_karp, refuses=refusal(MOST_HELD_KARP)
)


# --- programs ---


def write_full_matrix(instance: TspInstance, folder: Path, name: str) -> None:
    """Write an instance as NAME.tsp, TSPLIB's explicit full matrix, for both programs."""
    kind = "TSP" if is_symmetric(instance.distances) else "ATSP"
    header = f"NAME: {name}\nTYPE: {kind}\nDIMENSION: {instance.n}\n"
    form = "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
    lines = "".join(" ".join(map(str, row)) + "\n" for row in instance.distances.tolist())
    (folder / f"{name}.tsp").write_text(f"{header}{form}{lines}EOF\n", encoding="ascii")


def run_concorde(folder: Path, name: str, seed: int) -> Sequence[str]:
    """Solve with this seed. Files stay: with `-x`, which deletes them, Concorde exits with 255 if one is missing."""
    return ["-s", str(seed), "-o", "answer.sol", f"{name}.tsp"]


def read_concorde(answer: Path) -> PeerAnswer:
    """Read Concorde's answer: the number of cities, then the cities of the tour, from 0."""
    _, *tour = _numbers(answer.read_text(encoding="utf-8"), answer.name)
    return PeerAnswer(tour, True)


def run_lkh(folder: Path, name: str, seed: int) -> Sequence[str]:
    """Write the parameter file of a single run (LKH makes ten by default) and return its name."""
    parameters = folder / f"{name}.par"
    parameters.write_text(f"PROBLEM_FILE = {name}.tsp\nRUNS = 1\nSEED = {seed}\nTOUR_FILE = answer.tour\n")
    return [parameters.name]


def read_lkh(answer: Path) -> PeerAnswer:
    """Read LKH's answer: a TSPLIB tour, cities from 1, ended by -1."""
    section = answer.read_text(encoding="utf-8").partition("TOUR_SECTION")[2].partition("-1")[0]
    return PeerAnswer([city - 1 for city in _numbers(section, answer.name)], False)


def _numbers(text: str, name: str) -> list[int]:
    try:
        numbers = [int(word) for word in text.split()]
    except ValueError:
        numbers = []
    if not numbers:
        raise PeerError(f"found {text[:40]!r} in {name}, expected a tour's cities")
    return numbers


CONCORDE = PeerProgram(
    *("concorde", TOURS, write_full_matrix, run_concorde, "answer.sol", read_concorde),
    how_to_get="build it from www.math.uwaterloo.ca/tsp/concorde and put it on PATH, or set CONCORDE to its path",
    refuses=SYMMETRIC,
)
LKH = PeerProgram(
    *("LKH", TOURS, write_full_matrix, run_lkh, "answer.tour", read_lkh),
    how_to_get="build it from webhotel4.ruc.dk/~keld/research/LKH-3 and put it on PATH, or set LKH to its path",
    refuses=refusal(),
)

PEERS = (FAST_TSP, ELKAI, PYVRP, ORTOOLS, HIGHS, HELD_KARP, CONCORDE, LKH)
