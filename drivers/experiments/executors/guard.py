"""A command that ends with the program that started it, even if that is killed.

The program holds one end of a pipe. The other end is the standard input of a separate process, the guardian, which
runs the command. The system closes the pipe when the program ends; then the guardian ends the command. `mpirun` gets a
signal first, or its ranks would continue.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence

GRACE_S = 5.0


def run_guarded(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with no input, and collect its output.

    Parameters
    ----------
    environment
        Its variables.

    Returns
    -------
    subprocess.CompletedProcess
        With standard output and error as text; the code of a command that signal n ended is 128 + n.
    """
    # By path and isolated, since a module beside this one may have a name of the standard library.
    guarded = [sys.executable, "-IS", __file__, *command]
    watched, held = os.pipe()
    try:
        with subprocess.Popen(
            guarded, stdin=watched, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(environment)
        ) as process:
            os.close(watched)
            watched = -1
            output, error = process.communicate()
    finally:
        os.close(held)
        if watched >= 0:
            os.close(watched)
    return subprocess.CompletedProcess(command, process.returncode, output, error)


# --- in the guardian ---


def guard_command(command: Sequence[str]) -> int:
    """Run the command until it or standard input ends; return its exit code."""
    # Ctrl-C reaches the command too, which determines the end.
    signal.signal(signal.SIGINT, lambda *_: None)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_end_with_input, args=(process,), daemon=True).start()
    code = process.wait()
    return 128 - code if code < 0 else code


def _end_with_input(process: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1):
        continue
    process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    # The watching thread may still read, and there is nothing to clean up.
    os._exit(guard_command(sys.argv[1:]))
