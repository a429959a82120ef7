"""Ranks that go on when others are killed, under `mpirun --with-ft ulfm`."""

import re
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ULFM = ("--with-ft", "ulfm")
START_S = 30.0


def test_every_call_tells_of_a_rank_that_is_lost_and_the_others_go_on(mpirun):
    """Words that ranks share by messages are tried first."""
    done = mpirun(10, FOLDER / "losing.py", options=ULFM)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    lost = re.findall(r"^(\w+): lost (\d)$", said, re.MULTILINE)
    calls = ("minloc", "sum", "bcast", "gather", "join", "reduce", "transfer", "barrier", "assemble")
    assert sorted(lost) == sorted(zip(calls, "908172635", strict=True))
    assert said.count("left: [0, 1, 2, 3, 5, 6, 7, 8, 9]") == 1


@pytest.mark.long
def test_a_rank_that_is_killed_while_mpi_starts_ends_the_job(mpirun, program):
    path = program("""
        import os, signal
        from cluster import launcher, communicator
        if launcher.rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        communicator()
    """)
    began = time.monotonic()
    done = mpirun(3, path, options=ULFM)
    assert done.returncode != 0 and time.monotonic() - began < START_S
    assert len(re.findall("^error.*a rank was killed while MPI started", done.stderr, re.MULTILINE)) == 1
