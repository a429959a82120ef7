"""Detection of hosts that no longer answer: the job ends with one line and an exit code.

MPI waits for a disconnected host until the system closes its connections, which takes a quarter of an hour. Open MPI's
launcher probes its daemons (`cluster.setup` has the interval). But if one is lost it exits with code 0, and if a rank
exits before, it waits for the lost daemon. So a rank on the launcher's host watches the launcher's connections in the
system's table, and ends the launcher shortly before it detects the loss.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from cluster.mpi import launcher
from cluster.mpi.failures import abort
from core.atomic_files import read_text

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
CONNECTED = "01"
POLL_S = 1.0
QUIET_S = 5
"""Seconds of silence after which a daemon is probed every second; set by `cluster.setup`."""
MOST_UNANSWERED = 7
"""Unanswered probes after which a host is lost. An outage of 10 s is survived."""
MOST_REPEATED = 6
"""Retransmissions after which a host is lost. They follow after 0.2, 0.4, 0.8 s ...: the sixth after 13 s."""
LOST_S = QUIET_S + MOST_UNANSWERED


class Connection(NamedTuple):
    """A TCP connection in the system's table."""

    address: str
    unanswered: int
    repeated: int

    @property
    def is_lost(self) -> bool:
        """True if the peer has not answered for too long."""
        return self.unanswered >= MOST_UNANSWERED or self.repeated >= MOST_REPEATED


def watch_hosts() -> None:
    """Start watching other hosts, if this is the first rank on the launcher's host and there are several hosts.

    No rank does in a job that continues without lost ranks (`mpirun --with-ft ulfm`).
    """
    is_first = launcher.over_several_hosts() and launcher.local_rank() == 0
    if is_first and not launcher.survives_lost_ranks() and launcher.parent_name() in launcher.LAUNCHERS:
        threading.Thread(target=_keep_watching, args=(os.getppid(),), daemon=True).start()


def connections(table: str) -> dict[int, Connection]:
    """Return the established connections of a table in the format of /proc/net/tcp, by their inodes."""
    established = {}
    for line in table.splitlines()[1:]:
        words = line.split()
        if words[3] == CONNECTED:
            established[int(words[9])] = Connection(words[2].partition(":")[0], int(words[8]), int(words[6], 16))
    return established


def format_address(address: str) -> str:
    """Format an address of the table, in which words of four bytes have the machine's order."""
    import socket

    words = (address[first : first + 8] for first in range(0, len(address), 8))
    packed = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def _keep_watching(process: int) -> None:
    import socket

    names: dict[str, str] = {}
    while True:
        time.sleep(POLL_S)
        theirs = _connections_of(process)
        for connection in theirs.values():
            if connection.address not in names:
                names[connection.address] = socket.getnameinfo((format_address(connection.address), 0), 0)[0]
        lost = sorted({names[host.address] for host in theirs.values() if host.is_lost})
        if lost:
            _end(lost)
            return


def _connections_of(process: int) -> Mapping[int, Connection]:
    """Return the TCP connections of a process of this user; empty if the system does not list them."""
    inodes = set()
    try:
        for name in os.listdir(f"/proc/{process}/fd"):
            kind, _, number = os.readlink(f"/proc/{process}/fd/{name}").partition(":")
            if kind == "socket":
                inodes.add(int(number.strip("[]")))
    except OSError:
        # It closes files meanwhile, or has ended: the next check decides.
        return {}
    established = connections(read_text(TABLES[0])) | connections(read_text(TABLES[1]))
    return {inode: connection for inode, connection in established.items() if inode in inodes}


def _end(lost: list[str]) -> None:
    """Report the lost hosts, and end the launcher; other processes end themselves."""
    verb = "has" if len(lost) == 1 else "have"
    print(
        f"error: {', '.join(lost)} {verb} not answered for {LOST_S} s, so this job ends; expected a network that joins "
        "all of its hosts",
        file=sys.stderr,
        flush=True,
    )
    abort.end_launcher(abort.END_LAUNCHER)
