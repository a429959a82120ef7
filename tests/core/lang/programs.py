"""Random programs of the kernel language, as source text, for the test that runs them on every kind of emitter.

A program is a well-typed function of one value of each type: expressions, and assignments to its inputs. Some inputs
make it fail as the language defines, and the plain-Python run detects this. `lane_programs` has bundles, all other
statements and many lanes.
"""

from __future__ import annotations

import linecache
import math
import re

import numpy as np
from hypothesis import strategies as st

from core import lang
from core.lang import reference_interpreter
from core.lang.types import BY_NAME
from tests.core.lang.lane_launches import numbers

INPUTS = {"a": "i8", "b": "i16", "c": "i32", "d": "i64", "e": "u8", "f": "u16", "g": "u32", "h": "u64"}
INPUTS |= {"x": "f32", "y": "f64", "v": "f32", "w": "f64"}
PARAMETERS = ", ".join(f"{name}: {kind}" for name, kind in INPUTS.items())
WIDE = ("i32", "i64", "u32", "u64")
INTEGERS = ("i8", "i16", *WIDE, "u8", "u16")
FLOATS = ("f32", "f64")

HEADER = """
from core.lang import *
T = Generic("T")
S = Generic("S")
SEVEN = 7
HALF = 0.5
EVERY_BIT = u32(0xFFFFFFFF)

@function
def smaller_twice(p: T, q: T, times: Const[i32]) -> T:
    found = p
    for k in unroll(times):
        found = min(found, q)
        if k == 1:
            found = max(found, p)
    return found

@function
def widened(p: i64, q: u64) -> u64:
    return (u64(p) << 3) ^ q

@function
def rotated(p: u32, by: i32) -> u32:
    return (p << by) | (p >> (32 - (by & 31)))

@function
def is_below(p: T, q: T) -> boolean:
    return p < q or not q != p

@function
def folded(p: S, rounds: i32) -> S:
    cells = local_array(3, S)
    cells[0], cells[1], cells[2] = p, p, p
    for k in range(rounds & 3):
        cells[k % 3] = cells[(k + 1) % 3]
        if cells[0] == cells[2]:
            continue
        return cells[k % 3]
    return cells[1]

"""


FORMS = {
    "i": [
        *(f"({{x}} {sign} {{n}})" for sign in ("+", "-", "*", "//", "%", "&", "|", "^")),
        *(f"({{n}} {sign} {{x}})" for sign in ("+", "-", "*", "//", "%", "&", "|", "^")),
        *("min({x}, {n})", "max({n}, {x})", "({x} << {s})", "({x} >> {s})", "({x} << {s})", "({x} >> {s})"),
        *("(~{x})", "(-{x})", "mulhi({x}, {x})", "{k}(popcount({w}))", "{k}(clz({w}))", "{k}(abs({i}))"),
    ],
    "f": [
        *("({x} + {x})", "({x} - {x})", "({x} * {x})", "({x} / {x})", "({x} * {x} + {x})", "sqrt({x})", "(-{x})"),
        *("abs({x})", "min({x}, {x})", "max({x}, {x})", "({x} * {l})", "({l} - {x})", "({x} + HALF)"),
    ],
    "any": [
        *("{k}({a})", "{k}({a})", "{k}({t})", "({x} if {t} else {x})", "({x} if a < {c} else {m})"),
        *("smaller_twice({x}, {x}, 0)", "smaller_twice({x}, {x}, 2)", "smaller_twice({x}, {x}, SEVEN - 4)"),
        "folded({x}, {c})",
    ],
    "truth": [
        *(f"({{x}} {sign} {{{one}}})" for sign in ("<", "<=", ">", ">=", "==", "!=") for one in "lm"),
        *(
            "({t} and {t})",
            "({t} or {t})",
            "(not {t})",
            "is_below({x}, {x})",
            "({x} < {m} != {x})",
            "({m} >= {x} < {x})",
        ),
    ],
}
"""Expressions of integers, floats, any numbers and truth values; `Draft.part` replaces the letters."""

ONLY = {"u32": ["rotated({x}, {c})", "(EVERY_BIT - 1)"], "u64": ["widened({p}, {q})"]}


def narrower(kind):
    if kind in FLOATS:
        return (kind,)
    return tuple(k for k in INTEGERS if k[0] == kind[0] and int(k[1:]) <= int(kind[1:]))


class Draft:
    """One program as it is being drawn."""

    def __init__(self, draw):
        self.draw = draw

    def pick(self, *options):
        return self.draw(st.sampled_from(options))

    def variables(self, *kinds):
        return [name for name, kind in INPUTS.items() if kind in kinds]

    def literal(self, kind):
        if kind in FLOATS:
            tiny = 1e-300 if kind == "f64" else 1e-45
            return repr(self.pick(0.0, 1.0, -1.5, 0.1, 3e-39, tiny, 16777217.0, 2.0**31))
        scalar = BY_NAME[kind]
        edges = [scalar.low, scalar.high, scalar.high - 1, scalar.high // 2 + 1, 0, 1, 2, 3, 7, 10, 31, 100]
        return str(self.pick(*(e for e in edges if scalar.low <= e <= scalar.high)))

    def part(self, letter, kind, depth):
        """Return the replacement of a letter in a form: an expression, a literal, or the name of a type."""
        match letter:
            case "k":
                return kind
            case "x":
                return self.exact(kind, depth)
            case "m":
                return self.any_of(self.pick(*narrower(kind)), depth)
            case "n":
                return self.pick(self.any_of(self.pick(*narrower(kind)), depth), self.literal(kind))
            case "l":
                return self.literal(kind)
            case "t":
                return self.truth(depth)
            case "s":
                return self.pick(self.any_of(self.pick(*INTEGERS), depth), "0", "1", "SEVEN", "31", "33", "100")
        of = {"c": ("i32",), "i": ("i" + kind[1:],), "w": WIDE, "p": ("i8", "i32", "i64"), "q": ("u16", "u64")}
        return self.any_of(self.pick(*of.get(letter, (*INTEGERS, *FLOATS))), depth)

    def formed(self, forms, kind, depth):
        return re.sub(r"\{(\w)\}", lambda found: self.part(found[1], kind, depth - 1), self.pick(*forms))

    def exact(self, kind, depth):
        if depth <= 0 or self.pick(*range(6)) == 0:
            same = self.variables(*(k for k in narrower(kind) if k == kind or kind in ("i32", "u32")))
            return self.pick(*same, *same, f"{kind}({self.literal(kind)})")
        own = FORMS["f" if kind in FLOATS else "i"]
        return self.formed(self.pick(own, own, FORMS["any"] + ONLY.get(kind, [])), kind, depth)

    def any_of(self, kind, depth):
        """An expression of ``kind``, possibly with 8 or 16 bits."""
        if kind in WIDE or kind in FLOATS:
            return self.exact(kind, depth)
        return self.pick(*self.variables(kind), f"{kind}({self.any_of(self.pick(*WIDE), depth - 1)})")

    def truth(self, depth):
        return self.formed(FORMS["truth"][: 12 if depth <= 0 else None], self.pick(*WIDE, *FLOATS), depth)


def update(d, kind):
    """A statement that changes an input; `lane_programs` has all other statements."""
    name = d.pick(*d.variables(kind))
    if kind in FLOATS:
        return f"    {name} {d.pick('=', '+=', '-=', '*=', '/=')} {d.exact(kind, 2)}"
    sign = d.pick("=", "+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=")
    value = "5" if sign in ("<<=", ">>=") else d.literal(kind)
    return f"    {name} {sign} {d.pick(d.any_of(d.pick(*narrower(kind)), 2), value)}"


@st.composite
def programs(draw):
    """The text of a function of `INPUTS`, without its first line, and its result type."""
    d = Draft(draw)
    result = d.pick(*WIDE, *FLOATS)
    lines = [update(d, d.pick(*WIDE, *FLOATS)) for _ in range(d.pick(0, 1, 2))]
    return result, "\n".join([*lines, f"    return {d.any_of(d.pick(result, *narrower(result)), 3)}"])


# --- packing and running ---


def rows(number):
    """Inputs: a third at the edges of their types, the others small or anywhere."""
    source = np.random.default_rng(number)
    drawn = {}
    for name, kind in INPUTS.items():
        dtype = BY_NAME[kind].dtype
        if kind in FLOATS:
            tiny, most = np.finfo(dtype).tiny, np.finfo(dtype).max
            edges = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, tiny, tiny / 8, most, 16777217.0]
        else:
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            edges = [low, high, low + 1, high - 1, 0, 1, 2, high // 2]
        chosen = np.array(edges, dtype)[source.integers(0, len(edges), number)]
        drawn[name] = np.where(source.random(number) < 1 / 3, chosen, numbers(source, kind, number))
    return drawn


def is_refused(kind, text):
    """Return True if a program is refused, which is allowed only for a constant expression with an error."""
    kernel, _ = packed([(kind, text)])
    try:
        kernel.specialise({}, 1)
    except lang.KernelError as error:
        assert ": constant expression " in str(error), f"{error}\n{text}"
        return True
    return False


def packed(texts):
    """One kernel that runs every program on every row without an error."""
    functions = [f"@function\ndef p{k}({PARAMETERS}) -> {kind}:\n{text}\n" for k, (kind, text) in enumerate(texts)]
    arrays = "".join(f", {name}_: Array[{kind}]" for name, kind in INPUTS.items())
    args = ", ".join(f"{name}_[i]" for name in INPUTS)
    lines = ["@kernel", f"def run(n: i32, valid: Array[u8]{arrays}, whole: Array[u64], real: Array[f64]):"]
    lines.append("    for i in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):")
    for k, (kind, _) in enumerate(texts):
        target, cast = ("real", "f64") if kind in FLOATS else ("whole", "u64")
        lines.append(f"        if valid[{k} * n + i] != 0:\n            {target}[{k} * n + i] = {cast}(p{k}({args}))")
    source = HEADER + "\n".join([*functions, *lines, ""])
    path = f"<random programs {hash(source)}>"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    scope = {"__name__": "random_programs"}
    exec(compile(source, path, "exec"), scope)
    return scope["run"], source


def expected(kernel, texts, columns):
    """Compute by plain Python: the valid results, the integers (as u64) and the floats."""
    functions = {f.source.name: reference_interpreter.plain_function(f) for f in kernel.specialise({}, 1).functions}
    n = len(columns["a"])
    valid = np.zeros(len(texts) * n, np.uint8)
    whole, real = np.zeros(valid.size, np.uint64), np.zeros(valid.size, np.float64)
    for k, (kind, _) in enumerate(texts):
        for i in range(n):
            arguments = [BY_NAME[INPUTS[c]](v[i] if INPUTS[c] in FLOATS else int(v[i])) for c, v in columns.items()]
            try:
                with np.errstate(all="ignore"):
                    value = functions[f"p{k}"](*arguments)
            except (OverflowError, ZeroDivisionError, ValueError):
                continue
            valid[k * n + i] = 1
            assert lang.types.type_of(value).__name__ == kind
            if kind in FLOATS:
                real[k * n + i] = math.nan if math.isnan(value) else value
            else:
                whole[k * n + i] = int(value) % 2**64
    return valid, whole, real


def launched(backend, team_size, kernel, columns, valid):
    """Return a backend's results in the form of `expected`; all not-a-numbers are equal."""
    n = len(columns["a"])
    whole, real = backend.upload(np.zeros(valid.size, np.uint64)), backend.upload(np.zeros(valid.size, np.float64))
    uploaded = [backend.upload(v) for v in columns.values()]
    backend.launch(kernel, 2, team_size, n, backend.upload(valid), *uploaded, whole, real)
    results = backend.download(real)
    return backend.download(whole), np.where(np.isnan(results), math.nan, results)
