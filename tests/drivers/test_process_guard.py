"""A command ends with the program that started it, and until then has its streams and signals."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from cluster.launch.commands import find_mpirun as launcher
from drivers.experiments.executors import guard
from tests.patience import PATIENCE_S, soon

# Writes its process numbers to a file each, and runs forever.
ENDLESS = "import os, sys, time; open(f'{sys.argv[1]}/{os.getpid()}', 'w'); time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + ENDLESS
PROGRAM = "import os, sys; from drivers.experiments.executors import guard; guard.run_guarded(sys.argv[1:], os.environ)"


def ended_with(command, ranks, sent, folder, environment):
    """Start a program that runs the command, end it, and return True if the command's processes end too."""
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, *command, str(folder)], env=environment)
    try:
        assert soon(lambda: len(os.listdir(folder)) == ranks)
        program.send_signal(sent)
        program.wait(PATIENCE_S)
        return soon(lambda: not any(psutil.pid_exists(int(name)) for name in os.listdir(folder)))
    finally:
        program.kill()
        for name in os.listdir(folder):
            if psutil.pid_exists(int(name)):
                os.kill(int(name), signal.SIGKILL)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_command_ends_with_the_program_that_runs_it(sent, tmp_path, environment):
    assert ended_with([sys.executable, "-c", ENDLESS], 1, sent, tmp_path, environment)


@pytest.mark.slow
def test_all_ranks_end_with_the_program_that_runs_mpirun(tmp_path, environment, mpirun):
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [launcher(), "-n", "2", "--map-by", ":OVERSUBSCRIBE", sys.executable, "-c", ENDLESS]
    assert ended_with(command, 2, signal.SIGKILL, tmp_path, environment)


@pytest.mark.long
def test_a_command_that_does_not_listen_is_killed(tmp_path, environment):
    assert ended_with([sys.executable, "-c", STUBBORN], 1, signal.SIGKILL, tmp_path, environment)


def test_output_and_exit_code_are_the_commands_own():
    source = "import os, sys; print(input() if sys.stdin.read(1) else os.environ['WORD']); sys.exit('no')"
    done = guard.run_guarded([sys.executable, "-c", source], os.environ | {"WORD": "heard"})
    assert (done.returncode, done.stdout, done.stderr) == (1, "heard\n", "no\n")
    killed = guard.run_guarded([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], os.environ)
    assert killed.returncode == 128 + 9
