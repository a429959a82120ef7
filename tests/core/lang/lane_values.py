"""Random expressions of a kernel for many lanes, none of which is an error: for `lane_programs`."""

from __future__ import annotations

import random
from typing import NamedTuple

SIGNED, UNSIGNED, FLOATS = ("i32", "i64"), ("u32", "u64"), ("f32", "f64")
NUMBERS = (*SIGNED, *UNSIGNED, *FLOATS)
STORED = (*NUMBERS, "i8", "u8", "i16", "u16")

BITS = ("({0} & {1})", "({0} ^ {1})", "({0} >> {1})", "({0} << {1})", "min({0}, {1})", "max({0}, {1})")
FORMS = {
    "f": ("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "({0} * {1} + {2})", "{3}({4})", "sqrt({0})",
          "abs({0})", "min({0}, {1})", "max({0}, {1})"),
    "i": (*BITS, "({0} // 7)", "({0} % 11)", "{3}({5})", "{3}({5})"),
    "u": (*BITS, "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} | {1})", "(~{0})", "mulhi({0}, {1})", "{3}({4})",
          "({0} // ({1} | 1))", "({0} % ({1} | 1))", "{3}(popcount({0}))",
          "{3}(random_below(u32({0}) | 1, u64({1}), 5, 3))"),
}  # fmt: skip
"""Made of two values of a type, a third one, its name, and any integer and an unsigned number of as many bits."""


class Place(NamedTuple):
    """An array of a kernel: its text, the type of its elements, and their number as text."""

    text: str
    kind: str
    length: str


class Values:
    """The names that a kernel has so far, and values made of them.

    `same` and `own` have the types of numbers that are the same for all lanes of a team, and of others; `modes` has the
    mode of every array until the next barrier: `own`, `read` or an atomic operation.
    """

    def __init__(self, seed: int) -> None:
        self.draw, self.fresh = random.Random(seed), 0
        self.same, self.own = {"teams": "i32", "given": "u64"}, {}
        self.modes: dict[Place, str] = {}

    def pick(self, *options):
        return self.draw.choice(options)

    def name(self, start="t"):
        self.fresh += 1
        return f"{start}{self.fresh}"

    def index(self, length: str, depth: int, uniform: bool = False) -> str:
        return f"i32({self.value('u32', depth, uniform)} % u32({length}))"

    def element(self, place: Place, depth: int, uniform: bool) -> str:
        at = self.index(place.length, depth, uniform)
        forms = [f"{place.text}[{at}]", f"{place.text}[{at}]"]
        if place is not self.constants:
            forms += [f"element({place.text}, {at})", f"first(view({place.text}, {at}))"]
        if place == self.row_places[0]:
            forms.append(f"of_row(one, {at})")
        if place == self.table:
            forms.append(f"of_facts(facts, {at})")
        return self.pick(*forms)

    def leaf(self, kind: str, uniform: bool) -> str:
        known = self.same if uniform else self.same | self.own
        fitting = [name for name, other in known.items() if other == kind]
        integers = [name for name, other in known.items() if other not in FLOATS]
        words = ("team_rank()", "team_count()", "SIZES[1]") if uniform else ("team_rank()", "lane()", "lane()")
        options = [f"{kind}({self.pick(*words)})", f"{kind}({self.pick(0, 1, 2, 3, 7, 100, 255)})"]
        options += fitting * 2
        if kind not in FLOATS:
            options.append(f"{kind}({self.pick(*integers)})")
        return self.pick(*options)

    def value(self, kind: str, depth: int, uniform: bool = False) -> str:
        """An expression of a type of 32 or 64 bits. It is the same for all lanes of a team if `uniform`."""
        if depth <= 0 or self.draw.random() < 0.15:
            return self.leaf(kind, uniform)
        less = depth - 1
        if self.draw.random() < 0.25:
            readable = (place for place, mode in self.modes.items() if mode == "read")
            place = self.pick(*readable, self.table, self.constants)
            if (place.kind in FLOATS) == (kind in FLOATS):
                return f"{kind}({self.element(place, less, uniform)})"
        first, other = self.value(kind, less, uniform), self.value(kind, less, uniform)
        if self.draw.random() < 0.1:
            return f"({first} if {self.truth(less, uniform)} else {other})"
        form = self.pick(*FORMS["f" if kind in FLOATS else kind[0]])
        third = self.value(kind, less - 1, uniform) if "{2}" in form else ""
        integer = self.value(self.pick(*SIGNED, *UNSIGNED), less, uniform) if "{4}" in form else ""
        unsigned = self.value("u" + kind[1:], less, uniform) if "{5}" in form else ""
        return form.format(first, other, third, kind, integer, unsigned)

    def truth(self, depth: int, uniform: bool) -> str:
        kind = self.pick(*NUMBERS)
        one, other = self.value(kind, depth, uniform), self.value(kind, depth - 1, uniform)
        test = f"{one} {self.pick('<', '<=', '==', '!=', '>')} {other}"
        return self.pick(f"({test})", f"(not {test})", f"({test} or facts.inner.flag)", f"(given & 4 == 0 and {test})")
