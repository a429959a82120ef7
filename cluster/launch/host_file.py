"""A list of hosts in Open MPI's format: a name a line, with `slots=4` and `max_slots=8`, and comments after `#`."""

from __future__ import annotations

import os
import re
import reprlib
import shlex
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from core.errors import UserError

EXPECTED = "a host's name, slots=N and max_slots=N"
WORDS = {"slots": "slots", "max_slots": "most", "max-slots": "most"}
"""Words allowed after a name, and their fields of `Host`."""
NAME = re.compile(r"([A-Za-z0-9_.][A-Za-z0-9_.-]*@)?[A-Za-z0-9_][A-Za-z0-9_.:%-]*")
"""A host's name or address, optionally with the user; `ssh` would read a leading `-` as an option."""


MOST_SLOTS = 65_535
"""Most slots of a host; no host has that number of cores."""
ANSWER_S, MOST_AT_ONCE = 5, 32
"""Seconds that a host has to answer `ssh`, and number of hosts checked at once."""


class Host(NamedTuple):
    """One ``line`` of a host file, from 1: a name, optionally with the user (``me@host``).

    ``slots`` is the number of ranks, by default that of its cores, and ``most`` their maximum if oversubscribed.
    """

    name: str
    slots: int | None
    most: int | None
    line: int


class HostFileError(UserError):
    """A wrong line of a host file: the message names it, what was found and what was expected."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, found: str, expected: str) -> None:
        place = os.fspath(path) + (f":{line}" if line else "")
        super().__init__(f"{place}: found {found}, expected {expected}")


def read_host_file(path: str | os.PathLike[str]) -> list[Host]:
    """Read a host file; refuses one without hosts, with a host twice, or with a line of another form."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        raise HostFileError(path, None, "bytes that are no UTF-8 text", "a list of hosts") from None
    except OSError as error:
        raise HostFileError(path, None, (error.strerror or str(error)).lower(), "a list of hosts") from None
    hosts: dict[str, Host] = {}
    for number, text in enumerate(lines, 1):
        words = re.sub(r"\s*=\s*", "=", text.partition("#")[0]).split()
        if not words:
            continue
        host = _host(path, number, words)
        if host.name in hosts:
            raise HostFileError(path, number, f"{host.name} again", f"it once (line {hosts[host.name].line} has it)")
        hosts[host.name] = host
    if not hosts:
        raise HostFileError(path, None, "no host", f"lines of {EXPECTED}")
    return list(hosts.values())


def _host(path: str | os.PathLike[str], number: int, words: Sequence[str]) -> Host:
    name, *rest = words
    if not NAME.fullmatch(name):
        raise HostFileError(path, number, repr(name), EXPECTED)
    counts: dict[str, int] = {}
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals or key not in WORDS:
            raise HostFileError(path, number, repr(word), EXPECTED)
        if WORDS[key] in counts:
            raise HostFileError(path, number, f"{key} again", "it once")
        if not (re.fullmatch("[0-9]{1,9}", value) and 1 <= int(value) <= MOST_SLOTS):
            raise HostFileError(path, number, reprlib.repr(word), f"{key}=N, a whole number from 1 to {MOST_SLOTS}")
        counts[WORDS[key]] = int(value)
    slots, most_slots = counts.get("slots"), counts.get("most")
    if slots is not None and most_slots is not None and most_slots < slots:
        raise HostFileError(path, number, f"max_slots={most_slots}", f"{slots} or more, as there are slots")
    return Host(name, slots, most_slots, number)


def require_reachable(path: str | os.PathLike[str], hosts: Sequence[Host]) -> None:
    """Report another host without `ssh` access or without this Python; called when ranks could not be started."""
    others = [host for host in hosts if not is_here(host.name.rpartition("@")[2])]
    with ThreadPoolExecutor(MOST_AT_ONCE) as asking:
        for host, why in zip(others, asking.map(ssh_problem, others), strict=True):
            if why:
                raise HostFileError(path, host.line, f"{host.name}: {why}", f"`ssh {host.name}` to start ranks there")


def ssh_problem(host: Host) -> str:
    """Return the reason why `ssh` cannot start ranks on a host; empty if it can."""
    options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={ANSWER_S}"]
    command = ["ssh", *options, host.name, f"test -x {shlex.quote(sys.executable)}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=3 * ANSWER_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"no answer from ssh within {3 * ANSWER_S} s"
    except OSError as error:
        return f"ssh: {error.strerror}"
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or [f"no {sys.executable} there"])[-1]


def is_here(name: str) -> bool:
    """Return True for a name of this machine: a socket can be bound only to its addresses."""
    with suppress(OSError, UnicodeError):
        for family, kind, protocol, _, address in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as listener:
                listener.bind(address)
                return True
    return False
