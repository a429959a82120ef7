"""Emulated hosts for tests: ranks on them, their cables, and their processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cluster.emulation.hosts import FORWARDED, Hosts
from cluster.launch.commands import ROOT

__all__ = ["ROOT", "HostsOfATest"]
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


class HostsOfATest(Hosts):
    """Hosts with `mpirun`, `run`, `cut` and `mend`.

    with HostsOfATest(PROFILES["cow"], 4) as hosts:
        done = hosts.mpirun(8, "-m", "drivers.ppp", "--walks", "1")
        hosts.cut(2)
    """

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

    def mpirun_command(self, ranks: int, *arguments: object) -> list[str]:
        """`mpirun` command of a Python program on ``ranks`` ranks, assigned to the hosts in turn."""
        launcher = Path(sys.executable).with_name("mpirun")
        slots = -(-ranks // self.count)
        where = ",".join(f"{self.name(host)}:{slots}" for host in range(self.count))
        forwarded = [word for name in FORWARDED if name in self.environment() for word in ("-x", name)]
        options = ["-n", ranks, "--host", where, "--map-by", "node:OVERSUBSCRIBE", *forwarded]
        return [*map(str, [launcher, *options, sys.executable, *arguments])]

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
        """Pull a host's cable, or restore it; raise OSError if the wire does not confirm."""
        wire = self.controls[-1]
        wire.send(bytes([host, carrier]))
        if wire.recv(2) != bytes([host, carrier]):
            raise OSError(f"the wire could not {'mend' if carrier else 'cut'} host {host}")

    def running(self, host: int) -> list[str]:
        """Command lines of all processes in a host, except its first one and the caller's."""
        listed = self.run(host, [sys.executable, "-S", "-c", LISTING])
        return [line for line in listed.stdout.splitlines() if "host.py" not in line]
