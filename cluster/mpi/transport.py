"""Transport of messages between ranks: each rank chooses it on its host, before MPI starts.

A login node, where users install, may lack the network of the compute nodes. So no file of the installation names a
transport.
"""

from __future__ import annotations

import os
from pathlib import Path

FABRICS = (Path("/sys/class/infiniband"), Path("/sys/class/cxi"))
"""Network adapters in Linux: InfiniBand, Omni-Path and EFA; Slingshot."""
# 64 ranks on 2 cores: Open MPI's own search for a transport takes 4.1 s from mpirun to the end, these 2.9 s;
# 2 ranks 1.2 s and 0.2 s. Excluded transports may be absent, required ones have other names in Open MPI 4.
WITHOUT_FABRIC = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^ofi,uct,openib", "OMPI_MCA_osc": "^ucx"}
"""Open MPI's settings for shared memory within a host and TCP between hosts."""
QUIET = {"UCX_LOG_LEVEL": "error"}
"""Setting of UCX, which otherwise prints a line on every rank about a network card or a version that it misses."""


def find_adapter() -> str | None:
    """Return the name of this host's first fast network adapter, such as mlx5_0."""
    return next((path.name for fabric in FABRICS if fabric.is_dir() for path in sorted(fabric.iterdir())), None)


def choose() -> None:
    """Set the environment of this rank; variables of the user and options of `mpirun` take precedence.

    With a fast network adapter MPI chooses the transport.
    """
    for name, value in (QUIET if find_adapter() else QUIET | WITHOUT_FABRIC).items():
        os.environ.setdefault(name, value)


def describe(is_hydra: bool) -> str:
    """Return a sentence about the transport between hosts, for the log of a job; MPICH and Intel MPI choose it."""
    if is_hydra:
        return "MPI chooses the transport; I_MPI_DEBUG=2 (Intel MPI) or MPIR_CVAR_DEBUG_SUMMARY=1 (MPICH) prints it"
    adapter = find_adapter()
    if adapter:
        return f"found the network adapter {adapter}: MPI chooses the transport between hosts"
    return f"no network adapter in {' or '.join(map(str, FABRICS))}: TCP between hosts"
