"""How fast ranks are that meet after every step: as fast as the slowest of each step."""

from pathlib import Path

PROGRAM = Path(__file__).with_name("pacing.py")


def test_ranks_that_meet_after_every_step_are_as_slow_as_the_slowest(mpirun):
    done = mpirun(2, PROGRAM)
    assert done.returncode == 0, done.stderr
    alone, both = (line.split() for line in done.stdout.splitlines())
    assert alone[:2] == ["1", "1"] and both[:2] == ["2", "2"]
    # A sleep is never shorter than it was asked for; the meeting itself is taken off.
    assert float(alone[2]) >= 1e-4 and float(both[2]) >= 2.9e-4
    assert int(alone[3]) > int(both[3]) >= 21
