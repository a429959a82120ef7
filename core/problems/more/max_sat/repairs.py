"""Unsatisfied clauses and the flips that repair them, for focused search.

B. Selman, H. Kautz, B. Cohen, "Noise strategies for improving local search" (WalkSAT), 1994.
"""

from core.kernels.local_search.hooks import Focus
from core.kernels.local_search.member_sets import change_set, empty_set, member_at, set_size
from core.kernels.local_search.walks import Move
from core.lang import Array, Row, barrier, bundle, function, i32, lane, team_size, u32
from core.problems.more.max_sat.clauses import TrueLiteralCounts, count_true_literals, literal_value


@bundle
class UnsatisfiedClauses(TrueLiteralCounts):
    """The formula with counts, and the set of the unsatisfied clauses."""

    bits: Array[u32] = Row("words")
    tallies: Array[i32] = Row("groups")
    words: i32
    groups: i32


@function
def find_unsatisfied(bits: Array[i32], formula: UnsatisfiedClauses):
    """Count the true literals of all clauses, and store the clauses without one."""
    count_true_literals(bits, formula)
    empty_set(formula.bits, formula.tallies, formula.clauses)
    barrier()
    for clause in range(lane(), formula.clauses, team_size()):
        if formula.true_literals[clause] == 0:
            change_set(formula.bits, formula.tallies, formula.clauses, clause, 1)


@function
def update_unsatisfied(bits: Array[i32], move: Move, formula: UnsatisfiedClauses):
    """Update counts and clauses for a flip to be made."""
    for place in range(formula.firsts[move.i] + lane(), formula.firsts[move.i + 1], team_size()):
        code = formula.clauses_of[place]
        before, is_true = formula.true_literals[code >> 1], literal_value(bits[move.i], code)
        formula.true_literals[code >> 1] = before + 1 - 2 * is_true
        if before == is_true:
            change_set(formula.bits, formula.tallies, formula.clauses, code >> 1, 2 * is_true - 1)


@function
def unsatisfied(bits: Array[i32], formula: UnsatisfiedClauses) -> i32:
    return set_size(formula.tallies, formula.clauses)


@function
def unsatisfied_at(bits: Array[i32], rank: i32, formula: UnsatisfiedClauses) -> i32:
    """Return an unsatisfied clause by its rank."""
    return member_at(formula.bits, formula.tallies, rank)


@function
def literals_of(bits: Array[i32], clause: i32, formula: UnsatisfiedClauses) -> i32:
    """Return the number of literals of a clause; a flip makes each of them true."""
    return formula.starts[clause + 1] - formula.starts[clause]


@function
def variable_of(bits: Array[i32], clause: i32, place: i32, formula: UnsatisfiedClauses) -> u32:
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
