"""File with the measurements of `python -m cluster check`, which the cluster model reads.

A message of m bytes takes alpha + beta * m seconds between two ranks, and a rank gamma seconds for a unit of work: the
three numbers of a model of ranks that compute and meet. JSON, with a version, checked on reading.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, NoReturn, TypeVar, get_type_hints

from core.atomic_files import atomic_write
from core.errors import UserError

VERSION = 2
AT_LEAST_0 = frozenset(
    {"rank", "source", "target", "bytes", "seconds", "low_s", "high_s", "alpha_s", "beta_s_per_byte", "unit_s"}
)
POSITIVE = frozenset({"rate", "rate_alone", "ranks", "hosts", "calls", "steps", "cores", "host_cores"})
EXPECTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
WRITTEN_BY = "a file of `python -m cluster check --output FILE`"

Part = TypeVar("Part", "Link", "Reduction", "Pace", "RankSpeed")


class Network(NamedTuple):
    """What a message costs: alpha + beta * bytes.

    Attributes
    ----------
    alpha_s : float
        Seconds until a message of no bytes is there.
    beta_s_per_byte : float
        Seconds for each further byte: one over the bandwidth.

    """

    alpha_s: float
    beta_s_per_byte: float


class Link(NamedTuple):
    """Messages between two ranks: half a ping-pong.

    Attributes
    ----------
    source, target : int
        The ranks.
    same_host : bool
        Whether both are on one host, where messages go through its memory.
    alpha_s, beta_s_per_byte : float
        As in `Network`, fitted to messages of several sizes.

    """

    source: int
    target: int
    same_host: bool
    alpha_s: float
    beta_s_per_byte: float


class Reduction(NamedTuple):
    """A reduction of an array to all ranks (MPI's Allreduce).

    Attributes
    ----------
    ranks : int
        The first so many ranks of the job took part.
    hosts : int
        On so many hosts.
    bytes : int
        Of each rank's array.
    seconds : float
        Of a call that follows another one, on the slowest rank: the median over batches of calls.
    low_s, high_s : float
        An interval that holds this median with 95 % confidence, by order statistics; the least and the largest batch
        where there are too few for one.
    calls : int
        That were timed.

    """

    ranks: int
    hosts: int
    bytes: int
    seconds: float
    low_s: float
    high_s: float
    calls: int


class Pace(NamedTuple):
    """How fast ranks compute that meet after every step, so that the slowest of each step is waited for.

    Ranks that share cores, memory or the power of a processor slow each other down, and a rank that the system disturbs
    keeps all others waiting: no rank's own speed shows it.

    Attributes
    ----------
    ranks : int
        The first so many ranks of the job took part; 1: the first alone.
    hosts : int
        On so many hosts.
    unit_s : float
        Seconds for a unit of work of each rank, less what the meeting itself takes: the median over batches of steps.
    low_s, high_s : float
        As in `Reduction`.
    steps : int
        That were timed.

    """

    ranks: int
    hosts: int
    unit_s: float
    low_s: float
    high_s: float
    steps: int


class RankSpeed(NamedTuple):
    """A rank, what it runs on, and how fast it computes.

    Attributes
    ----------
    rank : int
        Its number.
    host : str
        Its host's name.
    device : str
        What its backend calls the device: a processor's or a GPU's name.
    backend : str
        ``cpu``, ``threads``, ``cuda``, ...
    cores : int
        That the device computes with: 1 for a rank on one core, and for a GPU, which takes one to be driven.
    host_cores : int
        Of its host, which the host's ranks share.
    rate : float
        Units of work per second while all ranks work.
    unit : str
        What is counted, plural: neighbours, moves.
    kernel : str
        What computed it: the workload and its instance.
    rate_alone : float
        Units of work per second while the other ranks of its host wait.
    clock_offset_s : float
        Its clock less that of rank 0; right to half of a message's round trip.
    versions : Mapping of str to str
        Of Python, NumPy, MPI and the suite's sources, by name.

    """

    rank: int
    host: str
    device: str
    backend: str
    cores: int
    host_cores: int
    rate: float
    unit: str
    kernel: str
    rate_alone: float
    clock_offset_s: float
    versions: Mapping[str, str]


class ClusterMeasurement(NamedTuple):
    """All that one run of `check` has measured.

    Attributes
    ----------
    made : str
        The date, UTC, as ``2026-11-22T23:00:00Z``.
    mpi : str
        The MPI library with its version.
    links : tuple of Link
        Between some pairs of ranks; none for a single rank.
    reductions : tuple of Reduction
        Over 2, 4, 8, ... and all ranks, by their number and then by bytes.
    paces : tuple of Pace
        Of 1, 2, 4, 8, ... and all ranks, by their number.
    ranks : tuple of RankSpeed
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
        """The medians over all pairs that are on one host; None: none was measured."""
        return median_network(link for link in self.links if link.same_host)

    @property
    def between_hosts(self) -> Network | None:
        """The medians over all pairs on two hosts; None: all ranks are on one."""
        return median_network(link for link in self.links if not link.same_host)

    def slowdown(self, pace: Pace) -> float:
        """How many times longer a unit of work takes ranks that keep this pace than the first rank alone.

        1 where the intervals of both overlap, so that nobody can tell.
        """
        alone = next((one for one in self.paces if one.ranks == 1), None)
        if alone is None or alone.unit_s <= 0 or pace.low_s <= alone.high_s:
            return 1.0
        return pace.unit_s / alone.unit_s

    @property
    def hosts(self) -> int:
        """How many hosts there are."""
        return len({rank.host for rank in self.ranks})


def median_network(links: Iterable[Link]) -> Network | None:
    """The median alpha and the median beta of links; None if there are none."""
    chosen = list(links)
    if not chosen:
        return None
    return Network(median(link.alpha_s for link in chosen), median(link.beta_s_per_byte for link in chosen))


class MeasuredFileError(UserError):
    """A file that `check` has not written like this: the message names it, what was found and what was expected."""

    def __init__(self, path: str | os.PathLike[str], place: str, found: str, expected: str) -> None:
        super().__init__(f"{os.fspath(path)}{place and ': ' + place}: found {found}, expected {expected}")


# --- writing ---


def write_measurement(measured: ClusterMeasurement, path: str | os.PathLike[str]) -> None:
    """Write the file, whole or not at all: what stood there before stays until all is on the disk.

    Raises
    ------
    UserError
        It cannot be written there.

    """
    content = {"version": VERSION, **measured._asdict()}
    content |= {name: [one._asdict() for one in content[name]] for name in ("links", "reductions", "paces", "ranks")}
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    try:
        with atomic_write(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise UserError(f"{path}: cannot write there: {error.strerror or error}") from None


# --- reading ---


def read_measurement(path: str | os.PathLike[str]) -> ClusterMeasurement:
    """Read what `write_measurement` wrote.

    Raises
    ------
    MeasuredFileError
        There is no such file, it is not JSON, has another version, or lacks something or has it wrong.

    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise MeasuredFileError(path, "", "bytes that are no UTF-8 text", WRITTEN_BY) from None
    except OSError as error:
        raise MeasuredFileError(path, "", (error.strerror or str(error)).lower(), WRITTEN_BY) from None
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise MeasuredFileError(path, f"line {error.lineno}", f"no JSON ({error.msg})", WRITTEN_BY) from None
    except RecursionError:
        raise MeasuredFileError(path, "", "no JSON (nested too deeply)", WRITTEN_BY) from None
    if not isinstance(content, dict) or "version" not in content:
        raise MeasuredFileError(path, "", "no version", WRITTEN_BY)
    if content["version"] != VERSION or isinstance(content["version"], bool):
        raise MeasuredFileError(path, "version", json.dumps(content["version"]), f"{VERSION}; run `check` again")
    return MeasurementReader(path).measured(content)


class MeasurementReader:
    """Makes what a file's JSON says, or says what is wrong with it.

    Parameters
    ----------
    path
        The file, for messages.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def measured(self, content: Mapping[str, Any]) -> ClusterMeasurement:
        """The whole file."""
        self.keys("", content, {"version", *ClusterMeasurement._fields})
        made = ClusterMeasurement(
            self.value("made", "made", content["made"], str),
            self.value("mpi", "mpi", content["mpi"], str),
            self.parts("links", content["links"], Link),
            self.parts("reductions", content["reductions"], Reduction),
            self.parts("paces", content["paces"], Pace),
            self.parts("ranks", content["ranks"], RankSpeed),
        )
        for number, rank in enumerate(made.ranks):
            if rank.rank != number:
                self.refuse(f"ranks[{number}].rank", rank.rank, str(number))
        if not made.ranks:
            self.refuse("ranks", [], "one rank at least")
        for number, link in enumerate(made.links):
            if max(link.source, link.target) >= len(made.ranks):
                self.refuse(f"links[{number}]", [link.source, link.target], f"ranks below {len(made.ranks)}")
        return made

    def parts(self, name: str, found: Any, kind: type[Part]) -> tuple[Part, ...]:
        """A list of links, reductions, paces or ranks."""
        if not isinstance(found, list):
            self.refuse(name, found, "a list")
        kinds = get_type_hints(kind)
        made = []
        for number, one in enumerate(found):
            place = f"{name}[{number}]"
            if not isinstance(one, dict):
                self.refuse(place, one, "an object")
            self.keys(place, one, set(kind._fields))
            values = {field: self.value(f"{place}.{field}", field, one[field], kinds[field]) for field in kind._fields}
            made.append(kind(**values))
        return tuple(made)

    def keys(self, place: str, found: Mapping[str, Any], expected: set[str]) -> None:
        """Refuse what lacks a field, or has one that nobody knows."""
        for name in sorted(expected - found.keys()):
            raise MeasuredFileError(self.path, place, f"no {name!r}", "one")
        for name in sorted(found.keys() - expected):
            raise MeasuredFileError(self.path, place, f"{name!r}", f"only {', '.join(sorted(expected))}")

    def value(self, place: str, field: str, found: Any, kind: Any) -> Any:
        """One field's value, of its type and within its bounds."""
        if kind not in EXPECTED:
            texts = isinstance(found, dict) and all(isinstance(one, str) for one in found.values())
            return found if texts else self.refuse(place, found, "an object of texts")
        if kind is float and type(found) is int:
            found = float(found)
        if type(found) is not kind:
            self.refuse(place, found, EXPECTED[kind])
        if kind is float and not isfinite(found):
            self.refuse(place, found, "a finite number")
        if field in AT_LEAST_0 and found < 0:
            self.refuse(place, found, "0 or more")
        if field in POSITIVE and found <= 0:
            self.refuse(place, found, "more than 0")
        return found

    def refuse(self, place: str, found: Any, expected: str) -> NoReturn:
        """Say what is wrong.

        Raises
        ------
        MeasuredFileError
            Always.

        """
        shown = json.dumps(found)
        raise MeasuredFileError(self.path, place, shown if len(shown) <= 60 else shown[:57] + "...", expected)
