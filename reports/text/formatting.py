"""Format of numbers, times, rates, ratios, intervals, costs and machines in all reports and programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.statistics.medians import Estimate

TIME_UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))
LONG_UNITS = ((365.25 * 86400, "years"), (86400.0, "days"), (3600.0, "h"), (60.0, "min"))
MOST_GROUPED = 1e15
ROUNDS_UP = 0.9995
"""Smallest part of a unit that three or four digits round to one."""


# --- numbers ---


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with some significant digits, thousands grouped, no exponent below 1e15; empty for None."""
    if value is None:
        return ""
    if abs(value) >= MOST_GROUPED:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    if abs(value) >= 10**digits - 0.5:
        return f"{value:,.0f}"
    if value == 0 or abs(value) >= 1e-3:
        return f"{value:#.{digits}g}".rstrip(".") if value else "0"
    return f"{value:.{digits - 1 - math.floor(math.log10(abs(value)))}f}"


def grouped(value: object) -> str:
    return f"{value:,}" if isinstance(value, (int, float)) else str(value if value is not None else "")


def span(first: str, last: str) -> str:
    """Return a range as text: 3 to 7, or 3 for equal ends."""
    return first if first == last else f"{first} to {last}"


def rate(per_second: float | None, digits: int = 3) -> str:
    """Return a number with a metric prefix, ready for a unit: `61.3 M`; empty for None."""
    if per_second is None:
        return ""
    for prefix, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= ROUNDS_UP * scale:
            return f"{number(per_second / scale, digits)} {prefix}"
    return number(per_second, digits)


def per_cent(share: float | None) -> str:
    """Return a fraction in per cent: two digits below 10 %, whole numbers from there on; empty for None."""
    if share is None:
        return ""
    return f"{100 * share:,.0f} %" if abs(share) >= 0.0995 else f"{100 * share:.2g} %"


def size(count: int | None) -> str:
    """Return a number of bytes in the unit that keeps it readable; empty for None."""
    if count is None:
        return ""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{count} B" if unit == "B" else f"{number(size)} {unit}"


# --- times ---


def seconds(value: float | None, digits: int = 3) -> str:
    """Return a time in s, ms or µs; empty for None."""
    if value is None:
        return ""
    unit, scale = next((unit for unit in TIME_UNITS if value * unit[1] >= ROUNDS_UP), TIME_UNITS[-1])
    return f"{number(value * scale, digits)} {unit}"


def duration(value: float) -> str:
    """Return a rough time in the largest unit of which it has two: 150 ms, 45 s, 2.5 min, 3.0 days."""
    size, unit = next((unit for unit in LONG_UNITS if value >= 2 * unit[0]), (0.0, ""))
    return f"{number(value / size, 2)} {unit}" if unit else seconds(value, 2)


# --- estimates ---


def deviation(estimate: Estimate, least: float) -> str:
    """Return the half width of an interval as `±7 %`, rounded up; empty without one, or if it is at most `least`."""
    half_width = estimate.half_width
    return "" if half_width is None or half_width <= least else f"±{math.ceil(100 * half_width)} %"


# --- costs ---


def cost(value: float) -> str:
    """Return a cost or the mean of costs: whole numbers unchanged, others with up to six digits."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1e5 else f"{value:,.6g}"


def gap(cost: float, optimum: float | None) -> str:
    """Return the distance of a cost from the optimum; empty if none is known."""
    if not optimum:
        return ""
    if cost == optimum:
        return "the optimum"
    return f"{100 * abs(cost / optimum - 1):.2f} % {'above' if cost > optimum else 'below'}"


# --- words ---


def listed(names: Sequence[str]) -> str:
    """Return a list as text: a, b and c."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def machine(environment: Mapping[str, Any], *others: Mapping[str, Any]) -> str:
    """Return an environment in a line: processor, cores, GPUs, version of the project, and versions of others there."""
    gpus = environment.get("gpus") or []
    commits = sorted({str(one.get("commit") or "outside a checkout") for one in (environment, *others)})
    words = [environment.get("cpu_model") or "processor not recorded", cores(environment)]
    words += [f"{gpus.count(name)} {name}" if gpus.count(name) > 1 else name for name in dict.fromkeys(gpus)]
    return ", ".join(map(str, [*words, f"onekernel {listed(commits)}"]))


def cores(environment: Mapping[str, Any]) -> str:
    """Return the cores of an environment: recorded hardware threads and physical cores, and clock."""
    hosts, granted = environment.get("host_count") or 1, environment.get("cores") or "?"
    threads, physical = environment.get("hardware_threads"), environment.get("physical_cores")
    words = f"{granted} cores"
    if threads and physical and threads > physical:
        of_all = "" if threads == granted else f"{granted} of "
        words = f"{of_all}{threads} hardware threads of {physical} cores"
    elif threads and threads != granted:
        words = f"{granted} of {threads} cores"
    sockets, nominal = environment.get("sockets") or 1, environment.get("cpu_mhz_nominal")
    words += f" in {sockets} sockets" if sockets > 1 else ""
    words += f" at {nominal / 1000:.2f} GHz" if nominal else ""
    words += f" (at most {environment['cpu_mhz_max'] / 1000:.2f} GHz)" if environment.get("cpu_mhz_max") else ""
    words += " as a virtual machine shows them" if environment.get("virtual") else ""
    return words + (f" on each of {hosts} hosts" if hosts > 1 else "")
