"""Packages and programs that replace external solvers: each enumerates all solutions."""

SHORTEST = """
import itertools
def length(rows, tour):
    return sum(rows[a][b] for a, b in zip(tour, tour[1:] + tour[:1]))
def shortest(rows):
    every = ([0, *rest] for rest in itertools.permutations(range(1, len(rows))))
    return min(every, key=lambda tour: length(rows, tour))
"""
PROGRAM = (
    "#!{python}\nimport re, sys\n"
    + SHORTEST
    + """
def solved(path):
    text = open(path).read()
    n = int(re.search("DIMENSION: (.*)", text)[1])
    numbers = [int(word) for word in text.split("SECTION")[1].split("EOF")[0].split()]
    return shortest([numbers[i * n : i * n + n] for i in range(n)])

"""
)
CONCORDE = """
assert sys.argv[1] == "-s" and int(sys.argv[2]) >= 1 and sys.argv[3] == "-o", sys.argv
tour = solved(sys.argv[5])
open(sys.argv[4], "w").write(f"{len(tour)}\\n" + " ".join(map(str, tour)) + " \\n")
print("Optimal Solution: 1.00")
print("Total Running Time: 0.25 (seconds)")
"""
LKH = """
said = dict(line.split(" = ") for line in open(sys.argv[1]).read().splitlines())
assert said["RUNS"] == "1"
tour = solved(said["PROBLEM_FILE"])
head = f"NAME : x.1.tour\\nTYPE : TOUR\\nDIMENSION : {len(tour)}\\nTOUR_SECTION\\n"
open(said["TOUR_FILE"], "w").write(head + "\\n".join(str(city + 1) for city in tour) + "\\n-1\\nEOF\\n")
print("Time.min = 0.25 sec., Time.avg = 0.50 sec., Time.max = 0.75 sec.")
"""
FAST_TSP = (
    SHORTEST
    + """
def find_tour(dists, duration_seconds):
    assert duration_seconds > 0
    return shortest(dists) if duration_seconds >= 0.004 else list(range(len(dists)))
"""
)
ELKAI = (
    SHORTEST
    + """
class DistanceMatrix:
    def __init__(self, rows):
        self.rows = rows
    def solve_tsp(self, runs):
        assert runs == 1
        return [*shortest(self.rows), 0]
"""
)
HELD_KARP = (
    SHORTEST
    + """
def solve_flat(flat, n):
    rows = [flat[i * n : i * n + n] for i in range(n)]
    tour = shortest(rows)
    return tour, length(rows, tour)
"""
)
CP_MODEL = """
import itertools
OPTIMAL, FEASIBLE = 4, 2
class Literal:
    def __rmul__(self, weight):
        return Cost([(weight, self)])
class Cost:
    def __init__(self, terms):
        self.terms = terms
    def __radd__(self, zero):
        return self
    def __add__(self, other):
        return Cost(self.terms + other.terms)
class CpModel:
    def new_bool_var(self, name):
        return Literal()
    def add_circuit(self, arcs):
        self.arcs = {(i, j): taken for i, j, taken in arcs}
    def minimize(self, cost):
        self.weights = {taken: weight for weight, taken in cost.terms}
class Parameters:
    max_time_in_seconds = random_seed = None
class CpSolver:
    def __init__(self):
        self.parameters = Parameters()
    def solve(self, model):
        assert self.parameters.max_time_in_seconds > 0 and self.parameters.random_seed >= 1
        n = 1 + max(i for i, _ in model.arcs)
        def arcs(rest):
            tour = [0, *rest]
            return [model.arcs[arc] for arc in zip(tour, tour[1:] + tour[:1])]
        self.taken = min(map(arcs, itertools.permutations(range(1, n))), key=lambda a: sum(map(model.weights.get, a)))
        return OPTIMAL
    def status_name(self, status):
        return {0: "UNKNOWN"}[status]
    def boolean_value(self, taken):
        return taken in self.taken
"""
KNAPSACK_SOLVER = """
import itertools
class SolverType:
    KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER = 5
class KnapsackSolver:
    def __init__(self, kind, name):
        assert kind == 5
    def set_time_limit(self, seconds):
        assert seconds > 0
    def init(self, values, weights, capacities):
        self.given = values, weights[0], capacities[0]
    def solve(self):
        values, weights, capacity = self.given
        fits = lambda some: sum(w for w, taken in zip(weights, some) if taken) <= capacity
        worth = lambda some: sum(v for v, taken in zip(values, some) if taken)
        self.best = max(filter(fits, itertools.product([0, 1], repeat=len(values))), key=worth)
        return worth(self.best)
    def best_solution_contains(self, item):
        return bool(self.best[item])
    def is_solution_optimal(self):
        return True
"""
RAPIDFUZZ = """
class LCSseq:
    @staticmethod
    def similarity(a, b):
        row = [0] * (len(b) + 1)
        for letter in a:
            before = row
            row = [0]
            for k, other in enumerate(b):
                row.append(before[k] + 1 if letter == other else max(before[k + 1], row[k]))
        return row[-1]
"""
