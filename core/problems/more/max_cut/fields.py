"""Fields of the bits of a quadratic form, in the kernel language: from all coefficients, or from those that are not 0.

F. Glover, G. A. Kochenberger, B. Alidaee, "Adaptive memory tabu search for binary quadratic programs", 1998; U. Benlic,
J.-K. Hao, "Breakout local search for the max-cut problem", 2013 (there called move gains).
"""

from core.kernels.local_search.walks import Move
from core.lang import Array, Row, barrier, bundle, function, i32, lane, team_size, u32


@bundle
class QuadraticCoefficients:
    """The coefficients of a quadratic form, a symmetric matrix; those of single bits are its diagonal."""

    coefficients: Array[i32]
    n: i32


@bundle
class LocalFields(QuadraticCoefficients):
    """The coefficients, and a walk's row: for every bit the cost of 1 in place of 0, with the others as they are."""

    fields: Array[i32] = Row("n")


@function
def flip_step(bits: Array[i32], p: i32) -> i32:
    """Return the increase of bit p by a flip; 0 if there is no bit p."""
    return 0 if p < 0 else 1 - 2 * bits[p]


@function
def field_change(bits: Array[i32], p: i32, q: i32, form: QuadraticCoefficients) -> i32:
    """Return the change of another bit's field by a flip of bit q; 0 if they are not two bits."""
    return 0 if p < 0 or q < 0 or p == q else form.coefficients[p * form.n + q] * flip_step(bits, q)


@function
def local_field(bits: Array[i32], p: i32, form: QuadraticCoefficients) -> i32:
    """Return the cost of bit p if it is 1, in O(n)."""
    total = 0 if p < 0 else form.coefficients[p * form.n + p]
    for q in range(form.n):
        if p >= 0 and q != p:
            total += form.coefficients[p * form.n + q] * bits[q]
    return total


@function
def added_for_fields(of_i: i32, of_j: i32, of_k: i32, bits: Array[i32], move: Move, form: QuadraticCoefficients) -> i32:
    """Return the change by up to three flips, given the bits' fields; each flip changes the fields of later ones."""
    i, j, k = move.i, move.j, move.k
    by_j = flip_step(bits, j) * (of_j + field_change(bits, j, i, form))
    return (
        flip_step(bits, i) * of_i
        + by_j
        + flip_step(bits, k) * (of_k + field_change(bits, k, i, form) + field_change(bits, k, j, form))
    )


@function
def added(bits: Array[i32], move: Move, form: QuadraticCoefficients) -> i32:
    """Return the change of cost by a move, in O(n)."""
    of_i, of_j = local_field(bits, move.i, form), local_field(bits, move.j, form)
    return added_for_fields(of_i, of_j, local_field(bits, move.k, form), bits, move, form)


@function
def added_by_fields(bits: Array[i32], move: Move, form: LocalFields) -> i32:
    """Return the change of cost by a move, in O(1)."""
    of_j = 0 if move.j < 0 else form.fields[move.j]
    return added_for_fields(form.fields[move.i], of_j, 0 if move.k < 0 else form.fields[move.k], bits, move, form)


@function
def sum_fields(bits: Array[i32], form: LocalFields):
    """Store the fields of all bits."""
    for p in range(lane(), form.n, team_size()):
        form.fields[p] = local_field(bits, p, form)


@function
def update_fields(bits: Array[i32], move: Move, form: LocalFields):
    """Update the fields for a move to be made."""
    for p in range(lane(), form.n, team_size()):
        form.fields[p] += (
            field_change(bits, p, move.i, form)
            + field_change(bits, p, move.j, form)
            + field_change(bits, p, move.k, form)
        )


# --- sparse forms ---


@bundle
class SparseFields(LocalFields):
    """The fields, and the coefficients that are not 0, row after row: row p from starts[p] to starts[p + 1] - 1.

    The diagonal element is the first of each row, even if it is 0.
    """

    columns: Array[i32]
    entries: Array[i32]
    starts: Array[i32]


@function
def sum_sparse_fields(bits: Array[i32], form: SparseFields):
    """Store the fields of all bits, from the coefficients that are not 0."""
    for p in range(lane(), form.n, team_size()):
        first = form.starts[p]
        total = form.entries[first]
        for place in range(first + 1, form.starts[p + 1]):
            total += form.entries[place] * bits[form.columns[place]]
        form.fields[p] = total


@function
def update_sparse_row(bits: Array[i32], q: i32, form: SparseFields):
    """Update the fields of the bits that a flip of bit q changes."""
    step = flip_step(bits, q)
    if q >= 0:
        for place in range(form.starts[q] + 1 + lane(), form.starts[q + 1], team_size()):
            form.fields[form.columns[place]] += form.entries[place] * step


@function
def update_sparse_fields(bits: Array[i32], move: Move, form: SparseFields):
    """Update the fields for a move to be made, one flip after the other."""
    update_sparse_row(bits, move.i, form)
    barrier()
    update_sparse_row(bits, move.j, form)
    barrier()
    update_sparse_row(bits, move.k, form)


@function
def changed_flips(bits: Array[i32], move: Move, form: SparseFields) -> i32:
    """Return the number of bits whose flips change their cost after a flip; -1 (all) after several flips."""
    return -1 if move.j >= 0 else form.starts[move.i + 1] - form.starts[move.i]


@function
def changed_flip(bits: Array[i32], place: i32, move: Move, form: SparseFields) -> u32:
    """Return one of these bits."""
    return u32(form.columns[form.starts[move.i] + place])
