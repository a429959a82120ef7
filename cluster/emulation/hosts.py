"""Hosts on one machine: name spaces of the kernel, joined by a wire with the delay and rate of a network.

A host has a separate network, name, process space, shared memory, /tmp and /dev/shm; the project, its environment and
the caches are shared, as over a network file system. Ranks of two hosts cannot share memory
(`cluster.mpi.communicator.host_name`), and communicate over TCP through `wire.c`, also on kernels without `tc netem`.
Neither iproute2 nor ssh is needed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from cluster import setup
from cluster.emulation import NAMESPACES
from cluster.emulation.host import NETWORK
from cluster.emulation.profiles import Profile
from cluster.launch.commands import ROOT
from cluster.mpi.transport import WITHOUT_FABRIC

HERE = Path(__file__).parent
START_S, END_S = 20.0, 5.0
"""Longest time for the start of a host, and for the end of a process."""
OWN = (Path("/tmp"), Path("/dev/shm"))
FORWARDED = ("PYTHONPATH", "TSPLIB_DIR", "HOME")
"""Environment variables for ranks that Open MPI does not pass itself."""
LAUNCHERS = ("OMPI_COMM", "OMPI_MCA_plm", "PMI_", "PMIX_", "PRTE_")
"""Prefixes of variables of a launcher around this one. Some images set `OMPI_MCA_plm` to start ranks on one host."""
HOST_FILE = ("PRTE_MCA_prte_default_hostfile", "OMPI_MCA_orte_default_hostfile")
AGENT = ("PRTE_MCA_plm_ssh_agent", "OMPI_MCA_plm_rsh_agent")
INTERFACE = ("PRTE_MCA_prte_if_include", "OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_btl_tcp_if_include")
"""Names of settings of Open MPI: the launcher of version 5 reads those with PRTE, that of 4.1 the others."""
OVER_THE_WIRE = {
    # Hosts share the machine's fast network adapters, which would bypass the wire.
    **WITHOUT_FABRIC,
    **dict.fromkeys(INTERFACE, NETWORK.format(0) + "/24"),
    # The settings that `make venv` writes for users, even if an earlier version made this environment.
    **{f"{kind}_{one.key}": one.value for one in setup.LAUNCHER for kind in ("PRTE_MCA", "OMPI_MCA")},
    "OMPI_MCA_rmaps_base_mapping_policy": "slot:oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    **dict.fromkeys(setup.AS_ROOT, "1"),
}


class Hosts:
    """Hosts on a network, called host1, host2, ...; a context manager that ends all their processes.

    They also end when this process is killed: hosts and wire end when their sockets are closed. ``shared`` are folders
    below /tmp or /dev/shm that all hosts share; project and environment are always shared.
    """

    def __init__(self, profile: Profile, count: int, shared: Iterable[Path] = ()) -> None:
        self.profile = profile
        self.count = count
        self.folder = Path(tempfile.mkdtemp(prefix="onekernel-hosts-"))
        used = (self.folder, ROOT, Path(sys.prefix), Path(sys.base_prefix), Path.home(), *shared)
        self.shared = sorted({place for place in map(Path.resolve, used) if any(map(place.is_relative_to, OWN))})
        self.controls: list[socket.socket] = []
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        devices: list[int] = []
        try:
            for host in range(self.count):
                address = self.folder / f"{self.name(host)}.socket"
                self._start([*NAMESPACES, sys.executable, "-S", HERE / "host.py", host, address], self.shared)
            for control in self.controls:
                _, (device,), _, _ = socket.recv_fds(control, 1, 1)
                devices.append(device)
            self._start([compile_wire(), self._write_delays()], devices, devices)
        except BaseException:
            self.close()
            raise
        finally:
            for device in devices:
                os.close(device)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, program: Sequence[object], rest: Sequence[object], descriptors: Sequence[int] = ()) -> None:
        """Start a process that ends when this one closes a socket; an argument is the descriptor of the other end."""
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control.settimeout(START_S)
        self.controls.append(control)
        with theirs:
            number = theirs.fileno()
            command = [str(word) for word in (*program, number, *rest)]
            process = subprocess.Popen(command, pass_fds=[number, *descriptors], stdin=subprocess.DEVNULL)
        self.processes.append(process)

    def _write_delays(self) -> Path:
        """Write the input of the wire: the rate in bit/s, and the round-trip times in seconds."""
        path = self.folder / "delays"
        rows = [[self.profile.bits_per_s], *self.profile.round_trips(self.count)]
        path.write_text("".join(" ".join(map(repr, row)) + "\n" for row in rows))
        return path

    def close(self) -> None:
        for control in self.controls:
            control.close()
        for process in self.processes:
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder)

    def name(self, host: int) -> str:
        return f"host{host + 1}"

    def command(self, host: int, command: Sequence[object]) -> list[str]:
        """Return a command that runs a command in a host, in the folder and environment of its process."""
        agent = [sys.executable, "-S", HERE / "agent.py", "--exactly", self.folder, self.name(host)]
        return [*map(str, [*agent, *command])]

    def environment(self) -> dict[str, str]:
        """Return the environment of a launcher that starts ranks on these hosts."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
        agent = dict.fromkeys(AGENT, f"{sys.executable} -S {HERE / 'agent.py'} {self.folder}")
        return kept | {"PYTHONPATH": str(ROOT)} | OVER_THE_WIRE | agent


def compile_wire() -> Path:
    """Return the program of the wire between hosts, compiled once for this user."""
    import platformdirs

    source = HERE / "wire.c"
    # Not in a folder where others could place a program for root.
    folder = platformdirs.user_cache_path("onekernel", ensure_exists=True)
    program = folder / f"wire-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}"
    if not program.exists():
        temporary = program.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", "-O2", "-o", temporary, source], check=True)
        temporary.replace(program)
    return program
