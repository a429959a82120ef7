"""MAX-SAT for local search: bits that satisfy as many clauses as possible, or clauses of the largest weight.

Kept counts of true literals: H. H. Hoos, T. Stutzle, "Stochastic Local Search: Foundations and Applications", 2004,
chapter 6, of B. Selman, H. Levesque, D. Mitchell, "A new method for solving hard satisfiability problems" (GSAT), 1992.
"""

import os

import numpy as np

from core.arguments import loaded_instance
from core.kernels.local_search.hooks import Focus
from core.kernels.local_search.member_sets import change_set, empty_set, member_at, set_size, set_sizes
from core.kernels.local_search.moves import flipped
from core.kernels.local_search.walks import Move
from core.lang import Array, Row, barrier, bundle, function, i32, lane, team_size, u32
from core.problems.encodings import Bits
from core.problems.more.max_sat import formulas
from core.problems.problem import Evaluation, Problem


@bundle
class Formula:
    """Clauses and their weights, and the clauses that each variable is in.

    Clause c has the literals from starts[c] to starts[c + 1] - 1: 2 v is variable v, and 2 v + 1 its negation. Variable
    v is in the clauses from firsts[v] to firsts[v + 1] - 1: 2 c, or 2 c + 1 where it is negated.
    """

    literals: Array[i32]
    starts: Array[i32]
    weights: Array[i32]
    clauses_of: Array[i32]
    firsts: Array[i32]
    clauses: i32


@bundle
class TrueLiteralCounts(Formula):
    """The same, and what a walk keeps: how many literals of every clause are true."""

    true_literals: Array[i32] = Row("clauses")


@function
def literal_value(bit: i32, code: i32) -> i32:
    """1 where a variable of this value makes the literal true, of which the code's last bit says if it is negated."""
    return bit ^ (code & 1)


@function
def added(bits: Array[i32], move: Move, formula: Formula) -> i32:
    """Return the change of the weight of unsatisfied clauses by a flip, by counting in each clause."""
    total = 0
    for place in range(formula.firsts[move.i], formula.firsts[move.i + 1]):
        clause = formula.clauses_of[place] >> 1
        before, after = 0, 0
        for one in range(formula.starts[clause], formula.starts[clause + 1]):
            literal = formula.literals[one]
            before += literal_value(bits[literal >> 1], literal)
            after += literal_value(flipped(bits, literal >> 1, move), literal)
        total += formula.weights[clause] * (i32(after == 0) - i32(before == 0))
    return total


@function
def added_by_counts(bits: Array[i32], move: Move, formula: TrueLiteralCounts) -> i32:
    """The same from kept counts: a clause breaks with its only true literal, and is mended by its first."""
    total = 0
    for place in range(formula.firsts[move.i], formula.firsts[move.i + 1]):
        code = formula.clauses_of[place]
        before, is_true = formula.true_literals[code >> 1], literal_value(bits[move.i], code)
        if before == is_true:
            total += formula.weights[code >> 1] * (2 * is_true - 1)
    return total


@function
def count_true_literals(bits: Array[i32], formula: TrueLiteralCounts):
    """The true literals of all clauses."""
    for clause in range(lane(), formula.clauses, team_size()):
        formula.true_literals[clause] = 0
        for place in range(formula.starts[clause], formula.starts[clause + 1]):
            formula.true_literals[clause] += literal_value(bits[formula.literals[place] >> 1], formula.literals[place])


@function
def update_counts(bits: Array[i32], move: Move, formula: TrueLiteralCounts):
    """The same after a flip that is about to be made, in the clauses of its variable, each of which has it once."""
    for place in range(formula.firsts[move.i] + lane(), formula.firsts[move.i + 1], team_size()):
        code = formula.clauses_of[place]
        formula.true_literals[code >> 1] += 1 - 2 * literal_value(bits[move.i], code)


@bundle
class UnsatisfiedClauses(TrueLiteralCounts):
    """The same, and the set of the clauses that are not satisfied."""

    bits: Array[u32] = Row("words")
    tallies: Array[i32] = Row("groups")
    words: i32
    groups: i32


@function
def find_unsatisfied(bits: Array[i32], formula: UnsatisfiedClauses):
    """The true literals of all clauses, and the clauses without one."""
    count_true_literals(bits, formula)
    empty_set(formula.bits, formula.tallies, formula.clauses)
    barrier()
    for clause in range(lane(), formula.clauses, team_size()):
        if formula.true_literals[clause] == 0:
            change_set(formula.bits, formula.tallies, formula.clauses, clause, 1)


@function
def update_unsatisfied(bits: Array[i32], move: Move, formula: UnsatisfiedClauses):
    """The same after a flip that is about to be made."""
    for place in range(formula.firsts[move.i] + lane(), formula.firsts[move.i + 1], team_size()):
        code = formula.clauses_of[place]
        before, is_true = formula.true_literals[code >> 1], literal_value(bits[move.i], code)
        formula.true_literals[code >> 1] = before + 1 - 2 * is_true
        if before == is_true:
            change_set(formula.bits, formula.tallies, formula.clauses, code >> 1, 2 * is_true - 1)


@function
def unsatisfied(bits: Array[i32], formula: UnsatisfiedClauses) -> i32:
    """Return the number of unsatisfied clauses."""
    return set_size(formula.tallies, formula.clauses)


@function
def unsatisfied_at(bits: Array[i32], rank: i32, formula: UnsatisfiedClauses) -> i32:
    """Return one of them."""
    return member_at(formula.bits, formula.tallies, rank)


@function
def literals_of(bits: Array[i32], clause: i32, formula: UnsatisfiedClauses) -> i32:
    """Return the number of literals of a clause, each of which a flip makes true."""
    return formula.starts[clause + 1] - formula.starts[clause]


@function
def variable_of(bits: Array[i32], clause: i32, place: i32, formula: UnsatisfiedClauses) -> u32:
    """Return the variable of a literal."""
    return u32(formula.literals[formula.starts[clause] + place] >> 1)


@function
def broken_by(bits: Array[i32], move: Move, formula: UnsatisfiedClauses) -> i32:
    """Return the weight of the clauses that a flip breaks."""
    total = 0
    for place in range(formula.firsts[move.i], formula.firsts[move.i + 1]):
        code = formula.clauses_of[place]
        if formula.true_literals[code >> 1] == 1 and literal_value(bits[move.i], code) == 1:
            total += formula.weights[code >> 1]
    return total


FOCUS = Focus(unsatisfied, unsatisfied_at, literals_of, variable_of, broken_by)


class MaxSat(Problem):
    """Find values of variables so that the clauses that they do not satisfy weigh least.

    Parameters
    ----------
    instance : core.problems.more.max_sat.formulas.SatInstance or str
        The formula, or its path, name or generator, see `core.problems.more.max_sat.formulas.load`:
        ``random:50:ratio=4.2:seed=1``.
    data : path, optional
        Folder of instances, searched first.

    """

    neighbourhoods = ("flip1",)
    tested = True

    def __init__(self, instance: formulas.SatInstance | str, data: str | os.PathLike | None = None) -> None:
        self.instance = given = loaded_instance(instance, formulas.SatInstance, lambda name: formulas.load(name, data))
        arrays = (given.literals, given.starts, given.weights, *formulas.clauses_by_variable(given))
        self.formula = [*arrays, len(given.weights)]
        super().__init__(given.name, Bits(given.variables), Formula(*self.formula))
        self.sha256 = given.sha256

    def cost(self, solution: np.ndarray) -> int:
        """The weight of the clauses that are not satisfied."""
        return int(self.costs(np.asarray(solution)[None])[0])

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        """See `Problem`."""
        literals, starts = self.instance.literals, self.instance.starts
        are_true = (solutions[:, literals >> 1] ^ (literals & 1)) == 1
        satisfied = np.logical_or.reduceat(are_true, starts[:-1], axis=1)
        return (~satisfied).astype(np.int64) @ self.instance.weights

    def cost_range(self) -> tuple[int, int]:
        """At best all clauses are satisfied, and at worst none."""
        return 0, int(self.instance.weights.sum(dtype=np.int64))

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """``literal-counts`` (of true literals, which a walk keeps) or ``delta`` (which counts them anew).

        ``unsatisfied-clauses`` keeps the set of these too, for focused search (WalkSAT).
        """
        each = len(self.instance.literals) // self.encoding.n + 1
        faster = Evaluation(added_by_counts, begin=count_true_literals, update=update_counts, work=each)
        focused = faster._replace(begin=find_unsatisfied, update=update_unsatisfied, focus=FOCUS)
        return {"literal-counts": faster, "delta": Evaluation(added, work=8 * each), "unsatisfied-clauses": focused}

    def data_for(self, evaluation: str) -> Formula:
        """The formula; with the counts that a walk keeps, if the evaluation reads them."""
        if evaluation == "unsatisfied-clauses":
            words, groups = set_sizes(len(self.instance.weights))
            return UnsatisfiedClauses(*self.formula, words=words, groups=groups)
        return TrueLiteralCounts(*self.formula) if evaluation == "literal-counts" else self.data
