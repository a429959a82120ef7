"""Texts that ask for a generated instance: `random:50:ratio=4.2:seed=1`, a family, its sizes, then its options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from core.problems.instances.errors import InstanceError
from core.problems.instances.limits import LARGEST_SEED
from core.problems.instances.tokens import quoted


class Quantity(NamedTuple):
    """A number in a specification, not negative.

    Attributes
    ----------
    name : str
    least, most : int
        Its range.
    usual : str
        What it is where a text leaves it out; sizes are never left out.
    decimals : int
        Digits that may stand behind the point; 0: it is an integer.

    """

    name: str
    least: int
    most: int
    usual: str = ""
    decimals: int = 0

    def read(self, spec: str, text: str) -> Fraction:
        """The value of a text, or a refusal that names the specification."""
        behind = rf"(\.[0-9]{{1,{self.decimals}}})?" if self.decimals else ""
        if not re.fullmatch(rf"[0-9]{{1,19}}{behind}", text) or not self.least <= Fraction(text) <= self.most:
            kind = "a decimal number" if self.decimals else "an integer"
            raise InstanceError(spec, None, f"{self.name} {quoted(text)}", f"{kind} from {self.least} to {self.most}")
        return Fraction(text)


SEED = Quantity("seed", 0, LARGEST_SEED, "1")


def parse_specification(
    spec: str, sizes: Sequence[Quantity], options: Sequence[Quantity]
) -> tuple[str, list[Fraction]]:
    """Read a specification FAMILY:SIZE...[:OPTION=VALUE]...

    Returns
    -------
    name : str
        The same with all options, so that equal names mean equal instances.
    values : list of Fraction
        Those of the sizes, then those of the options, in the order in which they are given here.

    Raises
    ------
    InstanceError
        A size that is missing, an option that is unknown or there twice, a value out of range.

    """
    family, *parts = spec.split(":")
    form = ":".join([family, *(one.name.upper() for one in sizes), *(f"[{one.name}=VALUE]" for one in options)])
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
    values = [one.read(spec, text) for one, text in zip(sizes, parts, strict=False)]
    values += [one.read(spec, texts[one.name]) for one in options]
    return ":".join([family, *parts[: len(sizes)], *(f"{name}={text}" for name, text in texts.items())]), values


def integer_options(
    spec: str, name: str, parts: Sequence[str], known: Mapping[str, tuple[int, int, int]]
) -> tuple[str, dict[str, int]]:
    """Read the parts OPTION=INTEGER of a specification.

    Parameters
    ----------
    spec : str
        For messages.
    name : str
        Family and size of the instance.
    parts : sequence of str
    known : mapping
        Default, smallest and largest value of each option.

    Returns
    -------
    name : str
        The same with all options, so that equal names mean equal instances.
    options : dict of int

    Raises
    ------
    InstanceError
        An option that is unknown or there twice, a value out of range.
    """
    options = {option: default for option, (default, _, _) in known.items()}
    given: set[str] = set()
    for part in parts:
        option, _, value = part.partition("=")
        if option not in known or option in given:
            wrong = "again" if option in given else "unknown"
            expected = f"OPTION=INTEGER of {', '.join(known)}, each once at most"
            raise InstanceError(spec, None, f"option {part!r} ({wrong})", expected)
        given.add(option)
        options[option] = specified_integer(spec, option, value, *known[option][1:])
    return ":".join([name, *(f"{option}={value}" for option, value in options.items())]), options


def specified_integer(spec: str, name: str, text: str, smallest: int, largest: int) -> int:
    """Return the integer of a text in a specification, or raise `InstanceError`."""
    if not re.fullmatch(r"[0-9]{1,19}", text) or not smallest <= int(text) <= largest:
        raise InstanceError(spec, None, f"{name} {text!r}", f"an integer from {smallest} to {largest}")
    return int(text)
