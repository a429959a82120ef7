"""Ctrl-C at any moment: the best so far or one word, the documented exit code, no traceback, nothing left behind."""

import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import textwrap

import pytest

from drivers.cli import interrupts
from drivers.cli.exit_codes import run_driver
from tests.conftest import ROOT

LONGEST_S = 10.0
RUNS = {
    "ihc": "--instance uniform:200:seed=1 --climbers 3000000",
    "aco": "--instance uniform:60:seed=1 --ants 64 --iterations 10000000",
    "qap": "--instance taillard:20:seeds=1,2 --iterations 100000000",
    "ppp": "--instance 31-31:seed=5 --iterations 100000000",
    "exact": "--instance uniform:25:seed=1 --bound edges --count",
    "heldkarp": "--instance uniform:27:seed=1",
    "lcs": "random:3000000 --no-trace",
}
PROGRAM = """
import runpy, sys
sys.argv = ["-m", *sys.argv[1:]]
import drivers
print("begun", flush=True)
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""
"""The steps of `python -m`, with a word after the first import: before it no code of the suite runs."""
CASES = [([*RUNS][k % 7], 1 + (k % 4 == 3), k) for k in range(28)]


def mark(seed):
    """Quick: one rank, interrupted after 0.7 s; slow: two ranks."""
    return () if seed == 16 else pytest.mark.slow if seed == 3 else pytest.mark.long


@pytest.mark.parametrize(("name", "ranks", "seed"), [pytest.param(*case, marks=mark(case[2])) for case in CASES])
@pytest.mark.usefixtures("mpirun")
def test_an_interrupt_at_a_random_moment_ends_a_run(name, ranks, seed, tmp_path, environment):
    record, temporary = tmp_path / "runs.jsonl", tmp_path / "temporary"
    temporary.mkdir()
    words = [f"drivers.{name}", *RUNS[name].split(), "--backend", "cpu", "--record", str(record)]
    command = [sys.executable, "-c", PROGRAM, *words]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), "--oversubscribe", *command]
    environment |= {"TMPDIR": str(temporary), "OMPI_MCA_btl_sm_backing_directory": str(temporary)}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    program = subprocess.Popen(command, env=environment, cwd=ROOT, text=True, start_new_session=True, **pipes)
    try:
        assert program.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(random.Random(seed).uniform(0.0, 2.0))
        os.killpg(program.pid, signal.SIGINT)
        _, error = program.communicate(timeout=LONGEST_S)
    finally:
        program.kill()
    assert "Traceback" not in error
    if ranks > 1:  # Open MPI's launcher ends the ranks, and has its exit code
        assert program.returncode in (1, interrupts.INTERRUPTED)
    else:
        *notes, last = error.splitlines()
        assert (program.returncode, last) == (interrupts.INTERRUPTED, "interrupted")
        assert all(line.startswith("note: ") for line in notes)
    assert list(temporary.iterdir()) == []
    if record.exists():
        assert all(line.endswith("\n") and json.loads(line) for line in record.read_text().splitlines(keepends=True))


ENDLESS = """
    import os, signal, sys, threading
    import numpy as np
    import backends
    from core.lang import Array, atomic_add, i64, kernel
    from drivers.cli import interrupts
    from drivers.cli.exit_codes import run_driver

    @kernel
    def endless(a: Array[i64]):
        while True:
            before = atomic_add(a, 0, 1)
            if before < 0:
                break

    def launch(argv):
        backend = backends.create("cpu")
        backend.launch(endless, 1, 1, backend.upload(np.full(1, -9, np.int64)))  # compiles, and ends
        a = backend.upload(np.zeros(1, np.int64))
        print("said before")
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        backend.launch(endless, 1, 1, a)

    interrupts.PATIENCE_S = 0.2
    sys.exit(run_driver(launch))
    """


def test_an_interrupt_ends_machine_code_that_goes_on(environment, tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(ENDLESS))  # a kernel is read from its file
    command = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "said before\n", "interrupted\n")


def test_an_interrupt_that_a_callback_drops_is_repeated(capsys):
    """LLVM drops it while it compiles. Otherwise Python prints a traceback and continues."""

    @ctypes.CFUNCTYPE(None)
    def callback():
        signal.raise_signal(signal.SIGINT)

    def endless(argv):
        callback()
        signal.sigtimedwait([], LONGEST_S)

    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    assert run_driver(endless, []) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


def test_other_errors_that_a_callback_drops_are_shown_as_before(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)

    @ctypes.CFUNCTYPE(None)
    def callback():
        raise ValueError("dropped")

    assert run_driver(lambda argv: callback(), []) == 0
    assert [one.exc_type for one in shown] == [ValueError]


def test_an_error_that_c_code_makes_of_an_interrupt_is_an_interrupt(capsys):
    """NumPy's extensions do so during their imports."""

    def importing(argv):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("could not import module") from None

    assert run_driver(importing, []) == 130
    assert capsys.readouterr().err == "interrupted\n"
    with pytest.raises(SystemExit):
        run_driver(lambda argv: sys.exit(3), [])


def test_an_interrupt_in_executed_text_ends_with_the_code_too(environment):
    """Dataclasses and named tuples execute text, where Python would end by the signal."""
    script = "import sys; from drivers.cli.exit_codes import run_driver; sys.exit(run_driver(lambda _: exec('raise KeyboardInterrupt')))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
