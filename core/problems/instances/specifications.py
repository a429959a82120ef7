"""Texts that specify a generated instance: `random:50:ratio=4.2:seed=1`, a family, its sizes, then its options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from core.problems.instances.errors import InstanceError
from core.problems.instances.limits import LARGEST_COST, LARGEST_SEED
from core.problems.instances.tokens import quoted


class Quantity(NamedTuple):
    """A number from `least` to `most` in a specification, not negative.

    `usual` is the default of an option; sizes have none. `decimals` is the largest number of digits after the point; 0
    for an integer.
    """

    name: str
    least: int
    most: int
    usual: str = ""
    decimals: int = 0

    def read(self, spec: str, text: str) -> int | Fraction:
        """Return the value of a text; an error names the specification."""
        behind = rf"(\.[0-9]{{1,{self.decimals}}})?" if self.decimals else ""
        if not re.fullmatch(rf"[0-9]{{1,19}}{behind}", text) or not self.least <= Fraction(text) <= self.most:
            kind = "a decimal number" if self.decimals else "an integer"
            raise InstanceError(spec, None, f"{self.name} {quoted(text)}", f"{kind} from {self.least} to {self.most}")
        return Fraction(text) if self.decimals else int(text)


class Interval(NamedTuple):
    """Two ascending integers LOW..HIGH in a specification, each of at most 31 bits, either sign."""

    name: str
    usual: str

    def read(self, spec: str, text: str) -> tuple[int, int]:
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

    Return a name with all options, so that equal names mean equal instances, and the values of the sizes, then those of
    the options, in the order of the arguments: int, Fraction or tuple. Raises `InstanceError` for a missing size, an
    unknown or repeated option, or a value out of range.
    """
    family, *parts = spec.split(":")
    form = ":".join([family, *(each.name.upper().replace(" ", "-") for each in sizes)])
    form += "".join(f"[:{each.name}=VALUE]" for each in options)
    if len(parts) < len(sizes):
        raise InstanceError(spec, None, f"no {sizes[len(parts)].name}", form)
    texts = {each.name: each.usual for each in options}
    seen: set[str] = set()
    for part in parts[len(sizes) :]:
        name, _, value = part.partition("=")
        if name not in texts or name in seen:
            raise InstanceError(spec, None, f"option {quoted(part)} ({'again' if name in seen else 'unknown'})", form)
        seen.add(name)
        texts[name] = value
    numbers = [each.read(spec, text) for each, text in zip(sizes, parts, strict=False)]
    values = [each.read(spec, texts[each.name]) for each in options]
    name = ":".join([family, *map(str, numbers), *(f"{option}={text}" for option, text in texts.items())])
    return name, [*numbers, *values]
