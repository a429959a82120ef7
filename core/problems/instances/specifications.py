"""Texts that ask for a generated instance: `random:50:ratio=4.2:seed=1`, a family, its sizes, then its options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from core.problems.instances.errors import InstanceError
from core.problems.instances.limits import LARGEST_COST, LARGEST_SEED
from core.problems.instances.tokens import quoted


class Quantity(NamedTuple):
    """A number in a specification, not negative.

    Attributes
    ----------
    least, most
        Its range.
    usual
        Default if a text omits it; sizes are never omitted.
    decimals
        Most digits after the point; 0 for an integer.
    """

    name: str
    least: int
    most: int
    usual: str = ""
    decimals: int = 0

    def read(self, spec: str, text: str) -> int | Fraction:
        """Return the value of a text, or refuse it with an error that names the specification."""
        behind = rf"(\.[0-9]{{1,{self.decimals}}})?" if self.decimals else ""
        if not re.fullmatch(rf"[0-9]{{1,19}}{behind}", text) or not self.least <= Fraction(text) <= self.most:
            kind = "a decimal number" if self.decimals else "an integer"
            raise InstanceError(spec, None, f"{self.name} {quoted(text)}", f"{kind} from {self.least} to {self.most}")
        return Fraction(text) if self.decimals else int(text)


class Interval(NamedTuple):
    """Two ascending integers LOW..HIGH in a specification, each of at most 31 bits, either sign; fields as above."""

    name: str
    usual: str

    def read(self, spec: str, text: str) -> tuple[int, int]:
        """Return the value of a text, or refuse it with an error that names the specification."""
        ends = re.fullmatch(r"(-?[0-9]{1,10})\.\.(-?[0-9]{1,10})", text)
        if ends is None or not -LARGEST_COST <= int(ends[1]) <= int(ends[2]) <= LARGEST_COST:
            expected = f"LOW..HIGH, two ascending integers from {-LARGEST_COST} to {LARGEST_COST}"
            raise InstanceError(spec, None, f"{self.name} {quoted(text)}", expected)
        return int(ends[1]), int(ends[2])


SEED = Quantity("seed", 0, LARGEST_SEED, "1")


def parse_specification(
    spec: str, sizes: Sequence[Quantity], options: Sequence[Quantity | Interval]
) -> tuple[str, list[Any]]:
    """Read a specification FAMILY:SIZE...[:OPTION=VALUE]...

    Raises `InstanceError` for a missing size, an unknown or repeated option, or a value out of range.

    Returns
    -------
    name : str
        The same with all options, so that equal names mean equal instances.
    values : list of int, Fraction or tuple
        Those of the sizes, then those of the options, in the order in which they are given here.
    """
    family, *parts = spec.split(":")
    form = ":".join([family, *(one.name.upper().replace(" ", "-") for one in sizes)])
    form += "".join(f"[:{one.name}=VALUE]" for one in options)
    if len(parts) < len(sizes):
        raise InstanceError(spec, None, f"no {sizes[len(parts)].name}", form)
    texts = {one.name: one.usual for one in options}
    given: set[str] = set()
    for part in parts[len(sizes) :]:
        name, _, value = part.partition("=")
        if name not in texts or name in given:
            raise InstanceError(spec, None, f"option {quoted(part)} ({'again' if name in given else 'unknown'})", form)
        given.add(name)
        texts[name] = value
    numbers = [one.read(spec, text) for one, text in zip(sizes, parts, strict=False)]
    values = [one.read(spec, texts[one.name]) for one in options]
    name = ":".join([family, *map(str, numbers), *(f"{option}={text}" for option, text in texts.items())])
    return name, [*numbers, *values]
