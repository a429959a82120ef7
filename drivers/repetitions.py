"""A run of any workload: its device, made ready on every rank, and its repetitions, timed, checked and recorded."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from drivers.progress import Advance


class Times(NamedTuple):
    """Seconds of one repetition.

    Over several ranks as `reports.records.Sample` has them: the longest compilation of any rank, and of the rank that
    ran longest the transfers and kernels; the total is that compilation and that rank's time, one after the other.
    """

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float

    @property
    def running_s(self) -> float:
        """From end to end, without compilation."""
        return self.total_s - self.compile_s


def over_ranks(every: Sequence[Times]) -> Times:
    """The times of a repetition from those of all its ranks, which compile, meet, and then run together.

    The slowest rank is the one that ran longest, whatever it took to compile: a difference of the longest total and the
    longest compilation is nobody's time.
    """
    slowest = max(every, key=lambda times: times.running_s)
    compile_s = max(times.compile_s for times in every)
    return slowest._replace(compile_s=compile_s, total_s=compile_s + slowest.running_s)


def chosen_device(options: argparse.Namespace, ranks: Any) -> Any:
    """The backend that the options name, on their device, or on a rank's turn of several devices like it."""
    import backends

    device = options.device
    if ranks.size > 1:
        device = turn(backends.backend_class(options.backend).devices(), device, ranks.local_rank)
    return backends.create(options.backend, device)


def turn(devices: Sequence[Any], device: str, local_rank: int) -> str:
    """The index of the device that a rank of a host takes: of those of the chosen one's kind, the next for each.

    Two drivers of one processor are no two processors, so the turn stays with one driver's devices. A device that is
    named by a part of its name is every rank's.
    """
    chosen = next((one for one in devices if one.index == device), None)
    if chosen is None:
        return device
    alike = [one.index for one in devices if (one.kind, one.driver) == (chosen.kind, chosen.driver)]
    return alike[(alike.index(chosen.index) + local_rank) % len(alike)]


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
    hash_covers = ""
    """What the hash of a run is made of, a key of `reports.schema.HASH_COVERS`."""
    doing = "running"
    """What stands before the progress bar."""

    def __init__(self, options: argparse.Namespace, ranks: Any, instance: Any, search: Any) -> None:
        self.options = options
        self.ranks = ranks
        self.instance = instance
        self.search = search
        self.saved = False
        self.hosts = 1

    # --- what a workload says ---

    @property
    def parameters(self) -> dict[str, Any]:
        """What decides the work, and nothing that decides its speed alone."""
        raise NotImplementedError

    @property
    def ways(self) -> dict[str, Any]:
        """What decides the speed alone: the same work has the same hash whatever they are."""
        raise NotImplementedError

    @property
    def units(self) -> int | None:
        """Steps of this rank's progress bar; None where nobody can tell."""
        raise NotImplementedError

    def run(self, advance: Advance | None) -> Any:
        """Run once, on all ranks; ``advance`` counts finished units, and may be told the best result so far."""
        raise NotImplementedError

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """The best solution, and whether the plain NumPy scorer confirms its cost; on rank 0."""
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

    def hashed(self, digest: int | str) -> str:
        """A hash of 64 bits as the lines of all drivers print it, with what it is made of."""
        from reports.schema import HASH_COVERS

        text = f"{digest:016x}" if isinstance(digest, int) else digest
        return f"hash {text} of {HASH_COVERS[self.hash_covers]}"

    def repeat(self) -> None:
        """Make the repetitions that the record does not hold yet."""
        first = self.ranks.rank == 0
        # Each host has one rank that is its first.
        self.hosts = (self.ranks.gather(self.ranks.local_rank) or [0]).count(0)
        identity, done = self.recorded() if first and self.options.record else ("", 0)
        done = self.ranks.bcast(done)
        if first and done:
            print(f"{done} of {self.options.repeats} repetitions are in {self.options.record} already")
        for _ in range(done, self.options.repeats):
            outcome, times = self.measure()
            if not first:
                continue
            solution, scored = self.check(outcome)
            self.show(outcome, times, scored)
            if self.options.record:
                self.append(outcome, times, scored)
            if not self.saved:
                self.save(solution)
                self.saved = True
        if first and identity:
            from reports.records import fold

            fold(self.options.record, identity)

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
        spent = Times(timings.compile_s, timings.transfer_s, timings.kernel_s, total)
        timings.compile_s = 0.0
        every = self.ranks.gather(spent)
        return outcome, over_ranks([Times(*one) for one in every]) if every else spent

    # --- records ---

    def identified(self) -> dict[str, Any]:
        """What makes two repetitions belong to one run."""
        from reports.environment import environment

        return {
            "workload": self.workload,
            "instance_sha256": self.instance.sha256,
            "parameters": self.parameters,
            "ways": self.ways,
            "seed": self.options.seed,
            "backend": self.search.backend.name,
            "device": self.options.device,
            "ranks": self.ranks.size,
            "environment": environment(self.hosts),
        }

    def recorded(self) -> tuple[str, int]:
        """This run's identity, and how many of its repetitions are in the file."""
        from reports.records import completed, identity

        run = identity(**self.identified())
        done = completed(self.options.record, run)
        return run, len(done.samples) if done else 0

    def append(self, outcome: Any, times: Times, scored: bool) -> None:
        """Add this repetition to the record."""
        from reports.records import Record, Sample, append

        backend = self.search.backend
        device = backend.device
        result = self.result(outcome, times)
        result["details"] |= {
            "device_name": device.name,
            "driver": device.driver,
            "simulated": device.driver == "simulated",
            "oracle": backend.oracle,
        }
        append(
            self.options.record,
            Record(
                **self.identified(),
                **result,
                instance=self.instance.name,
                device_kind=device.kind,
                hash_covers=self.hash_covers,
                samples=(Sample(*times),),
                scored=scored,
            ),
        )
