"""File with the measurements of `python -m cluster check`, which the cluster model reads.

A message of m bytes takes alpha + beta * m seconds between two ranks, and a rank gamma seconds for a unit of work: the
three parameters of a model of ranks that compute and synchronise. JSON with a version; the types below check it on
reading.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

import msgspec

from core.atomic_files import atomic_write
from core.errors import UserError

VERSION = 2
WRITTEN_BY = "a file of `python -m cluster check --output FILE`"
MOST_SHOWN = 60

Count = Annotated[int, msgspec.Meta(gt=0)]
Index = Annotated[int, msgspec.Meta(ge=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Positive = Annotated[float, msgspec.Meta(gt=0)]


class MeasuredPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object of the file."""


class Network(NamedTuple):
    """Cost of a message: alpha in seconds, and beta in seconds for each byte, one over the bandwidth."""

    alpha_s: float
    beta_s_per_byte: float


class Link(MeasuredPart, frozen=True):
    """Messages between two ranks: half a ping-pong, with alpha and beta as in `Network` fitted to several sizes.

    ``same_host`` is True if both ranks are on one host, so that messages pass through its memory.
    """

    source: Index
    target: Index
    same_host: bool
    alpha_s: NotNegative
    beta_s_per_byte: NotNegative


class Reduction(MeasuredPart, frozen=True):
    """A reduction of an array of ``bytes`` on each rank (MPI's Allreduce) over the first ``ranks`` of the job.

    ``seconds`` is the time of a call that follows another, on the slowest rank: the median over batches of ``calls``.
    ``low_s`` and ``high_s`` are its 95 % confidence interval by order statistics, or the least and largest batch if
    there are too few.
    """

    ranks: Count
    hosts: Count
    bytes: Index
    seconds: NotNegative
    low_s: NotNegative
    high_s: NotNegative
    calls: Count


class Pace(MeasuredPart, frozen=True):
    """Compute rate of the first ``ranks`` of the job, which synchronise after every step.

    Ranks that share cores, memory or the power of a processor slow each other down, and all wait for a rank that the
    system interrupts. The speed of a single rank does not show this. ``unit_s`` is the seconds for a unit of work of
    each rank, without synchronisation: the median over batches of ``steps``, with an interval as in `Reduction`.
    """

    ranks: Count
    hosts: Count
    unit_s: NotNegative
    low_s: NotNegative
    high_s: NotNegative
    steps: Count


class RankSpeed(MeasuredPart, frozen=True):
    """A rank, its device, and its compute rate.

    ``device`` is the name of the processor or GPU, with 1 core if it is a core or a GPU, which needs one core of its
    host; ranks share ``host_cores``. ``rate`` counts units of work per second while all ranks work, and ``rate_alone``
    while the others of its host wait. ``unit`` is plural, such as moves. ``kernel`` is workload and instance of the
    measurement. ``clock_offset_s`` is its clock less that of rank 0, right to half of a message's round trip.
    ``versions`` are those of Python, NumPy, MPI and the suite's sources, by name.
    """

    rank: Index
    host: str
    device: str
    backend: str
    cores: Count
    host_cores: Count
    rate: Positive
    unit: str
    kernel: str
    rate_alone: Positive
    clock_offset_s: float
    versions: Mapping[str, str]


class ClusterMeasurement(MeasuredPart, frozen=True, tag=VERSION, tag_field="version"):
    """Measurements of one run of `check`, on a date in UTC such as ``2026-11-22T23:00:00Z``.

    ``mpi`` is the library with its version. ``links`` are between some pairs of ranks; a single rank has none.
    ``reductions`` are over 2, 4, 8, ... and all ranks, by their number and then by bytes, and ``paces`` of 1, 2, 4, 8,
    ... and all ranks.
    """

    made: str
    mpi: str
    links: tuple[Link, ...]
    reductions: tuple[Reduction, ...]
    paces: tuple[Pace, ...]
    ranks: tuple[RankSpeed, ...]

    @property
    def within_host(self) -> Network | None:
        """Medians over all pairs on one host; None without such pairs."""
        return median_network(link for link in self.links if link.same_host)

    @property
    def between_hosts(self) -> Network | None:
        """Medians over all pairs on two hosts; None if all ranks are on one."""
        return median_network(link for link in self.links if not link.same_host)

    def slowdown(self, pace: Pace) -> float:
        """Return the time of a unit of work over that of the first rank alone; 1 if their intervals overlap."""
        alone = next((pace for pace in self.paces if pace.ranks == 1), None)
        if alone is None or alone.unit_s <= 0 or pace.low_s <= alone.high_s:
            return 1.0
        return pace.unit_s / alone.unit_s

    @property
    def hosts(self) -> int:
        return len({rank.host for rank in self.ranks})


def median_network(links: Iterable[Link]) -> Network | None:
    """Return the median alpha and the median beta of links; None if there are none."""
    chosen = list(links)
    if not chosen:
        return None
    return Network(median(link.alpha_s for link in chosen), median(link.beta_s_per_byte for link in chosen))


class MeasuredFileError(UserError):
    """A file that does not have the format of `check`; the message names it, the value found and the value expected."""

    def __init__(self, path: str | os.PathLike[str], place: str, found: str, expected: str) -> None:
        super().__init__(f"{os.fspath(path)}{place and ': ' + place}: found {found}, expected {expected}")


# --- the file ---


def write_measurement(measured: ClusterMeasurement, path: str | os.PathLike[str]) -> None:
    """Write the file completely or not at all; an existing file stays until all is on the disk."""
    try:
        with atomic_write(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n")
    except OSError as error:
        raise UserError(f"{path}: cannot write there: {error.strerror or error}") from None


def read_measurement(path: str | os.PathLike[str]) -> ClusterMeasurement:
    """Read a file of `write_measurement`; raises `MeasuredFileError` unless it has this version and all fields."""
    try:
        content = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise MeasuredFileError(path, "", (error.strerror or str(error)).lower(), WRITTEN_BY) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MeasuredFileError(path, "", f"no JSON ({error})", WRITTEN_BY) from None
    if not isinstance(content, dict) or "version" not in content:
        raise MeasuredFileError(path, "", "no version", WRITTEN_BY)
    if type(content["version"]) is not int or content["version"] != VERSION:
        raise MeasuredFileError(path, "version", shorten(content["version"]), f"{VERSION}; run `check` again")
    try:
        measured = msgspec.convert(content, ClusterMeasurement)
    except msgspec.ValidationError as error:
        raise MeasuredFileError(path, *explain_error(str(error), content)) from None
    if [rank.rank for rank in measured.ranks] != list(range(max(1, len(measured.ranks)))):
        raise MeasuredFileError(path, "ranks", shorten([rank.rank for rank in measured.ranks]), "ranks 0, 1, 2, ...")
    for number, link in enumerate(measured.links):
        if max(link.source, link.target) >= len(measured.ranks):
            pair = shorten([link.source, link.target])
            raise MeasuredFileError(path, f"links[{number}]", pair, f"ranks below {len(measured.ranks)}")
    return measured


def explain_error(message: str, content: Any) -> tuple[str, str, str]:
    """Return place, value found and value expected from an error of msgspec: ``Expected ... - at `$.links[0]` ``."""
    problem, _, place = message.partition(" - at `$")
    place = place.strip(".`")
    if field := re.fullmatch("Object missing required field (.*)", problem):
        return place, f"no {field[1]}", "one"
    if field := re.fullmatch("Object contains unknown field (.*)", problem):
        return place, field[1], "only what `check` writes"
    for key in re.findall(r"\w+", place):
        content = content[int(key) if key.isdecimal() else key]
    return place, shorten(content), problem.removeprefix("Expected ").partition(", got")[0]


def shorten(value: Any) -> str:
    """Return the beginning of a value, as JSON."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."
