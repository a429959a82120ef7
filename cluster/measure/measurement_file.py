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
    """Cost of a message: alpha + beta * bytes.

    Attributes
    ----------
    alpha_s
        Seconds of an empty message.
    beta_s_per_byte
        Seconds for each further byte: one over the bandwidth.
    """

    alpha_s: float
    beta_s_per_byte: float


class Link(MeasuredPart, frozen=True):
    """Messages between two ranks: half a ping-pong.

    Attributes
    ----------
    source, target
        The ranks.
    same_host
        True if both are on one host, so that messages pass through its memory.
    alpha_s, beta_s_per_byte
        As in `Network`, fitted to messages of several sizes.
    """

    source: Index
    target: Index
    same_host: bool
    alpha_s: NotNegative
    beta_s_per_byte: NotNegative


class Reduction(MeasuredPart, frozen=True):
    """A reduction of an array to all ranks (MPI's Allreduce).

    Attributes
    ----------
    ranks
        Number of participating ranks: the first ones of the job.
    hosts
        Number of hosts.
    bytes
        Of each rank's array.
    seconds
        Of a call that follows another, on the slowest rank; median over batches of calls.
    low_s, high_s
        95 % confidence interval of this median by order statistics; least and largest batch if there are too
        few batches.
    calls
        Number of timed calls.
    """

    ranks: Count
    hosts: Count
    bytes: Index
    seconds: NotNegative
    low_s: NotNegative
    high_s: NotNegative
    calls: Count


class Pace(MeasuredPart, frozen=True):
    """Compute rate of ranks that synchronise after every step, so that all wait for the slowest.

    Ranks that share cores, memory or the power of a processor slow each other down, and all wait for a rank that the
    system interrupts. The speed of a single rank does not show this.

    Attributes
    ----------
    ranks
        Number of participating ranks: the first ones of the job.
    hosts
        Number of hosts.
    unit_s
        Seconds for a unit of work of each rank, without synchronisation; median over batches of steps.
    low_s, high_s
        As in `Reduction`.
    steps
        Number of timed steps.
    """

    ranks: Count
    hosts: Count
    unit_s: NotNegative
    low_s: NotNegative
    high_s: NotNegative
    steps: Count


class RankSpeed(MeasuredPart, frozen=True):
    """A rank, its device, and its compute rate.

    Attributes
    ----------
    rank
        Its number.
    host
        Its host's name.
    device
        Name of the processor or GPU.
    backend
        ``cpu``, ``threads``, ``cuda``, ...
    cores
        Cores of the device; 1 for a rank on one core, and for a GPU, which needs one core as its host.
    host_cores
        Cores of the host, shared by the host's ranks.
    rate
        Units of work per second while all ranks work.
    unit
        Unit of work, plural: neighbours, moves.
    kernel
        Workload and instance of the measurement.
    rate_alone
        Units of work per second while the other ranks of its host wait.
    clock_offset_s
        Its clock less that of rank 0; right to half of a message's round trip.
    versions : Mapping of str to str
        Of Python, NumPy, MPI and the suite's sources, by name.
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
    """Measurements of one run of `check`.

    Attributes
    ----------
    made
        The date, UTC, as ``2026-11-22T23:00:00Z``.
    mpi
        The MPI library with its version.
    links
        Between some pairs of ranks; none for a single rank.
    reductions
        Over 2, 4, 8, ... and all ranks, by their number and then by bytes.
    paces
        Of 1, 2, 4, 8, ... and all ranks, by their number.
    ranks
        Of every rank, in order.
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
        """Return the time of a unit of work at this rate, relative to the first rank alone.

        1 if the intervals of both overlap.
        """
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
    """Write the file completely or not at all; an existing file stays until all is on the disk.

    Raises `UserError` if it cannot be written there.
    """
    try:
        with atomic_write(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n")
    except OSError as error:
        raise UserError(f"{path}: cannot write there: {error.strerror or error}") from None


def read_measurement(path: str | os.PathLike[str]) -> ClusterMeasurement:
    """Read a file of `write_measurement`.

    Raises `MeasuredFileError` if the file is missing, is not JSON, has another version, or lacks a field or has a wrong
    one.
    """
    try:
        content = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise MeasuredFileError(path, "", (error.strerror or str(error)).lower(), WRITTEN_BY) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MeasuredFileError(path, "", f"no JSON ({error})", WRITTEN_BY) from None
    if not isinstance(content, dict) or "version" not in content:
        raise MeasuredFileError(path, "", "no version", WRITTEN_BY)
    if type(content["version"]) is not int or content["version"] != VERSION:
        raise MeasuredFileError(path, "version", shown(content["version"]), f"{VERSION}; run `check` again")
    try:
        measured = msgspec.convert(content, ClusterMeasurement)
    except msgspec.ValidationError as error:
        raise MeasuredFileError(path, *explained(str(error), content)) from None
    if [rank.rank for rank in measured.ranks] != list(range(max(1, len(measured.ranks)))):
        raise MeasuredFileError(path, "ranks", shown([rank.rank for rank in measured.ranks]), "ranks 0, 1, 2, ...")
    for number, link in enumerate(measured.links):
        if max(link.source, link.target) >= len(measured.ranks):
            pair = shown([link.source, link.target])
            raise MeasuredFileError(path, f"links[{number}]", pair, f"ranks below {len(measured.ranks)}")
    return measured


def explained(message: str, content: Any) -> tuple[str, str, str]:
    """Return place, value found and value expected from an error of msgspec: ``Expected ... - at `$.links[0]` ``."""
    said, _, place = message.partition(" - at `$")
    place = place.strip(".`")
    if field := re.fullmatch("Object missing required field (.*)", said):
        return place, f"no {field[1]}", "one"
    if field := re.fullmatch("Object contains unknown field (.*)", said):
        return place, field[1], "only what `check` writes"
    for key in re.findall(r"\w+", place):
        content = content[int(key) if key.isdecimal() else key]
    return place, shown(content), said.removeprefix("Expected ").partition(", got")[0]


def shown(value: Any) -> str:
    """Return the beginning of a value, as JSON."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."
