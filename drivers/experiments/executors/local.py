"""Runs of cases in processes of this machine, which end with this process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from drivers.experiments.case import Case
from drivers.experiments.executors import Finished, guard
from reports.records.environment import cores


class LocalExecutor:
    """Runs cases in turn; with `parallel`, seeds on one core at the same time."""

    elsewhere = False

    def __init__(self, *, parallel: bool = False) -> None:
        self.in_turn = not parallel

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
        """See `Executor`. With `parallel`, cases on more than a core follow in turn."""
        if self.in_turn:
            yield from ((case, run_case(case)) for case in cases)
            return
        listed = list(cases)
        with ThreadPoolExecutor(cores()) as pool:
            try:
                for case in [one for one in listed if one.is_of_one_core]:
                    yield case, joined([*pool.map(run_case, [replace(case, seeds=(seed,)) for seed in case.seeds])])
            finally:
                pool.shutdown(cancel_futures=True)
        yield from ((case, run_case(case)) for case in listed if not case.is_of_one_core)


def run_case(case: Case) -> Finished:
    return run_process(case.command(), case.environment())


def run_process(command: Sequence[str], environment: Mapping[str, str]) -> Finished:
    """Run a command on the calling machine, with these further variables; it ends with this process."""
    began = time.perf_counter()
    done = guard.run_guarded(command, {**os.environ, **environment})
    return Finished(done.returncode, done.stdout, done.stderr, time.perf_counter() - began)


def joined(ends: Sequence[Finished]) -> Finished:
    code = max(one.returncode for one in ends)
    outputs = "".join(one.stdout for one in ends), "".join(one.stderr for one in ends)
    return Finished(code, *outputs, max(one.seconds for one in ends))


def executor() -> LocalExecutor:
    return LocalExecutor()
