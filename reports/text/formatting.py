"""Format of numbers, times, ratios and machines in all reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def seconds(value: float) -> str:
    """Word a time in the unit that keeps it readable, three digits long."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 0.9995 or unit == "µs":
            return f"{number(value * scale)} {unit}"
    raise AssertionError("unreachable")


def number(value: float | None) -> str:
    """Word a number: three significant digits, thousands grouped, no exponent; empty for None."""
    if value is None:
        return ""
    if abs(value) >= 999.5:
        return f"{value:,.0f}"
    if value == 0 or abs(value) >= 1e-3:
        return f"{value:#.3g}".rstrip(".") if value else "0"
    return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}"


def rate(per_second: float | None) -> str:
    """Word how many things are done in a second, with the prefix that keeps it readable: `61.3 M`; empty for None."""
    if per_second is None:
        return ""
    for prefix, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= 0.9995 * scale:
            return f"{number(per_second / scale)} {prefix}"
    return number(per_second)


def per_cent(share: float) -> str:
    """Word a part of one: with two digits at least, and none behind the point from 10 % on."""
    return f"{100 * share:,.0f} %" if abs(share) >= 0.0995 else f"{100 * share:.2g} %"


def grouped(value: Any) -> str:
    """Word a number with its thousands grouped; other things as they are, empty for None."""
    return f"{value:,}" if isinstance(value, (int, float)) else str(value if value is not None else "")


def cost(value: Any) -> str:
    """Word a cost: integers with their thousands grouped, others with six digits."""
    return grouped(value) if isinstance(value, int) else f"{value:,.6g}"


def letters(place: int) -> str:
    """Return the letters of a place, counted from 0: a to z, aa, ab and so on."""
    head, last = divmod(place, 26)
    return (letters(head - 1) if head else "") + chr(ord("a") + last)


def listed(names: Sequence[str]) -> str:
    """Word a list: a, b and c."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def cell(text: Any) -> str:
    """Text that stays inside its cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def gap(cost: float, optimum: float | None) -> str:
    """Word how far a cost is from the optimum; empty where none is known."""
    if not optimum:
        return ""
    if cost == optimum:
        return "the optimum"
    return f"{100 * abs(cost / optimum - 1):.2f} % {'above' if cost > optimum else 'below'}"


def size(count: int | None) -> str:
    """Word a number of bytes in the unit that keeps it readable; empty for None."""
    if count is None:
        return ""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{count} B" if unit == "B" else f"{number(size)} {unit}"


def machine(environment: Mapping[str, Any]) -> str:
    """Word an environment in a line: host, processor, cores, system, Python, packages, version of the suite."""
    hosts = environment.get("host_count") or 1
    return ", ".join(
        [
            *([str(environment["host"])] if environment.get("host") else []),
            str(environment.get("cpu_model") or "processor not recorded"),
            f"{environment.get('cores') or '?'} cores" + (f" on each of {hosts} hosts" if hosts > 1 else ""),
            str(environment.get("os") or "system not recorded"),
            f"Python {environment.get('python') or '?'}",
            *(f"{name} {version}" for name, version in sorted((environment.get("packages") or {}).items())),
            f"onekernel {environment.get('commit') or 'outside a checkout'}",
        ]
    )
