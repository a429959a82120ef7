"""Hosts that one Linux machine emulates, with the delay and bandwidth of a network between them.

`python -m cluster.emulation cow 4 -- mpirun -n 8 python -m drivers.ppp` runs a command on them. `hosts` makes them,
and `obstacle` says what they need. `host.py` and `agent.py` are programs that import only the standard library, for a
fast start; `wire.c` is the network.
"""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMESPACES = ("unshare", "--net", "--uts", "--pid", "--ipc", "--mount", "--fork", "--kill-child")
TUN = "/dev/net/tun"


@functools.cache
def obstacle() -> str | None:
    """Return the reason against emulated hosts here, or None."""
    needed = {
        "Linux": sys.platform == "linux",
        "root": hasattr(os, "geteuid") and os.geteuid() == 0,
        "gcc": shutil.which("gcc"),
        "unshare (util-linux)": shutil.which("unshare"),
        TUN: os.path.exists(TUN),
    }
    missing = [name for name, present in needed.items() if not present]
    if missing:
        return f"emulated hosts need {', '.join(needed)}: found no {', '.join(missing)}"
    host = Path(__file__).with_name("host.py")
    tried = subprocess.run([*NAMESPACES, sys.executable, "-S", host, "--try"], capture_output=True, text=True)
    if tried.returncode == 0:
        return None
    return f"emulated hosts need name spaces with a network device: {tried.stderr.strip().splitlines()[-1]}"
