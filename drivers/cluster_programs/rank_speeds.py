"""Speed of each rank, with all others and alone on its host, and its device: for `drivers.cluster_programs.check`.

Not in that module, since ranks exchange what is declared here by the module's name.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cluster.measure.measurement_file import Pace
    from drivers.ppp import PppOptions

TOGETHER_S = 0.5
"""All ranks compute for so long at once."""
ALONE_S, LEAST_ALONE_S, MOST_ALONE_S = 2.0, 0.03, 0.5
"""All ranks of a host one after another, and each of them, at least and at most."""


class RankMeasurement(NamedTuple):
    """Measurements of a rank by itself: `RankSpeed` without what rank 0 knows, and its conditions.

    On rank 0 also how fast ranks are that meet after every scan.
    """

    device: str
    backend: str
    cores: int
    host_cores: int
    rate: float
    rate_alone: float
    conditions: Mapping[str, Any]
    paces: Sequence[Pace]


def measure_rank(ranks: Any, own: PppOptions, hosts: Sequence[str]) -> RankMeasurement:
    """Measure how fast this rank computes; every rank calls it.

    Parameters
    ----------
    ranks
        The communicator.
    own
        This rank's options: one walk, of which every rank scans all neighbours.
    hosts
        Of every rank the host's name.

    """
    from cluster import Solo
    from cluster.measure import compute_rates, serialised_timing
    from core.search.stop import Iterations
    from drivers.options.declaration import options_for_rank
    from drivers.ppp import PPP, PppWorkload
    from drivers.runs.seeds import broadcast_task, prepare_search
    from reports.records.environment import cores
    from reports.records.meters import Meter

    task = broadcast_task(PPP.load(own, 1) if ranks.rank == 0 else None, own, ranks)

    class WholeScan(PppWorkload):
        def search(self, backend: Any, ranks: Any, problem: Any, options: Any) -> Any:
            """Every rank scans all neighbours, as if it were the only one."""
            return super().search(backend, Solo(), problem, options)

    search = prepare_search(WholeScan(), ranks, task.problem, options_for_rank(task.options, own))
    search.run(Iterations(1), ranks=Solo())
    device = search.backend.device
    meter = Meter(device.kind, device.index if device.kind == "gpu" else 0)
    ranks.assemble()
    ranks.barrier()
    with meter:
        together = measure_rate(search, TOGETHER_S)
    ranks.assemble()
    here = [rank for rank, host in enumerate(hosts) if host == hosts[ranks.rank]]
    before, after = here[: here.index(ranks.rank)], here[here.index(ranks.rank) + 1 :]
    if before:
        serialised_timing.wait_for_turn(ranks.world, before[-1])
    alone = measure_rate(search, min(max(ALONE_S / len(here), LEAST_ALONE_S), MOST_ALONE_S))
    if after:
        serialised_timing.pass_turn(ranks.world, after[0])
    ranks.assemble()
    in_step = compute_rates.measure_compute_rates(ranks.world, iteration_of(search), search.plan.sizes[0], hosts)
    ranks.assemble()
    search.backend.close()
    used = device.compute_units if device.kind == "cores" else 1
    about = (device.name, search.backend.name, used, cores())
    return RankMeasurement(*about, together, alone, meter.values["conditions"] or {}, in_step)


def iteration_of(search: Any) -> Callable[[], None]:
    """What lets a search on this rank alone make an iteration, and waits for it."""
    from core.search.stop import Stop

    search.walks.begin(Stop(), None)

    def scan() -> None:
        search.iterate(1)
        search.backend.synchronize()

    return scan


def measure_rate(search: Any, seconds: float) -> float:
    """Neighbours that a search on this rank alone evaluates in a second, watched for some seconds."""
    from cluster import Solo
    from core.search.stop import Iterations, Seconds, Stop

    def evaluated(stop: Stop) -> int:
        return int(search.run(stop, ranks=Solo()).evaluations)

    began = time.perf_counter()
    # On a crowded host a rank may not have begun when its time is over.
    count = evaluated(Seconds(seconds)) or evaluated(Iterations(1))
    return count / (time.perf_counter() - began)


def versions_here(ranks: Any) -> dict[str, str]:
    """Of Python, NumPy, mpi4py, MPI and the suite's sources, on this rank; one rank reads the sources of a folder."""
    import mpi4py
    import numpy as np

    from cluster.launch.commands import ROOT
    from drivers.runs.rank_start import sources_digest

    places = ranks.bcast(ranks.gather((ranks.host(), str(ROOT))))
    first = places.index(places[ranks.rank])
    digests = ranks.bcast(ranks.gather(sources_digest(ROOT) if first == ranks.rank else ""))
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "mpi4py": mpi4py.__version__,
        "mpi": mpi_library(),
        "sources": digests[first],
    }


def mpi_library() -> str:
    """The MPI library's name and version: the first words of what it says of itself."""
    from mpi4py import MPI

    return MPI.Get_library_version().split(",")[0].split("\n")[0].strip("\0 ").replace(" v", " ")
