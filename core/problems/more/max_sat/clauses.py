"""Clauses of a formula and kept counts of their true literals, in the kernel language.

Kept counts: H. H. Hoos, T. Stutzle, "Stochastic Local Search: Foundations and Applications", 2004, chapter 6, of B.
Selman, H. Levesque, D. Mitchell, "A new method for solving hard satisfiability problems" (GSAT), 1992.
"""

from core.kernels.local_search.moves import flipped
from core.kernels.local_search.walks import Move
from core.lang import Array, Row, bundle, function, i32, lane, team_size, u32


@bundle
class Formula:
    """Clauses and their weights, and the clauses of each variable.

    Clause c has the literals from starts[c] to starts[c + 1] - 1: 2 v is variable v, and 2 v + 1 its negation. Variable
    v is in the clauses from firsts[v] to firsts[v + 1] - 1: 2 c, or 2 c + 1 if it is negated.
    """

    literals: Array[i32]
    starts: Array[i32]
    weights: Array[i32]
    clauses_of: Array[i32]
    firsts: Array[i32]
    clauses: i32


@bundle
class TrueLiteralCounts(Formula):
    """The formula, and a walk's row: the number of true literals of every clause."""

    true_literals: Array[i32] = Row("clauses")


@function
def literal_value(bit: i32, code: i32) -> i32:
    """Return 1 if a variable's value makes the literal true; the code's last bit is 1 for a negated literal."""
    return bit ^ (code & 1)


@function
def added(bits: Array[i32], move: Move, formula: Formula) -> i32:
    """Return the change of the weight of unsatisfied clauses by a flip, by counting in each clause."""
    total = 0
    for place in range(formula.firsts[move.i], formula.firsts[move.i + 1]):
        clause = formula.clauses_of[place] >> 1
        before, after = 0, 0
        for position in range(formula.starts[clause], formula.starts[clause + 1]):
            literal = formula.literals[position]
            before += literal_value(bits[literal >> 1], literal)
            after += literal_value(flipped(bits, literal >> 1, move), literal)
        total += formula.weights[clause] * (i32(after == 0) - i32(before == 0))
    return total


@function
def added_by_counts(bits: Array[i32], move: Move, formula: TrueLiteralCounts) -> i32:
    """Return the same change from kept counts: a clause breaks with its only true literal, and its first repairs it."""
    total = 0
    for place in range(formula.firsts[move.i], formula.firsts[move.i + 1]):
        code = formula.clauses_of[place]
        before, is_true = formula.true_literals[code >> 1], literal_value(bits[move.i], code)
        if before == is_true:
            total += formula.weights[code >> 1] * (2 * is_true - 1)
    return total


@function
def count_true_literals(bits: Array[i32], formula: TrueLiteralCounts):
    """Count the true literals of all clauses."""
    for clause in range(lane(), formula.clauses, team_size()):
        formula.true_literals[clause] = 0
        for place in range(formula.starts[clause], formula.starts[clause + 1]):
            formula.true_literals[clause] += literal_value(bits[formula.literals[place] >> 1], formula.literals[place])


@function
def update_counts(bits: Array[i32], move: Move, formula: TrueLiteralCounts):
    """Update the counts for a flip to be made, in the clauses of its variable, each of which has it once."""
    for place in range(formula.firsts[move.i] + lane(), formula.firsts[move.i + 1], team_size()):
        code = formula.clauses_of[place]
        formula.true_literals[code >> 1] += 1 - 2 * literal_value(bits[move.i], code)


# --- sparse formulas ---


@bundle
class SparseLiteralCounts(TrueLiteralCounts):
    """The same, and the variables that share a clause with variable v, from begins[v] to begins[v + 1] - 1."""

    partners: Array[i32]
    begins: Array[i32]


@function
def changed_variables(bits: Array[i32], move: Move, formula: SparseLiteralCounts) -> i32:
    """Return the number of variables that share a clause with the flipped one."""
    return formula.begins[move.i + 1] - formula.begins[move.i]


@function
def changed_variable(bits: Array[i32], place: i32, move: Move, formula: SparseLiteralCounts) -> u32:
    """Return one of them."""
    return u32(formula.partners[formula.begins[move.i] + place])
