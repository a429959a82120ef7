"""Texts that specify a generated instance: `uniform:50:seed=1`, a family, its sizes, then its options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from core.instances.errors import InstanceError
from core.instances.limits import LARGEST_SEED
from core.instances.tokens import quoted


class Quantity(NamedTuple):
    """A number from `least` to `most` in a specification, not negative.

    `usual` is the default of an option; sizes have none.
    """

    name: str
    least: int
    most: int
    usual: str = ""

    def read(self, spec: str, text: str) -> int:
        """Return the value of a text; an error names the specification."""
        if not re.fullmatch("[0-9]{1,19}", text) or not self.least <= int(text) <= self.most:
            expected = f"an integer from {self.least} to {self.most}"
            raise InstanceError(spec, None, f"{self.name} {quoted(text)}", expected)
        return int(text)


SEED = Quantity("seed", 0, LARGEST_SEED, "1")


def parse_specification(spec: str, sizes: Sequence[Quantity], options: Sequence[Quantity]) -> tuple[str, list[int]]:
    """Read a specification FAMILY:SIZE...[:OPTION=VALUE]...

    Return a name with all options, so that equal names mean equal instances, and the values of the sizes, then those of
    the options, in the order of the arguments. Raises `InstanceError` for a missing size, an unknown or repeated
    option, or a value out of range.
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
