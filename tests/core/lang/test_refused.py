"""Constructs outside the kernel language are refused with file, line, function and a replacement."""

import pytest

from core.lang import KernelError, Table, f32, i32, u32
from tests.core.lang.module_texts import loaded

HEADER = "from core.lang import *\nfrom core.lang.library import team_sum\nfrom core.lang import library as lib\nT = Generic('T')\nLIMIT = 7\nHUGE = 10**5000\nWORD = 'x'\n\n"
EFFECT = "@function\ndef bump(a: Array[u32]) -> u32:\n    a[0] = a[0] + 1\n    return a[0]\n\n"
SPREAD = "@function\ndef spread(n: i32) -> i32:\n    s = local_array(2000, i32)\n    s[n] = n\n    return s[n]\n\n"

# name -> (body of a kernel over (a: Array[u32], n: i32, x: f32), line in the body, words of the message)
BODIES = {
    "list": ("v = [1, 2]", 1, "a list; use local_array"),
    "f-string": ("v = f'{n}'", 1, "an f-string; kernels have no text"),
    "text": ("v = 'hello'", 1, "the constant 'hello'"),
    "walrus": ("v = (w := 3)", 1, "an assignment inside an expression"),
    "attribute": ("v = a.size", 1, "an attribute; import the name itself"),
    "method": ("a.sort()", 1, "call functions by their bare name"),
    "function of a module": ("v = lib.clz(u32(n))", 1, "write clz(...), a word of the kernel language: from onekernel"),
    "slice": ("v = a[1:2]", 1, "a slice; loop over the elements"),
    "two dimensions": ("v = a[1, 2]", 1, "arrays are flat, write row * width + column"),
    "negative subscript": ("v = a[-1]", 1, "a negative subscript; count from the front"),
    "float subscript": ("v = a[x]", 1, "a subscript of type f32; cast it to an integer"),
    "keyword argument": ("v = min(a=1, b=2)", 1, "pass arguments by position"),
    "starred argument": ("v = min(*a)", 1, "a starred expression"),
    "unknown function": ("v = size(a)", 1, "a call of size, which is neither a @function nor a word"),
    "wrong number of arguments": ("v = min(n)", 1, "min takes 2 arguments, not 1"),
    "nested function": ("def g():\n    pass", 1, "a nested function; define a @function at module level"),
    "try": ("try:\n    n = 1\nexcept ValueError:\n    n = 2", 1, "try; kernels have no exceptions"),
    "assert of a tuple": ("assert (n > 0, 'text')", 1, "a tuple; use separate variables"),
    "assert with an f-string": ("assert n > 0, f'{n}'", 1, "the text f'{n}' of an assertion; write a literal text"),
    "effect in an assert": ("assert bump(a) > 0", 1, "bump has an effect and stands inside an expression"),
    "print of an array": ("print('x', a)", 1, "the array a as a value; subscript it"),
    "print of an f-string": ("print(f'{n}')", 1, "an f-string; kernels have no text, so print its parts"),
    "print of a named text": ("print(n, WORD)", 1, "WORD is neither a local, a parameter nor a module constant"),
    "print with an end": ("print(n, end='')", 1, "print with end=; a print is a line"),
    "print as a value": ("v = print(n)", 1, "print inside an expression; it gives no value"),
    "with": ("with a:\n    pass", 1, "with; kernels have no context managers"),
    "annotated assignment": ("v: i32 = 3", 1, "an annotated assignment; write x = i32(...)"),
    "several targets": ("v = w = 3", 1, "several targets in one assignment"),
    "unpacking": ("v, w = a", 1, "as many values on the right as targets on the left"),
    "for over an array": ("for v in a:\n    pass", 1, "loop over range(...), unroll(...) or set_bits(...)"),
    "else of a loop": ("for i in range(3):\n    pass\nelse:\n    n = 1", 1, "else of a loop; set a flag before break"),
    "range step 0": ("for i in range(0, 9, 0):\n    pass", 1, "range with step 0"),
    "range of mixed signs": ("for i in range(u32(1), n):\n    pass", 1, "range of signed and unsigned numbers"),
    "break in unroll": ("for k in unroll(3):\n    break", 2, "break inside unroll"),
    "unroll of a variable": ("for k in unroll(n):\n    pass", 1, "a bound of unroll must be a constant integer"),
    "integer division": ("v = n / 2", 1, "/ divides floats; write // for integers"),
    "power": ("v = n ** 2", 1, "operator Pow; write a product or pow"),
    "floor division of floats": ("v = x // f32(2.0)", 1, "floordiv of floats; cast to an integer first"),
    "mixed signs": ("v = n + u32(1)", 1, "i32 and u32 do not mix; cast one of them"),
    "mixed signs in place": ("v = n\nv += u32(1)", 2, "i32 and u32 do not mix; cast one of them"),
    "float literal beside an integer": ("v = n + 0.5", 1, "the float 0.5 beside i32; cast one of them"),
    "literal too large": ("v = 4294967296", 1, "4294967296 does not fit i32; cast it"),
    "integer as a truth value": ("if n:\n    n = 1", 1, "i32 instead of a truth value; write a comparison"),
    "is": ("v = n is n", 1, "n is n; ask whether a @function of the closure or module is None"),
    "in": ("v = n in n", 1, "comparison In; compare numbers with"),
    "arithmetic of truth values": ("v = (n > 1) + (n > 2)", 1, "add of truth values; write and, or, not"),
    "narrowing store": ("m = local_array(2, u16)\nm[0] = n", 2, "an element of m is u16, not i32; write u16(...)"),
    "change of type": ("v = u32(1)\nv = n", 2, "v is u32, not i32; write u32(...)"),
    "unassigned": ("if n > 1:\n    v = 1\nn = v", 3, "v may be unassigned here; give it a value on every path"),
    "used too early": ("n = v\nv = 1", 1, "v is used before its assignment"),
    "unknown name": ("n = nowhere", 1, "nowhere is neither a local, a parameter nor a module constant"),
    "array as a value": ("v = a", 1, "the array a as a value; subscript it"),
    "assignment to an array": ("a = 3", 1, "assignment to the array a; assign to its elements"),
    "assignment to a type": ("u32 = 3", 1, "choose another name"),
    "size not constant": ("s = shared_array(n, u32)", 1, "the size of an array must be a constant integer"),
    "empty array": ("s = local_array(0, u32)", 1, "an array of 0 elements; it needs at least one"),
    "shared array in a branch": ("if n > 1:\n    s = shared_array(3, u32)", 2, "make it in the kernel's own body"),
    "local array in a loop": ("while n > 1:\n    s = local_array(3, u32)", 2, "make it at the top of the function"),
    "element type": ("s = local_array(3, n)", 1, "the element type of an array must be a type such as u32"),
    "atomic on local memory": ("s = local_array(3, u32)\natomic_add(s, 0, 1)", 2, "atomic_add on u32 in local memory"),
    "atomic on 16 bits": ("s = shared_array(3, u16)\natomic_add(s, 0, u16(1))", 2, "use 32 or 64-bit integers"),
    "effect in an expression": ("v = atomic_add(a, 0, 1) + 1", 1, "has an effect and stands inside an expression"),
    "nothing happens": ("n + 1", 1, "n + 1 has no effect; assign it or remove it"),
    "value from a kernel": ("return n", 1, "a value returned, but the function declares none"),
    "view outside a call": ("v = view(a, 1)", 1, "view outside the arguments of a @function; subscript the array"),
    "view of a local array": ("s = local_array(3, u32)\nbump(view(s, 1))", 2, "a view of the local array s"),
    "long sum": ("v = 1\nv = " + " + ".join(["n"] * 1500), 2, "nested more than 100 levels deep; write several"),
    "long chain of elif": (
        "if n < 0:\n    pass\n" + "".join(f"elif n == {k}:\n    pass\n" for k in range(150)),
        201,
        "nested more than 100 levels deep",
    ),
    "huge shift": ("v = 1\nv = 1 << 100000000000", 2, "a constant shifted by 100000000000; at most 128"),
    "huge constant": ("v = 1 * HUGE", 1, "a constant of 16610 bits; at most 128"),
    "huge bound of unroll": ("for k in unroll(1 << 70):\n    pass", 1, "1180591620717411303424 does not fit i32"),
    "unroll inside unroll": (
        "for k in unroll(64):\n    for m in unroll(65):\n        n = m",
        2,
        "unroll of 65 steps, 4160 with those around it; at most 4096",
    ),
    "many local arrays": (
        "s = local_array(60_000, u32)\nn = 2\nn = spread(n) + spread(n) + spread(n)",
        3,
        "local arrays of 264000 bytes, with those of every call; a lane has 262144",
    ),
    "constant overflow": ("v = i32(2000000000) + i32(2000000000)", 1, "signed overflow"),
    "division by a constant zero": ("v = 1 // 0", 1, "constant expression 1 // 0"),
}


def refusal(folder, text):
    module = loaded(folder, text)
    messages = []
    for _ in range(2):  # a repeated refusal is the same
        with pytest.raises(KernelError) as caught:
            module.k.specialise({}, 4, getattr(module, "TYPES", {}))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    return messages[0], module.__file__


@pytest.mark.filterwarnings("ignore:assertion is always true:SyntaxWarning")  # Python's own word for it
@pytest.mark.parametrize("case", BODIES)
def test_a_kernel_is_refused_with_its_line_and_advice(tmp_path, case):
    body, line, words = BODIES[case]
    start = HEADER + EFFECT + SPREAD + "@kernel\ndef k(a: Array[u32], n: i32, x: f32):\n"
    message, path = refusal(tmp_path, start + "".join(f"    {row}\n" for row in body.splitlines()))
    assert message.startswith(f"{path}:{start.count(chr(10)) + line}: k: ")
    assert words in message


BUNDLE = "@bundle\nclass B:\n    a: Array[i32] = Row(2)\n    n: i32\n\n"
ELEMENT = "@function\ndef f(a: Array[u16]) -> i32:\n    return 1\n\n"
ENDLESS = "@function\ndef f(n: i32) -> i32:\n    return f(n)\n\n"
NO_RESULT = "@function\ndef f(n: i32) -> i32:\n    if n > 1:\n        return 1\n\n"
OF_TABLE = "@function\ndef f(a: Table(u32, 'readonly')) -> u32:\n    return a[0]\n\n"
DEEP = "@function\ndef g0(n: i32) -> i32:\n    return n\n"
DEEP += "".join(f"@function\ndef g{k}(n: i32) -> i32:\n    return g{k - 1}(n)\n" for k in range(1, 120))
OTHER_PRINT = "from pprint import pprint as print\n\n"

# name -> (what stands before the kernel, its signature, its body, line, words of the message)
SIGNATURES = {
    "no annotation": ("", "(a, n: i32)", "n = 1", 2, "has no annotation"),
    "not a type": ("", "(a: list)", "pass", 2, "annotation list is not a type"),
    "a quoted type": ("", "(a: 'i32')", "pass", 2, "write the type without quotes"),
    "default value": ("", "(n: i32 = 3)", "pass", 2, "has default values; pass every argument"),
    "starred parameter": ("", "(*n: i32)", "pass", 2, "starred or keyword-only parameters"),
    "result of a kernel": ("", "(n: i32) -> i32", "return n", 2, "a kernel returns nothing"),
    "unbound generic": ("", "(n: T)", "pass", 2, "is not bound by an array"),
    "recursion": (ENDLESS, "(n: i32)", "n = f(n)", 3, "f calls itself; write a loop"),
    "missing return": (NO_RESULT, "(n: i32)", "n = f(n)", 3, "return a value on every path"),
    "wrong element type": (ELEMENT, "(a: Array[u32])", "n = f(a)", 7, "argument a of f is Array[u16], not Array[u32]"),
    "print of a bundle": (BUNDLE, "(a: Array[i32])", "print('b', B(a, 1))", 8, "the bundle B(...) instead of a number"),
    "another print": (
        OTHER_PRINT,
        "(n: i32)",
        "print(n)",
        5,
        "print is not Python's own here; import the other one by",
    ),
    "store into a table": (
        "",
        "(a: Table(u32, 'readonly'))",
        "a[0] += 1",
        3,
        "a store into the table a, which is only",
    ),
    "store by a function": (EFFECT, "(a: Table(u32, 'shared', 4))", "bump(a)", 3, "bump: a store into the table a"),
    "view of an image": (EFFECT, "(a: Table(u32, 'image'))", "bump(view(a, 1))", 8, "a view of the image a; pass it"),
    "table of a function": (
        OF_TABLE,
        "(a: Array[u32])",
        "a[0] = f(a)",
        2,
        "a Table, which only kernels declare; write",
    ),
    "deep chain of calls": (DEEP, "(n: i32)", "n = g119(n)", 263, "calls nested more than 100 levels deep"),
}


@pytest.mark.parametrize("case", SIGNATURES)
def test_a_signature_or_function_is_refused_with_its_line_and_advice(tmp_path, case):
    before, signature, body, line, words = SIGNATURES[case]
    message, path = refusal(tmp_path, f"{HEADER}{before}@kernel\ndef k{signature}:\n    {body}\n")
    assert message.startswith(f"{path}:{HEADER.count(chr(10)) + line}: ")
    assert words in message


@pytest.mark.parametrize("scalar", [f32, i32])
@pytest.mark.parametrize("value", [None, "1.5", 1j])
def test_only_numbers_become_numbers(scalar, value):
    with pytest.raises(TypeError, match="expected a number"):
        scalar(value)


@pytest.mark.parametrize(
    ("place", "count", "words"),
    [("texture", 4, "'texture' memory; expected readonly"), ("shared", None, "table of None")],
)
def test_a_table_is_refused_where_it_is_made(place, count, words):
    with pytest.raises(ValueError, match=words):
        Table(u32, place, count)


def test_a_table_in_an_annotation_that_python_leaves_alone_is_refused_with_its_line(tmp_path):
    text = "from __future__ import annotations\n" + HEADER + "@kernel\ndef k(a: Table(u32, 'shared')):\n    pass\n"
    message, path = refusal(tmp_path, text)
    assert message.startswith(f"{path}:{HEADER.count(chr(10)) + 3}: k: ")
    assert "a shared table of None elements; expected 1 or more" in message
