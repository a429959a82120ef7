"""Runs of cases in processes of this machine, which end with this process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

from drivers.experiments.case import Case
from drivers.experiments.executors import Finished, guard
from reports.records.environment import cores


class LocalExecutor:
    """Runs one case after another; with `parallel`, cases of one core run at the same time, one for each core."""

    def __init__(self, *, parallel: bool = False) -> None:
        self.in_turn = not parallel

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
        """See `Executor`. Cases that use more than a core follow in turn."""
        if not self.in_turn:
            taken = list(cases)
            pool = ThreadPoolExecutor(cores())
            try:
                ends = {pool.submit(run_case, case): case for case in taken if case.is_of_one_core}
                yield from ((ends[end], end.result()) for end in as_completed(ends))
            finally:
                pool.shutdown(cancel_futures=True)
            cases = [case for case in taken if not case.is_of_one_core]
        yield from ((case, run_case(case)) for case in cases)


def run_case(case: Case) -> Finished:
    """Run a case in a process that ends with this one."""
    began = time.perf_counter()
    done = guard.run_guarded(case.command(), case.environment())
    return Finished(done.returncode, done.stdout, done.stderr, time.perf_counter() - began)


def executor() -> LocalExecutor:
    """Return the executor that runs one case after another."""
    return LocalExecutor()
