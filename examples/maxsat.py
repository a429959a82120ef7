"""MAX-SAT: values of variables that violate few clauses. Bits with kept counts of each clause's true literals.

B. Selman, H. Levesque, D. Mitchell, "A new method for solving hard satisfiability problems", AAAI 1992. Files are those
of DIMACS, "p cnf": clauses without weights.

python examples/maxsat.py --n 250 --ratio 5                  # a random formula of clauses with three literals
python examples/maxsat.py --instance uf50-01.cnf --target 0 --walks 64
"""

from pathlib import Path

import numpy as np

import onekernel as ok
from onekernel import Array, Move, Row, bundle, function, i32, lane, team_size


@bundle
class Formula:
    start: Array[i32]  # clause c has the literals from start[c] to start[c + 1] - 1
    literal: Array[i32]  # 2 v for variable v, 2 v + 1 for its negation
    first: Array[i32]  # variable v is in the clauses from first[v] to first[v + 1] - 1
    clause: Array[i32]  # 2 c, or 2 c + 1 where it is negated
    true_literals: Array[i32] = Row("clauses")
    clauses: i32


@function
def added(bits: Array[i32], move: Move, formula: Formula) -> i32:
    total = 0
    for place in range(formula.first[move.i], formula.first[move.i + 1]):
        code = formula.clause[place]
        is_true = bits[move.i] ^ (code & 1)
        if formula.true_literals[code >> 1] == is_true:  # it breaks with its only true literal, its first repairs it
            total += 2 * is_true - 1
    return total


@function
def count(bits: Array[i32], formula: Formula):
    for clause in range(lane(), formula.clauses, team_size()):
        total = 0
        for place in range(formula.start[clause], formula.start[clause + 1]):
            total += bits[formula.literal[place] >> 1] ^ (formula.literal[place] & 1)
        formula.true_literals[clause] = total


@function
def follow(bits: Array[i32], move: Move, formula: Formula):
    for place in range(formula.first[move.i] + lane(), formula.first[move.i + 1], team_size()):
        code = formula.clause[place]
        formula.true_literals[code >> 1] += 1 - 2 * (bits[move.i] ^ (code & 1))


class MaxSat(ok.Problem):
    """Find values of variables; the cost is the number of violated clauses."""

    neighbourhoods = ("flip1",)

    def __init__(self, n: int = 250, ratio: float = 5.0, instance: Path | None = None):
        if instance is None:
            random, name = np.random.default_rng(n), f"maxsat:{n}:{ratio}"
            picks = [random.choice(n, 3, replace=False) + 1 for _ in range(round(ratio * n))]
            clauses = [pick * random.choice([-1, 1], 3) for pick in picks]
        else:
            text = instance.read_text(encoding="ascii").partition("%")[0]
            lines = [line for line in text.splitlines() if line[:1] not in "cp"]
            name, clauses = instance.stem, [clause.split() for clause in " ".join(lines).split(" 0")[:-1]]
            n = max(abs(int(literal)) for clause in clauses for literal in clause)
        # Each literal once; a clause that has a variable and its negation always holds.
        sets = [{int(literal) for literal in clause} for clause in clauses]
        self.clauses = [sorted(one) for one in sets if not any(-literal in one for literal in one)]
        literals = np.array([literal for clause in self.clauses for literal in clause], np.int32)
        start = np.cumsum([0, *map(len, self.clauses)])
        codes = 2 * (abs(literals) - 1) + (literals < 0)
        order = np.argsort(codes >> 1, kind="stable")
        first = np.searchsorted(codes[order] >> 1, np.arange(n + 1))
        clause = 2 * np.repeat(np.arange(len(self.clauses)), np.diff(start))[order] + (codes[order] & 1)
        parts = start.astype(np.int32), codes, first.astype(np.int32), clause.astype(np.int32)
        super().__init__(name, ok.Bits(n), Formula(*parts, clauses=len(self.clauses)))

    def cost(self, bits):
        return sum(not any(bits[abs(literal) - 1] == (literal > 0) for literal in one) for one in self.clauses)

    def evaluations(self, neighbourhood):
        return {"counts": ok.Evaluation(added, begin=count, update=follow)}


if __name__ == "__main__":
    ok.main(MaxSat)
