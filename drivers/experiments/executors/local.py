"""Runs of cases in processes of this machine, which end with this process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from drivers.experiments.case import Case
from drivers.experiments.executors import Finished, guard


class LocalExecutor:
    """Runs cases in turn."""

    elsewhere = False

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
        """See `Executor`."""
        yield from ((case, run_process(case.command(), case.environment())) for case in cases)


def run_process(command: Sequence[str], environment: Mapping[str, str]) -> Finished:
    """Run a command on the calling machine, with these further variables; it ends with this process."""
    began = time.perf_counter()
    done = guard.run_guarded(command, {**os.environ, **environment})
    return Finished(done.returncode, done.stdout, done.stderr, time.perf_counter() - began)


executor = LocalExecutor
