"""Start of a run on several ranks: checks that all were started alike, and restarts without lost ranks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import UserError
from core.granted_cores import EMULATION
from core.ranks import gather_on_all
from drivers.cli import messages
from drivers.options.declaration import Options, option_flag
from drivers.runs.checkpointing import RecoveryState
from drivers.workload.declaration import Workload

if TYPE_CHECKING:
    from cluster import Communicator

Done = TypeVar("Done")
PACKAGES = ("core", "backends", "cluster", "reports", "drivers")


def run_resumable(
    workload: Workload[Any], own: Options, ranks: Communicator, work: Callable[[Communicator, RecoveryState], Done]
) -> Done:
    """Run on all ranks with a lock on the checkpoint, and again on the remaining ones after a loss.

    ``own`` are this rank's options; ``work`` gets a communicator that measures its own time and the state of earlier
    attempts, and returns the result of an attempt. Raises `UserError`, see `check_argument_consistency` and
    `drivers.runs.checkpointing.RecoveryState.claim`.
    """
    from cluster.mpi.failures.survivors import rerun_on_survivors
    from cluster.mpi.proxies import TimedCommunicator

    with RecoveryState() as memory:

        def attempt() -> Done:
            memory.attempts += 1
            check_argument_consistency(ranks, workload, own)
            require_emulated_hosts(ranks)
            ranks.on_first(lambda: memory.claim(own), is_long=False)
            return work(TimedCommunicator(ranks), memory)

        return rerun_on_survivors(ranks, attempt)


def report_separate_tasks() -> None:
    """Report, once, that a batch system has started several processes without MPI between them."""
    from cluster.mpi import launcher

    if tasks := launcher.first_of_separate_tasks():
        messages.print_note(
            f"srun started {tasks} tasks without MPI between them, so each would do all the work: expected `srun "
            "--mpi=pmix`, `mpirun` or `onekernel cluster launch`"
        )


def check_argument_consistency(ranks: Communicator, workload: Workload[Any], options: Options) -> None:
    """Check that all ranks run the same program with the same options and sources; raises `UserError`.

    An instance need not be compared: the first rank loads it and sends it to the others.
    """
    from cluster import require_equal_arguments, require_equal_content

    values = options.named()
    arguments = {
        option_flag(one): "not given" if (value := values[one.name]) is None else str(value)
        for one, declared in options.declared()
        if declared.decides != "place"
    }
    require_equal_arguments(ranks, {"program": workload.command, "--help": "not given", **arguments})
    root = Path(__file__).parents[2]
    sources = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    require_equal_content(ranks, "the suite's sources", str(root), lambda: digest_of(sources, root))
    own = Path(workload.started[-1]).absolute()
    if workload.program and own.is_file():
        require_equal_content(ranks, "the program", str(own), lambda: digest_of([own], own.parent))


def require_emulated_hosts(ranks: Communicator) -> None:
    """Refuse ranks on fewer emulated hosts than launchers use: slots of each host first, then all hosts in turn.

    All ranks call this; rank 0 decides. Raises `UserError`. Ranks that remain after a loss may be on any hosts.
    """
    emulated = ranks.bcast(os.environ.get(EMULATION))
    if emulated and not ranks.lost:
        _, hosts, slots, _ = emulated.split(maxsplit=3)
        expected = min(int(hosts), -(-ranks.size // int(slots)))
        found = len(set(gather_on_all(ranks, ranks.host())))
        if found < expected:
            raise UserError(
                f"found {ranks.size} ranks on {found} of {hosts} emulated hosts, expected them on {expected}: use the "
                "mpirun of Open MPI 4.1 or 5, which reads the list of hosts, without --host and options like it"
            )


def digest_of(files: Sequence[Path], root: Path) -> str:
    import hashlib

    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(root)} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()[:12]
