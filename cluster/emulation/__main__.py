"""A command on hosts of this machine: `python -m cluster.emulation cow 4 -- mpirun -n 8 python -m drivers.ppp`.

The command runs on the first host; hosts are called host1, host2, ... The `mpirun` of Open MPI 4.1 or 5 finds them all,
uses `--slots` of each before more, and needs no `--host`. With ranks on fewer hosts a workload ends with an error. The
network is one of lan, cow, grid (three sites) and grid2 to grid7. Records of its runs name the network and say that one
machine emulates the hosts.
"""

from __future__ import annotations

import argparse
import platform
import signal
import subprocess
import sys
from pathlib import Path

from cluster.emulation import obstacle
from cluster.emulation.hosts import FORWARDED, HOST_FILE, Hosts
from cluster.emulation.profiles import PROFILES
from core.granted_cores import EMULATION


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m cluster.emulation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", choices=PROFILES)
    parser.add_argument("hosts", type=int, help="number of hosts, up to 64")
    parser.add_argument("--on", type=int, default=1, metavar="HOST", help="run it on this host (1)")
    parser.add_argument("--slots", type=int, default=1, metavar="N", help="slots of each host (1)")
    share = "a folder below /tmp or /dev/shm that all hosts see; each has its own /tmp else"
    parser.add_argument("--share", type=Path, nargs="*", default=[], metavar="DIR", help=share)
    parser.add_argument("command", nargs="+")
    own = parser.parse_args()
    if not 1 <= own.on <= own.hosts <= 64:
        parser.error(f"expected 1 to 64 hosts, and one of them for --on, found {own.hosts} and {own.on}")
    if missing := [str(folder) for folder in own.share if not folder.is_dir()]:
        parser.error(f"--share: expected folders, found no {', '.join(missing)}")
    why_not = obstacle()
    if why_not is not None:
        print(f"error: {why_not}", file=sys.stderr)
        return 2
    network = PROFILES[own.network]
    # The hosts and their folder are removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with Hosts(network, own.hosts, own.share) as hosts:
        host_file = hosts.folder / "hostfile"
        host_file.write_text("".join(f"{hosts.name(host)} slots={own.slots}\n" for host in range(own.hosts)))
        environment = hosts.environment() | dict.fromkeys(HOST_FILE, str(host_file))
        environment[EMULATION] = f"{network.name} {own.hosts} {own.slots} {platform.node() or 'unknown'}"
        # By its PATH a host finds `python`, too.
        forwarded = [name for name in ("PATH", EMULATION, *FORWARDED) if name in environment]
        environment["OMPI_MCA_mca_base_env_list"] = ";".join(["OPENBLAS_NUM_THREADS=1", *forwarded])
        try:
            return subprocess.run(hosts.command(own.on - 1, own.command), env=environment).returncode
        except KeyboardInterrupt:
            return 130


if __name__ == "__main__":
    sys.exit(main())
