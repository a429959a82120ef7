"""The wire between hosts: compiled once, a separate process, controlled by commands (see `wire.c`)."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from tests.hosts.profiles import Profile

SOURCE = Path(__file__).with_name("wire.c")
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror")
ANSWER_S = 5.0
TO_END_S = 5.0
REFUSED = 255


def obstacle() -> str | None:
    """Reason against a wire here, or None."""
    if shutil.which("gcc") is None:
        return "the wire between hosts is a C program, and there is no gcc"
    return None


def compiled() -> Path:
    """The wire's program, compiled once for this user."""
    # Not in a folder where others could place a program for root.
    folder = platformdirs.user_cache_path("onekernel", ensure_exists=True)
    program = folder / f"wire-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    if not program.exists():
        temporary = program.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", *FLAGS, "-o", temporary, SOURCE], check=True)
        temporary.replace(program)
    return program


class Wire:
    """A running wire with a profile's delays and bandwidths, which it writes to a file in ``folder``.

    ``devices`` are descriptors of the hosts' network devices, which this process need not keep.
    """

    def __init__(self, profile: Profile, devices: Sequence[int], folder: Path) -> None:
        delays = folder / "delays"
        rows = profile.round_trips(len(devices))
        delays.write_text("\n".join([repr(profile.bits_per_s), *(" ".join(map(repr, row)) for row in rows)]) + "\n")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(ANSWER_S)
        with theirs:
            numbers = [theirs.fileno(), *devices]
            words = [compiled(), delays, *numbers]
            self.process = subprocess.Popen([*map(str, words)], pass_fds=numbers, stdin=subprocess.DEVNULL)

    def carry(self, host: int, carrier: bool) -> None:
        """Pull a host's cable, or restore it; raise OSError if the wire does not confirm."""
        self.control.send(bytes([host, carrier]))
        if self.control.recv(2) != bytes([host, carrier]):
            raise OSError(f"the wire could not {'mend' if carrier else 'cut'} host {host}")

    def close(self) -> None:
        self.control.close()
        try:
            self.process.wait(TO_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
