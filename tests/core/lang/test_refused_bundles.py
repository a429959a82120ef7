"""Wrong uses of bundles, absent functions, tuples and truth values are refused with line and advice."""

import numpy as np
import pytest

from backends import create
from core.errors import UserError
from core.lang import Array, Const, Generic, NamedArray, Row, Table, bundle, f32, i32, i64, kernel, u8
from core.lang.bundles import placed, row_sizes
from tests.core.lang.test_refused import EFFECT, HEADER, refusal

MADE = """\
from core.lang.bundle_forms import FORM_SUFFIX, form_of
D = Generic("D")
SIZES = (3, 5, "text")
NOT_SIZES = [3, 5]
absent = None

@bundle
class Move:
    i: i32
    j: i32

@bundle
class Far(Move):
    k: i32

@bundle
class Other:
    a: Array[u32]
    n: i32

@bundle
class Wide:
    a: Array[T]
    b: Array[T]

@bundle
class Flags:
    on: boolean
    seen: Array[boolean]

@bundle
class Walk:
    control: Array[i32] = Row(3)
    solution: Array[u8] = Row("n")
    n: i32

class Status(NamedArray):
    cost: i32
    best: i32

class Other_status(NamedArray):
    cost: i32

@bundle
class Noted:
    status: Status = Row()

@bundle
class Pair:
    inner: Move
    k: i32

@function
def cost_of(status: Status) -> i32:
    return status.cost

@function
def added(m: Move) -> i32:
    return m.i + m.j

@function
def far(m: Far) -> i32:
    return m.i + m.k

@function
def stored(other: Other, a: Array[u32]):
    a[0] = other.a[1]

@function
def rows_of(all_walks: Rows[Walk]) -> i32:
    return all_walks.count

@function
def any_of(data: D, more: D) -> i32:
    return data.i + more.i

@function
def same(one: T, other: T) -> T:
    return other

@function
def result_of(data: D) -> D:
    return data

"""
KERNEL = """\
@kernel
def k(walks: Rows[Walk], one: Walk, other: Other, flags: Flags, m: Move, a: Array[u32], n: i32, word: u32, flag: boolean,
      noted: Noted, less: Other_status, b: Array[i32]):
"""
GIVEN = """
TYPES = {
    name + FORM_SUFFIX: form_of(given)
    for name, given in {
        "walks": Walk(n=4), "one": Walk(n=4), "other": Other(None, 3), "flags": Flags(True, None), "m": Move(1, 2),
        "noted": Noted()
    }.items()
}
"""

# name -> (body of that kernel, line in the body, words of the message)
BODIES = {
    "unknown field": ("v = m.x", 1, "Move has no field x; it has i, j"),
    "unknown column": ("v = noted.status.at", 1, "Status has no column at; it has cost, best"),
    "store to an unknown column": ("noted.status.at = 3", 1, "Status has no column at; it has cost, best"),
    "index after the names": ("v = noted.status[2]", 1, "index 2 outside an array of 2 elements"),
    "constant after the names": ("noted.status[LIMIT - 5] += 3", 1, "index 2 outside an array of 2 elements"),
    "atomic after the names": ("atomic_add(noted.status, Status.best + 1, 1)", 1, "index 2 outside an array of 2 elements"),
    "view after the names": ("v = team_sum(n, view(noted.status, 3))", 1, "index 3 outside an array of 2 elements"),
    "index after a local array": ("s = local_array(3, i32)\ns[3] = 1", 2, "index 3 outside an array of 3 elements"),
    "index after a row": ("walks[n].control[3] = 1", 1, "index 3 outside an array of 3 elements"),
    "value of another type in a column": ("noted.status.best = word", 1, "an element of noted.status is i32, not u32"),
    "array for a named array": ("v = cost_of(b)", 1, "argument status of cost_of is a Status, not b; pass such an array"),
    "another named array": ("v = cost_of(less)", 1, "argument status of cost_of is a Status, not less"),
    "array for a field that is a named array": ("p = Noted(b)", 1, "field status of Noted is a Status, not b"),
    "store to a number": ("m.i = 3", 1, "a store to the field m.i; numbers of bundles do not change, use an array"),
    "bundle as a number": ("v = 1 + m", 1, "the bundle m instead of a number; read a field of it"),
    "row as a number": ("v = 1 + walks[0]", 1, "the bundle walks[0] instead of a number; read a field of it"),
    "new bundle as a number": ("v = 1 + Move(1, 2)", 1, "the bundle Move(...) instead of a number"),
    "bundle within as a number": ("p = Pair(m, 1)\nv = p.inner + 1", 2, "the bundle p.inner instead of a number"),
    "array as a number": ("v = one.control + 1", 1, "the array one.control as a value; subscript it"),
    "bundle as an array": ("m[0] = 1", 1, "the bundle m instead of an array; name a field of it"),
    "bundle given as an array": ("v = bump(m)", 1, "the bundle m instead of an array; name a field of it"),
    "number given as an array": ("v = bump(m.i)", 1, "m.i is a number, not an array"),
    "array given as a bundle": ("v = added(a)", 1, "argument m of added is a Move, not a"),
    "a base class": ("v = far(m)", 1, "argument m of far is a Far, not a Move"),
    "two classes for one D": ("v = any_of(m, other)", 1, "argument more of any_of is a Move, not a Other"),
    "a number beside a bundle": ("v = same(m, n)", 1, "argument other of same is a Move, not a number"),
    "rows where one is expected": ("v = added(walks)", 1, "argument m of added is one Walk; take a row: walks[k]"),
    "one where rows are expected": ("v = rows_of(one)", 1, "argument all_walks of rows_of is Rows[Walk]; pass all rows"),
    "an array where rows are expected": ("v = rows_of(a)", 1, "argument all_walks of rows_of is Rows[Walk], not a"),
    "row of what is no rows": ("v = one[0].n", 1, "a subscript of the bundle one; read a field of it, or take Rows[...]"),
    "field of all rows": ("v = walks.n", 1, "n of rows; take a row first: walks[k].n, or .count"),
    "row by a wide number": ("v = walks[i64(n)].n", 1, "row i64(n) of walks is i64; cast it to i32"),
    "too few fields": ("p = Move(1)", 1, "Move takes its fields by position: i, j"),
    "number of another type": ("p = Move(1, word)", 1, "field j of Move is i32, not u32; write i32(...)"),
    "number for an array": ("p = Other(n, 1)", 1, "n is not an array"),
    "array of another type": ("s = local_array(3, i32)\np = Other(s, 1)", 2, "field a of Other is Array[u32], not Array[i32]"),
    "arrays of unlike types": ("s = local_array(3, i32)\np = Wide(a, s)", 2, "field b of Wide is Array[u32], not Array[i32]"),
    "number for a bundle": ("p = Pair(n, 1)", 1, "field inner of Pair is a Move, not n"),
    "local array in a row": ("s = local_array(3, i32)\nt = local_array(3, u8)\np = Walk(s, t, 3)", 3,
                             "field control of Walk is a row, not a local array; declare the field as Array[...]"),
    "new array without a name": ("stored(Other(shared_array(3, u32), 1), a)", 1, "shared_array in a bundle without a name"),
    "new array twice": ("p = Other(shared_array(3, u32), 1)\np = Other(shared_array(3, u32), 1)", 2, "a new array needs a new name"),
    "new array in a loop": ("for k in range(3):\n    p = Other(local_array(3, u32), 1)", 2, "make it at the top of the function"),
    "same array twice": ("stored(Other(a, 1), a)", 1, "the array a is passed twice; arrays of one call must not overlap"),
    "name of other arrays": ("p = Other(a, 1)\np = other", 2, "p is already a bundle of other arrays or another class"),
    "name of a number": ("v = 1\nv = Move(1, 2)", 2, "v is a number, an array or a word; give the bundle another name"),
    "name of a bundle": ("p = Move(1, 2)\np = 3", 2, "assignment to p, which is a bundle; choose another name"),
    "name of a parameter": ("m = Move(1, 2)", 1, "assignment to the parameter m, a bundle; give the new one another name"),
    "name of a class": ("Move = Move(1, 2)", 1, "Move, which is a variable here; choose another name"),
    "unroll over a bundle's name": ("p = Move(1, 2)\nfor p in unroll(3):\n    n = 1", 2, "the name p is in use"),
    "bundle assigned to an element": ("a[0] = Move(1, 2)", 1, "a bundle assigned to a[0]; give it a name"),
    "bundle on one branch": ("if n > 1:\n    p = Move(1, 2)\nn = p.i", 3, "p may be unassigned here; give it a value on every"),
    "bundle used too early": ("n = p.i\np = Move(1, 2)", 1, "p is used before its assignment"),
    "bundle read in its own statement": ("p = Move(1, 2)\np, n = Move(3, 4), p.i", 2, "a bundle that the same statement reads"),
    "index of a bundle in its own statement": ("p = Move(0, 1)\na[p.i], p = word, Move(1, 2)", 2, "a bundle that the same statement"),
    "result that is a bundle": ("p = result_of(m)", 1, "the result of result_of is a bundle, Move; return a number"),
    "call of an absent function": ("v = absent(n)", 1, "a call of absent, which is None here; ask first: if absent is not None"),
    "is of a constant": ("if LIMIT is None:\n    n = 1", 1, "LIMIT is None, or is not: only a @function that may be absent"),
    "tuple by a variable": ("v = SIZES[n]", 1, "a subscript of the tuple SIZES must be a constant integer"),
    "tuple outside": ("v = SIZES[3]", 1, "a subscript of the tuple SIZES, which has 3 elements: 3"),
    "list of the module": ("v = NOT_SIZES[0]", 1, "NOT_SIZES is not an array"),
    "length of an array": ("v = len(a)", 1, "the length of the array a; arrays do not know their length: pass it as a number"),
    "length of a bundle": ("v = len(walks)", 1, "walks is no tuple of constants of the module"),
    "bits of a signed number": ("for b in set_bits(n):\n    n = 1", 1, "set_bits of i32; cast it to u32 or u64"),
    "bits into an unsigned number": ("for word in set_bits(word):\n    n = 1", 1, "word is u32, not i32; give the loop its own"),
    "truth value for an integer": ("p = Move(flag, 1)", 1, "field i of Move is i32, not boolean; write i32(...)"),
    "literal assigned to a truth value": ("flag = 1", 1, "the number 1 instead of a truth value"),
    "range into a truth value": ("for flag in range(3):\n    n = 1", 1, "flag is boolean, not i32; write a comparison"),
}  # fmt: skip


@pytest.mark.parametrize("case", BODIES)
def test_a_kernel_is_refused_with_its_line_and_advice(tmp_path, case):
    body, line, words = BODIES[case]
    start = HEADER + EFFECT + MADE + KERNEL
    message, path = refusal(tmp_path, start + "".join(f"    {row}\n" for row in body.splitlines()) + GIVEN)
    assert message.startswith(f"{path}:{start.count(chr(10)) + line}: k: ")
    assert words in message


CALL = "\n@kernel\ndef k(n: i32):\n    v = f({})\n"
# name -> (a function and a kernel that calls it, line, words of the message)
FUNCTIONS = {
    "a row as a parameter": ("@function\ndef f(a: Row(3)):\n    pass\n" + CALL.format("n"), 2, "annotation Row(3) is not a type"),
    "a bundle as the result": ("@function\ndef f(n: i32) -> Move:\n    return n\n" + CALL.format("n"), 2, "returns Move; return a number, and store"),
    "a field of a subclass": ("@function\ndef f(m: Move) -> i32:\n    return m.k\n" + CALL.format("Far(n, 2, 3)"), 3,
                              "f: Move has no field k; it has i, j"),
    "an index after the names": ("@function\ndef f(status: Status) -> i32:\n    return status[2]\n\n@kernel\ndef k(status: Status):\n"
                                 "    v = f(status)\n", 3, "f: index 2 outside an array of 2 elements"),
    "a cast to a truth value": ("@function\ndef f(a: Array[T]) -> T:\n    return T(0)\n\n@kernel\ndef k(n: i32):\n"
                                "    s = local_array(3, boolean)\n    v = f(s)\n", 3, "f: a cast to a truth value; write a comparison"),
}  # fmt: skip


@pytest.mark.parametrize("case", FUNCTIONS)
def test_a_function_is_refused_with_its_line_and_advice(tmp_path, case):
    text, line, words = FUNCTIONS[case]
    message, path = refusal(tmp_path, HEADER + MADE + text)
    assert message.startswith(f"{path}:{(HEADER + MADE).count(chr(10)) + line}: ")
    assert words in message


T = Generic("T")


@bundle
class Base:
    n: i32
    a: Array[i32]


@bundle
class Rest:
    part: Array[i32] = Row("n")
    n: i32
    inner: Base


class OneColumn(NamedArray):
    cost: i32


# name -> (base class, annotations, values, what is said)
NAMED_ARRAYS = {
    "no column": (NamedArray, {}, {}, "Made: columns of types none; expected names of one scalar type"),
    "several types": (NamedArray, {"a": i32, "b": i64}, {}, "Made: columns of types i32, i64; expected"),
    "Python's own type": (NamedArray, {"a": int}, {}, "Made: columns of types int; expected"),
    "an array": (NamedArray, {"a": "Array[i32]"}, {}, r"Made: columns of types Array\[i32\]; expected"),
    "an array's type": (NamedArray, {"a": Array[Array[i32]]}, {}, r"of types Array\[Array\[i32\]\]; expected names"),
    "a value": (NamedArray, {"a": i32}, {"a": 3}, "Made.a: a value or a reserved name"),
    "a reserved name": (NamedArray, {"data": i32}, {}, "Made.data: a value or a reserved name"),
    "another named array": (OneColumn, {"a": i32}, {}, "Made: columns of types i32; expected"),
}


@pytest.mark.parametrize("case", NAMED_ARRAYS)
def test_a_named_array_is_refused_where_it_is_declared(case):
    base, annotations, values, words = NAMED_ARRAYS[case]
    with pytest.raises(UserError, match=words):
        type("Made", (base,), {"__annotations__": annotations, **values})


# name -> (base class, fields, what is said)
CLASSES = {
    "within itself": (object, {"n": i32, "inner": "Made"}, "Made.inner: a bundle within itself; pass the other one as a"),
    "an unknown name": (object, {"n": "nowhere"}, "Made.n: nowhere is no type of a field .name 'nowhere' is not defined"),
    "Python's own type": (object, {"n": int}, "Made.n: int is no type of a field; expected a scalar type, Const"),
    "a table": (object, {"a": Table(i32, "readonly")}, "Made.a: Table.i32, readonly. is no type of a field"),
    "a constant of no scalar type": (object, {"n": Const[Array[i32]]}, "Made.n: Const.* is no type of a field"),
    "a constant of a type bound later": (object, {"n": Const[T]}, "Made.n: Const.* is no type of a field"),
    "an array of bundles": (object, {"a": Array[Base]}, "Made.a: Array.Base. is no type of a field"),
    "no fields": (object, {}, "Made: a bundle without fields; write name: i32 or name: Array"),
    "a name of Python's own": (object, {"__a": i32}, "Made.__a: a name of Python's own; begin it with a letter"),
    "rows of an unknown size": (object, {"a": (Array[i32], Row("m")), "n": i32}, "Made.a: rows of 'm' elements; integers here: n"),
    "rows of a float size": (object, {"a": (Array[i32], Row("n")), "n": f32}, "Made.a: rows of 'n' elements; integers here: none"),
    "rows of an array's size": (object, {"a": (Array[i32], Row("b")), "b": Array[i32], "k": u8}, "rows of 'b' elements; integers here: k"),
    "another type than in the base": (Base, {"n": i64}, "Made.n: i64; in its base class it is i32"),
    "rows of a number": (object, {"a": (i32, Row("n")), "n": i32}, r"Made.a: i32 with a Row; expected Array\[...\] = Row"),
    "a row in place of a type": (object, {"a": Row(3)}, r"Made.a: Row.3. is no type of a field; .* Array\[...\] = Row"),
    "rows of a named array with a size": (object, {"a": (OneColumn, Row(3))}, r"Made.a: Row.3.; expected Row.. of named arrays"),
    "rows of an array without a size": (object, {"a": (Array[i32], Row())}, r"Made.a: Row..; expected Row.. of named arrays"),
    "an array for a number": (Base, {"n": Array[i32]}, "Made.n: Array.i32.; in its base class it is i32"),
    "rows for an array": (Base, {"a": (Array[i32], Row("n"))}, "Made.a: Row.i32, 'n'.; in its base class it is Array.i32."),
}  # fmt: skip


def class_of(base, fields):
    """A class with these fields, each optionally a pair with its value."""
    pairs = {name: kind if isinstance(kind, tuple) else (kind,) for name, kind in fields.items()}
    values = {name: pair[1] for name, pair in pairs.items() if len(pair) > 1}
    return type("Made", (base,), {"__annotations__": {name: pair[0] for name, pair in pairs.items()}, **values})


@pytest.mark.parametrize("case", CLASSES)
def test_a_class_is_refused_where_it_is_declared(case):
    base, fields, words = CLASSES[case]
    with pytest.raises(UserError, match=words):
        bundle(class_of(base, fields))


def test_a_default_value_is_refused():
    with pytest.raises(UserError, match="Made.n has a value already; give it when a bundle is made"):
        bundle(type("Made", (), {"__annotations__": {"n": i32}, "n": 3}))


@kernel
def one_number(a: Array[i32], n: i32):
    a[0] = n


@pytest.mark.parametrize("value", [object(), [object()] * 99], ids=["object", "list"])
@pytest.mark.parametrize(
    "refusing",
    [kernel, bundle, Row, i32, f32, lambda value: Table(i32, value), lambda value: bundle(class_of(object, {"n": value})),
     lambda value: type("Made", (NamedArray,), {"__annotations__": {"a": value}}), lambda value: Rest(None, 3, value),
     lambda value: row_sizes(Rest(None, value, Base(1, None))), lambda value: create("python").launch(one_number, 1, 1, value, 3)],
)  # fmt: skip
def test_a_message_has_a_short_value_without_an_address(refusing, value):
    with pytest.raises((UserError, TypeError, ValueError)) as caught:
        refusing(value)
    assert "<object object>" in str(caught.value) and len(str(caught.value)) < 220


def test_a_message_about_a_number_with_too_many_digits_names_its_type():
    with pytest.raises(
        UserError, match="one_number: argument n is i32; <an integer of about 5000 digits> does not fit"
    ):
        create("python").launch(one_number, 1, 1, create("python").allocate(1, np.int32), 10**5000)


@pytest.mark.parametrize("size", [-1, 2.5, None])
def test_a_size_of_rows_is_a_number_or_a_name(size):
    with pytest.raises(
        ValueError, match=f"a Row of {size} elements; expected a number of 0 or more, or a field's name"
    ):
        Row(size)


@pytest.mark.parametrize(
    ("arguments", "named", "words"),
    [
        ((3,), {}, r"Base: no value for its field a: Array\[i32\]"),
        ((3, None, 4), {}, "Base has 2 fields, not 3"),
        ((3, None), {"b": 4}, "Base has no field b; it has n, a"),
        ((3, None), {"n": 4}, "Base: two values for its field n"),
    ],
)
def test_fields_that_do_not_fit_are_refused(arguments, named, words):
    with pytest.raises(UserError, match=words):
        Base(*arguments, **named)


def test_a_bundle_within_is_of_its_class():
    with pytest.raises(UserError, match=r"Rest.inner is a Base, not 5"):
        Rest(None, 3, 5)
    assert Rest(n=3, inner=Base(1, np.zeros(2, np.int32))).part is None


def test_a_place_for_tables_is_one_that_there_is():
    instance = Base(1, np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="a table in 'texture' memory; expected readonly, shared, image"):
        placed(instance, "texture")
    assert placed(placed(instance, "shared"), "global").a is instance.a
