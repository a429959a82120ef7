"""Program of a rank: run a driver, and lose one rank during the run; writes events and times to a file.

    mpirun -n 3 python tests/drivers/lost_rank.py HOW WHO FILE DRIVER --backend B ARGUMENTS...

WHO is one rank, or several with commas between them. HOW is one of:

    before     the rank is killed while the others start
    running    it is killed a moment after its first repetition begins (the others' if it only waits);
               `running:1.5` after 1.5 s
    building   its device refuses the first allocation
    full       its device refuses writes and repeated launches from its first repetition on, after all ranks are ready
"""

import importlib
import os
import signal
import sys
import threading
import time

from cluster.mpi import launcher
from drivers.cli.exit_codes import run_driver
from drivers.runs.repetitions import Repetitions

REFUSED = "123,456,789 bytes do not fit this device"
AFTER_S = 0.2


def note_time(path):
    with open(path, "w") as file:
        file.write(repr(time.time()))


def kill(path, after_s):
    """Kill this process as a system without memory does."""
    time.sleep(after_s)
    note_time(path)
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(path):
    from backends.device import OutOfMemory

    def refusing(*arguments):
        note_time(path)
        raise OutOfMemory(REFUSED)

    return refusing


def at_first_repetition(act):
    """Act when the first repetition begins, also on a rank without work in it."""
    measure = Repetitions.measure

    def acting(self):
        Repetitions.measure = measure
        act()
        return measure(self)

    Repetitions.measure = acting


def main():
    how, who, path, driver, *arguments = sys.argv[1:]
    if str(launcher.rank()) in who.split(","):
        import backends

        device = backends.backend_class(arguments[arguments.index("--backend") + 1])
        if how == "before":
            kill(path, 0.0)
        elif how.startswith("running"):
            after_s = float(how.partition(":")[2] or AFTER_S)
            at_first_repetition(lambda: threading.Thread(target=kill, args=(path, after_s), daemon=True).start())
        elif how == "building":
            device.allocate = refuse(path)
        else:
            at_first_repetition(lambda: [setattr(device, name, refuse(path)) for name in ("fill", "replay")])
    return run_driver(importlib.import_module(f"drivers.{driver}").main, arguments)


if __name__ == "__main__":
    sys.exit(main())
