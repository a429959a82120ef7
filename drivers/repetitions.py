"""A run of any workload: its device, made ready on every rank, and its repetitions, timed, checked and recorded."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from drivers.forecast import Work, announce
from drivers.options import DONE, FAILED

if TYPE_CHECKING:
    from drivers.progress import Advance


class Times(NamedTuple):
    """Seconds of one repetition, those of the slowest rank."""

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float

    @property
    def running_s(self) -> float:
        """From end to end, without compilation."""
        return self.total_s - self.compile_s


def chosen_device(options: argparse.Namespace, ranks: Any) -> Any:
    """The backend that the options name, on their device; of several GPUs, ranks of one host take turns."""
    import backends

    device = options.device
    if ranks.size > 1 and options.backend in ("cuda", "opencl"):
        found = backends.backend_class(options.backend).devices()
        device = str((int(device) + ranks.local_rank) % len(found)) if device.isdigit() and found else device
    return backends.create(options.backend, device)


def prepared(ranks: Any, build: Callable[[dict[str, str]], Any], leads: bool) -> Any:
    """The search on this rank's device, compiled and warm: the first rank compiles for all, others for their host.

    Parameters
    ----------
    ranks
        The communicator.
    build
        Makes the search, which has a ``backend``; takes what the first rank's backend ``known`` compiled. Must not
        talk to other ranks.
    leads
        Whether this rank is the first of its host that needs what it compiles.

    """
    search: Any = None
    known: dict[str, str] = {}
    if ranks.rank == 0:
        search = build(known)
        known = search.backend.known
    known = ranks.bcast(known)
    if search is None and leads:
        search = build(known)
    ranks.barrier()
    return search or build(known)


class Repetitions:
    """The repetitions of one run: timed, checked by the scorer, recorded and shown.

    A workload says in a subclass what it runs and shows; the record's repetitions all have the run's one seed, since
    equal hashes prove that they did the same work.

    Parameters
    ----------
    options
        With those of `drivers.options.add_common_options`.
    ranks
        The communicator.
    instance
        Has a ``name`` and a ``sha256``.
    search
        Has a ``backend``.

    """

    workload = ""
    doing = "running"
    """What stands before the progress bar."""

    def __init__(self, options: argparse.Namespace, ranks: Any, instance: Any, search: Any) -> None:
        self.options = options
        self.ranks = ranks
        self.instance = instance
        self.search = search
        self.saved = False
        self.contradicted = 0

    # --- what a workload says ---

    @property
    def parameters(self) -> dict[str, Any]:
        """What decides the work."""
        raise NotImplementedError

    @property
    def units(self) -> int | None:
        """Steps of this rank's progress bar; None where nobody can tell."""
        raise NotImplementedError

    def run(self, advance: Advance | None) -> Any:
        """Run once, on all ranks; ``advance`` counts finished units, and may be told the best result so far."""
        raise NotImplementedError

    @property
    def work(self) -> Work | None:
        """What one repetition computes on all ranks; None where nobody can tell before."""
        return None

    def check(self, outcome: Any) -> tuple[Any, bool | None]:
        """The best solution, and whether its cost is right; on rank 0.

        True: the plain NumPy scorer, or another who knows it, confirms it. False: somebody contradicts. None: nobody
        could be asked, or the search was told to give up.
        """
        raise NotImplementedError

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """Print what came out; on rank 0."""
        raise NotImplementedError

    def save(self, solution: Any) -> None:
        """Write the best solution where the user asked for it; on rank 0."""
        raise NotImplementedError

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """The record's best_cost, best_index, evaluations, trajectory_hash and details."""
        raise NotImplementedError

    # --- what is the same for all ---

    def repeat(self) -> int:
        """Make the repetitions that the record does not hold yet.

        Returns
        -------
        int
            The exit code, on all ranks the same: 1 if a result was contradicted, else 0.

        """
        first = self.ranks.rank == 0
        identity, done = self.recorded() if first and self.options.record else ("", 0)
        done = self.ranks.bcast(done)
        if first and done:
            print(f"{done} of {self.options.repeats} repetitions are in {self.options.record} already")
        if first and self.work is not None:
            announce(self.work, self.search.backend, self.ranks.size, self.options.repeats - done)
        for _ in range(done, self.options.repeats):
            outcome, times = self.measure()
            if first:
                self.finish(outcome, times)
        if first and identity:
            from reports.records import fold

            fold(self.options.record, identity)
        if self.contradicted:
            print(
                f"error: {self.instance.name}: {self.contradicted} of {self.options.repeats - done} results NOT "
                "CONFIRMED; recorded and saved all the same",
                file=sys.stderr,
            )
        return self.ranks.bcast(FAILED if self.contradicted else DONE)

    def finish(self, outcome: Any, times: Times) -> None:
        """Check one repetition, record it, save the solution, and show it, in this order; on rank 0.

        Each is done even if another fails: what hours have found is in the record when the terminal is gone, and on
        the terminal when the disk is full.
        """
        solution, confirmed = self.check(outcome)
        with ExitStack() as last:
            last.callback(self.show, outcome, times, confirmed is True)
            if not self.saved:
                self.saved = True
                last.callback(self.save, solution)
            if self.options.record:
                self.append(outcome, times, confirmed is True)
        self.contradicted += confirmed is False

    def measure(self) -> tuple[Any, Times]:
        """One repetition: its outcome, and on rank 0 the slowest rank's times."""
        from drivers.progress import progress

        timings = self.search.backend.timings
        self.ranks.barrier()
        compiled = timings.compile_s
        timings.transfer_s = timings.kernel_s = 0.0
        with progress(self.units, self.doing, wanted=self.options.progress, rank=self.ranks.rank) as bar:
            began = time.perf_counter()
            shown = self.options.progress or (self.options.progress is None and sys.stderr.isatty())
            outcome = self.run(bar.advance if shown else None)
            # What was compiled before counts for the first repetition; what is compiled now is in its time already.
            total = time.perf_counter() - began + compiled
        spent = (timings.compile_s, timings.transfer_s, timings.kernel_s, total)
        timings.compile_s = 0.0
        every = self.ranks.gather(spent)
        return outcome, Times(*map(max, zip(*every, strict=True))) if every else Times(*spent)

    # --- records ---

    def identified(self) -> dict[str, Any]:
        """What makes two repetitions belong to one run."""
        from reports.environment import environment

        return {
            "workload": self.workload,
            "instance_sha256": self.instance.sha256,
            "parameters": self.parameters,
            "seed": self.options.seed,
            "backend": self.search.backend.name,
            "device": self.options.device,
            "ranks": self.ranks.size,
            "environment": environment(),
        }

    def recorded(self) -> tuple[str, int]:
        """This run's identity, and how many of its repetitions are in the file."""
        from reports.records import completed, identity

        run = identity(**self.identified())
        done = completed(self.options.record, run)
        if done is not None and not done.scored:
            print(f"note: {self.options.record}: not all repetitions of this run are confirmed", file=sys.stderr)
        return run, len(done.samples) if done else 0

    def append(self, outcome: Any, times: Times, scored: bool) -> None:
        """Add this repetition to the record."""
        from reports.records import Record, Sample, append

        backend = self.search.backend
        device = backend.device
        on_gpu = backend.name in ("cuda", "opencl") and backend.capabilities.lanes_resident > 1
        result = self.result(outcome, times)
        result["details"] |= {
            "device_name": device.name,
            "driver": device.driver,
            "device_type": "gpu" if on_gpu else "cpu",
            "simulated": device.driver == "simulated",
        }
        append(
            self.options.record,
            Record(
                **self.identified(), **result, instance=self.instance.name, samples=(Sample(*times),), scored=scored
            ),
        )
