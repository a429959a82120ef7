"""The command `onekernel`: every program of the suite by a short name, each the same as its `python -m`.

onekernel                      a list of the programs
onekernel ihc --help           the options of one program
mpirun -n 64 onekernel ppp     a program on 64 ranks

Imports little before the program is chosen: 64 ranks may start this at once on two cores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import drivers
from core.program_parser import COMMAND, ConsoleProgram, format_list, refuse_unknown

DRIVERS = "drivers."


OTHER_PROGRAMS = {
    "devices": ConsoleProgram("list this machine's devices, and reasons for missing ones", "backends"),
    "compare": ConsoleProgram("run a workload on every device here, and report the speed-ups", "drivers.compare"),
    "overview": ConsoleProgram("run the papers' workloads on every device, some seconds each", "drivers.overview"),
    "reproduce": ConsoleProgram("run a paper's tables and figures, next to the published ones", "drivers.reproduce"),
    "bench": ConsoleProgram("measure the speeds of the project's benchmark cases", "drivers.bench"),
    "verify": ConsoleProgram("run the work of records again, and compare results", "drivers.verify"),
    "report": ConsoleProgram("make reports and tables from records, without running anything", "reports"),
    "fetch": ConsoleProgram("download the instances of a collection or a paper", "core.instances", ("fetch",)),
    "instances": ConsoleProgram("list the instances on this machine, or show one", "core.instances"),
    "cluster": ConsoleProgram("start programs on ranks and hosts, and write batch scripts", "cluster"),
    "peers": ConsoleProgram("list and install the solvers of others that `--peers` runs", "drivers.peers"),
    "setup": ConsoleProgram("set up this environment's mpirun for many ranks on few cores", "cluster.setup"),
    "show": ConsoleProgram("print a kernel as a device's compiler gets it", "backends.show"),
}
"""Programs below the workloads in the list."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program that the first argument names; return the exit code.

    ``argv`` None means the arguments of this process, which then has no other work.
    """
    if argv is None:
        drivers.prepare_process()
    words = list(sys.argv[1:] if argv is None else argv)
    name, rest = (words[0], words[1:]) if words else ("--help", [])
    program = OTHER_PROGRAMS.get(name)
    if program is not None and program.words:
        sys.argv = [COMMAND, *program.words, *rest]
    else:
        sys.argv = [f"{COMMAND} {name}", *rest]
    if program is not None and not program.module.startswith(DRIVERS):
        import runpy

        # Like `python -m`, with no further imports.
        runpy.run_module(program.module, run_name="__main__")
        return 0
    from drivers.cli.exit_codes import run_driver

    return run_driver(lambda _: entry_point(name, program)(None))


def entry_point(name: str, program: ConsoleProgram | None) -> Callable[[Sequence[str] | None], int]:
    """Return a driver's main function; its module keeps its own name, by which ranks exchange its classes.

    Raises `UserError` if there is no program of that name.
    """
    from cluster.mpi import launcher
    from drivers.workload.registry import NAMES

    if name in COMMAND_OPTIONS:
        return COMMAND_OPTIONS[name] if launcher.rank() == 0 else lambda _: 0
    if program is None and name not in NAMES:
        refuse_unknown(COMMAND, name, (*NAMES, *OTHER_PROGRAMS))
    module = import_module(program.module if program else DRIVERS + name)
    if hasattr(module, "__path__"):
        module = import_module(f"{module.__name__}.__main__")
    return module.main


# --- about the command itself ---


def print_list(_: Sequence[str] | None) -> int:
    from drivers.workload.registry import all_workloads

    titles = {workload.name: workload.title for workload in all_workloads()}
    titles |= {name: program.title for name, program in OTHER_PROGRAMS.items()}
    print(f"usage: {COMMAND} PROGRAM [options]\n")
    print(format_list(titles))
    print(f"\nMore: `{COMMAND} PROGRAM --help`; version: `{COMMAND} --version`.")
    return 0


def print_version(_: Sequence[str] | None) -> int:
    from importlib.metadata import version

    print(COMMAND, version(COMMAND))
    return 0


COMMAND_OPTIONS = {"--help": print_list, "-h": print_list, "--version": print_version}


if __name__ == "__main__":
    sys.exit(main())
