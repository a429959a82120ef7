"""Data of a benchmark: cases, and the candidates of a case, which do the same work.

`drivers.bench.runner` runs them, one file for each family of workloads lists them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from drivers.bench.c_programs import Compiler
from drivers.bench.devices import BenchmarkDevice, equivalent_cores
from drivers.bench.instances import BenchmarkInstances


class RecordSubject(NamedTuple):
    """What a record says of all runs of a candidate; see `reports.records.schema.Record`.

    ``instance`` has a ``name`` and a ``sha256``.
    """

    workload: str
    instance: Any
    parameters: Mapping[str, Any]
    execution: Mapping[str, Any]
    evaluation_unit: str
    hash_scope: str


class CandidateResult(NamedTuple):
    """What one run came to.

    Attributes
    ----------
    amount : int
        Units of work that were done.
    facts : mapping
        By name what whoever does the same work must find too; the first is the cost.
    confirmed : bool or None
        Whether the plain scorer, or somebody else who does not share our kernels, confirms the cost; None: nobody was
        asked.
    result : mapping or None
        For the record: seed, best_cost, best_index, evaluations, hash and details. None: no record is kept,
        because others than the suite's programs and its reference programs say too little of themselves.
    seconds : float or None
        What the candidate took by its own clock; None: it is timed from outside.

    """

    amount: int
    facts: Mapping[str, Any]
    confirmed: bool | None = None
    result: Mapping[str, Any] | None = None
    seconds: float | None = None


def no_note(outcomes: Sequence[Any], median: float) -> str:
    """No note."""
    return ""


class PreparedCandidate(NamedTuple):
    """A candidate that is compiled and ready.

    Attributes
    ----------
    solve : callable
        Takes the number of the repetition, from 0, and returns an outcome; it alone is timed.
    read : callable
        From an outcome to a `CandidateResult`.
    note : callable
        From the outcomes of all repetitions and the median of their seconds to what stands at the end of the line.
    subject : Subject or None
        None: no record is kept.

    """

    solve: Callable[[int], Any]
    read: Callable[[Any], CandidateResult]
    note: Callable[[Sequence[Any], float], str] = no_note
    subject: RecordSubject | None = None


@dataclass(frozen=True)
class BenchmarkCandidate:
    """A program that does the work of a case.

    Attributes
    ----------
    name : str
        Unique in its case.
    prepare : callable
        Takes the backend on ``place``, None where there is none, and compiles and allocates.
    place : Place or None
        None: a program or package of its own on one core.
    against : str
        The candidate whose time stands beside this one's; empty: the case's first.
    effort : float
        Its time on one core as a multiple of the case's first, for the estimate.

    """

    name: str
    prepare: Callable[[Any], PreparedCandidate]
    place: BenchmarkDevice | None = None
    against: str = ""
    effort: float = 1.0


@dataclass(frozen=True)
class BenchmarkCase:
    """Candidates that are run in turn, A B A B ..., so that a machine whose speed drifts treats all alike.

    Attributes
    ----------
    work : str
        In words. What is found under equal words must be equal, on whatever device.
    candidates : tuple of Candidate
    unit : str
        Of work, plural, in which rates are shown.
    amount, speed : float
        Units of one run, and units a second that one core usually reaches, for the estimate.
    where : str
        The device, where all candidates share one.
    repeats : int or None
        Repetitions, where not as many as the user asked for.
    rehearsed : bool
        Whether everybody runs once before anything is timed, which fills caches and tells what the cost is.
    by_kernels : bool
        Whether the time of a run is that of its kernels alone, and not from end to end.
    remark : callable
        From the medians by candidates' names to further lines.

    """

    work: str
    candidates: tuple[BenchmarkCandidate, ...]
    unit: str
    amount: float
    speed: float
    where: str = ""
    repeats: int | None = None
    rehearsed: bool = False
    by_kernels: bool = False
    remark: Callable[[Mapping[str, float]], Sequence[str]] = lambda medians: ()

    @property
    def title(self) -> str:
        """The work, and the device where there is one."""
        return f"{self.work}, {self.where}" if self.where else self.work

    def seconds(self, repeats: int) -> float:
        """About how long all repetitions of all candidates take."""
        runs = (self.repeats or repeats) + self.rehearsed
        return sum(
            runs * self.amount * one.effort / (self.speed * equivalent_cores(one.place)) for one in self.candidates
        )


class BenchmarkContext(NamedTuple):
    """What there is to measure with, and what the command line says."""

    options: argparse.Namespace
    cores: Sequence[BenchmarkDevice]
    gpus: Sequence[BenchmarkDevice]
    compiler: Compiler
    instances: BenchmarkInstances
