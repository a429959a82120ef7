"""Hosts on one machine: name spaces of the kernel, joined by a wire with the delay and rate of a network.

A host has a separate network, name, process space, shared memory, /tmp and /dev/shm; the checkout, `.venv` and the
caches are shared, as over a network file system. Ranks of two hosts cannot share memory
(`cluster.mpi.communicator.host_name`), and communicate over TCP through `wire.c`, also on kernels without `tc netem`.
It needs root, /dev/net/tun, gcc and util-linux' `unshare`; neither iproute2 nor ssh.

    with Hosts(profile("cow"), 4) as hosts:
        done = hosts.mpirun(8, "-m", "drivers.ppp", "--walks", "1")
        hosts.cut(2)
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from cluster import setup
from tests.hosts import wire
from tests.hosts.host import NETWORK
from tests.hosts.profiles import Profile

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAMESPACES = ("--net", "--uts", "--pid", "--ipc", "--mount")
START_S = 20.0
OWN = (Path("/tmp"), Path("/dev/shm"))
HANDED_ON = ("PYTHONPATH", "TSPLIB_DIR", "HOME")
"""Environment variables for ranks that Open MPI does not pass itself."""
LAUNCHERS = ("OMPI_COMM", "PMI_", "PMIX_", "PRTE_")
OVER_THE_WIRE = {
    "PRTE_MCA_prte_if_include": NETWORK.format(0) + "/24",
    "OMPI_MCA_btl_tcp_if_include": NETWORK.format(0) + "/24",
    # The settings that `make venv` writes for users, even if an earlier version made this environment.
    **{f"PRTE_MCA_{setting.key}": setting.value for setting in setup.LAUNCHER},
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def obstacle() -> str | None:
    """Reason against hosts here, or None."""
    if sys.platform != "linux":
        return "hosts are Linux' name spaces"
    if os.geteuid():
        return "hosts are name spaces and network devices, which only root makes"
    if not os.path.exists("/dev/net/tun"):
        return "hosts have TUN devices, and there is no /dev/net/tun"
    if shutil.which("unshare") is None:
        return "there is no unshare (util-linux)"
    return wire.obstacle() or _refused()


def _refused() -> str | None:
    """The system's refusal of new name spaces, or None."""
    tried = subprocess.run(["unshare", *NAMESPACES, "true"], capture_output=True, text=True)
    return f"no name spaces: {tried.stderr.strip()}" if tried.returncode else None


class Hosts:
    """Hosts on a network, called host1, host2, ...; a context manager that ends all their processes.

    They also end when this process is killed: hosts and wire end when their sockets are closed. ``shared`` are folders
    below /tmp or /dev/shm that all hosts share, such as a test's; checkout and environment are always shared.
    """

    def __init__(self, profile: Profile, count: int, shared: Iterable[Path] = ()) -> None:
        self.profile = profile
        self.count = count
        self.folder = Path(tempfile.mkdtemp(prefix="onekernel-hosts-"))
        places = {self.folder, ROOT, Path(sys.prefix), Path(sys.base_prefix), Path.home(), *shared}
        self.shared = sorted(
            {path.resolve() for path in places if any(path.resolve().is_relative_to(own) for own in OWN)}
        )
        self.controls: list[socket.socket] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        self.numbers: list[int] = []
        self.wire: wire.Wire | None = None

    def __enter__(self) -> Hosts:
        devices: list[int] = []
        try:
            for host in range(self.count):
                self._start(host)
            for control in self.controls:
                message, (device,), _, _ = socket.recv_fds(control, 64, 1)
                devices.append(device)
                self.numbers.append(json.loads(message))
            self.wire = wire.Wire(self.profile, devices, self.folder)
        except BaseException:
            self.close()
            raise
        finally:
            for device in devices:
                os.close(device)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, host: int) -> None:
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        mine.settimeout(START_S)
        self.controls.append(mine)
        words = [HERE / "host.py", host, self.folder / f"{self.name(host)}.socket", theirs.fileno(), *self.shared]
        with theirs:
            self.processes.append(
                subprocess.Popen(
                    ["unshare", *NAMESPACES, "--fork", "--kill-child", sys.executable, "-S", *map(str, words)],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                )
            )

    def close(self) -> None:
        for control in self.controls:
            control.close()
        for process in self.processes:
            process.wait()
        if self.wire is not None:
            self.wire.close()
        shutil.rmtree(self.folder)

    def name(self, host: int) -> str:
        return f"host{host + 1}"

    def command(self, host: int, command: Sequence[object]) -> list[str]:
        agent = [sys.executable, "-S", HERE / "agent.py", "--exactly", self.folder, self.name(host)]
        return [*map(str, [*agent, *command])]

    def run(self, host: int, command: Sequence[object], **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a command in a host, by its index, in this process's environment and folder, and wait for its end.

        ``more`` is as for `subprocess.run`; output is captured as text by default.
        """
        settings = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 200} | more
        return subprocess.run(self.command(host, command), check=False, **settings)

    def start(self, host: int, command: Sequence[object], **more: Any) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        settings = {"stdin": subprocess.DEVNULL, "text": True} | pipes | more
        return subprocess.Popen(self.command(host, command), **settings)

    def environment(self, more: Mapping[str, str] = {}) -> dict[str, str]:
        """Environment of a launcher on these hosts, with the way to start ranks."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
        agent = {"PRTE_MCA_plm_ssh_agent": f"{sys.executable} -S {HERE / 'agent.py'} {self.folder}"}
        return kept | {"PYTHONPATH": str(ROOT)} | OVER_THE_WIRE | agent | dict(more)

    def mpirun_command(self, ranks: int, *arguments: object) -> list[str]:
        """`mpirun` command of a Python program on ``ranks`` ranks, assigned to the hosts in turn."""
        beside = Path(sys.executable).with_name("mpirun")
        slots = -(-ranks // self.count)
        where = ",".join(f"{self.name(host)}:{slots}" for host in range(self.count))
        handed_on = [word for name in HANDED_ON if name in self.environment() for word in ("-x", name)]
        options = ["-n", ranks, "--host", where, "--map-by", "node:OVERSUBSCRIBE", *handed_on]
        return [*map(str, [beside, *options, sys.executable, *arguments])]

    def mpirun(self, ranks: int, *arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a Python program on ``ranks`` ranks, started from the first host; `more` is as for `run`."""
        return self.run(0, self.mpirun_command(ranks, *arguments), **{"env": self.environment(), "cwd": ROOT} | more)

    def start_mpirun(self, ranks: int, *arguments: object, **more: Any) -> subprocess.Popen[str]:
        return self.start(0, self.mpirun_command(ranks, *arguments), **{"env": self.environment(), "cwd": ROOT} | more)

    def cut(self, host: int) -> None:
        """Disconnect a host: from now on all packets are lost, without an error."""
        self._carry(host, False)

    def mend(self, host: int) -> None:
        self._carry(host, True)

    def _carry(self, host: int, carrier: bool) -> None:
        if self.wire is None:
            raise ValueError("these hosts have not been started")
        self.wire.carry(host, carrier)

    def running(self, host: int) -> list[str]:
        """Command lines of all processes in a host, except its first one and the caller."""
        listed = self.run(host, [sys.executable, "-S", "-c", LISTING])
        return listed.stdout.splitlines()


LISTING = """
import os
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in (1, os.getpid()):
        try:
            words = open(f"/proc/{name}/cmdline").read().replace(chr(0), " ").strip()
            state = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        print(words or state)
"""
