"""Batch scripts: what they ask Slurm for, and how they go on where their time was over."""

import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from cluster import slurm
from tests.patience import soon

ROOT = Path(__file__).parents[2]
PATIENT = Path(__file__).with_name("patient.py")


@pytest.fixture
def script(called, tmp_path):
    """Write a script, which has to be bash, into a file."""

    def write(*words):
        code, text, _ = called(slurm.main, *words)
        assert code == 0
        path = tmp_path / "job.sh"
        path.write_text(text)
        subprocess.run(["bash", "-n", path], check=True)
        return path

    return write


def directives(path):
    lines = path.read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    found = [line.removeprefix("#SBATCH --").partition("=") for line in lines if line.startswith("#SBATCH ")]
    return {name: value for name, _, value in found}


def command(path):
    """The words of the line that starts the job."""
    line = next(line for line in path.read_text().splitlines() if " launch " in line and line.endswith(" &"))
    return shlex.split(line.removesuffix(" &"))


def test_what_is_asked_for_stands_in_the_script(script):
    path = script("-n", 64, "--nodes", 2, "--time", "01:00:00", "--partition", "fast", "ppp", "--instance", "73-73")
    assert directives(path) == {
        "job-name": "ppp",
        "nodes": "2",
        "ntasks": "64",
        "time": "01:00:00",
        "partition": "fast",
        "output": "ppp-%j.log",
        "open-mode": "append",
        "signal": "B:TERM@120",
        "requeue": "",
    }
    assert command(path)[1:] == [
        *("-m", "cluster", "launch", "-n", "64", "ppp", "--instance", "73-73"),
        *("--state", "ppp-$SLURM_JOB_ID.state", "--resume"),
    ]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (
            ("--nodes", 2, "--gpus-per-node", "a100:4", "--cpus-per-task", 8, "ihc"),
            {"nodes": "2", "ntasks": "8", "ntasks-per-node": "4", "cpus-per-task": "8", "gpus-per-node": "a100:4"},
        ),
        (("-n", 2, "ppp", "--backend", "threads", "--cores", 16), {"cpus-per-task": "16"}),
    ],
    ids=["a rank for every GPU", "cores of each rank"],
)
def test_gpus_and_cores_of_each_rank_are_asked_for(words, asked, script):
    assert directives(script(*words)).items() >= asked.items()


@pytest.mark.parametrize(
    ("given", "added"),
    [
        (("--no-state", "ppp"), []),
        (("ppp", "--state", "mine"), ["--state", "mine", "--resume"]),
        (("ppp", "--state=mine", "--resume"), ["--state=mine", "--resume"]),
        (("check",), []),
    ],
)
def test_a_state_is_kept_unless_the_user_says_otherwise(given, added, script):
    words = command(script(*given))
    assert words[words.index(given[-1] if given[0] in ("--no-state", "check") else "ppp") + 1 :] == added


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--time", "soon", "ppp"), "argument --time: expected a time such as 01:00:00 or 2-12:00:00, found 'soon'"),
        (("--partition", "a\nb", "ppp"), "expected one word of letters, digits and _.,:@+=/-, found 'a\\nb'"),
        (
            ("--nodes", 2, "--per-host", 2, "-n", 5, "ppp"),
            "-n 5: found room for 4 on 2 nodes, expected more --per-host",
        ),
        (("nothing",), "the program to start: found 'nothing', expected"),
    ],
)
def test_what_slurm_would_refuse_is_refused_before(words, told, called):
    code, out, err = called(slurm.main, *words)
    assert (code, out) == (2, "")
    assert told in err and len(err.splitlines()) == 1


def run_job(path, environment, folder, state, when):
    """Run a script as Slurm would, whose commands note what they are called with; the job's code and these notes."""
    commands = folder / "commands"
    commands.mkdir()
    for name, body in (("squeue", f"echo {state}"), ("scontrol", f'echo "$@" >> {commands}/called')):
        (commands / name).write_text(f"#!/bin/sh\n{body}\n")
        (commands / name).chmod(0o755)
    environment = environment | {"PATH": f"{commands}:{environment['PATH']}"}
    with subprocess.Popen(["bash", path], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True) as job:
        if when:
            assert soon(when)
            job.send_signal(signal.SIGTERM)
        said, _ = job.communicate(timeout=100)
    called = commands / "called"
    return job.returncode, called.read_text() if called.exists() else "", said


@pytest.mark.parametrize(
    ("state", "code", "requeue", "more"),
    [
        pytest.param("RUNNING", 143, "requeue 12\n", [], id="time over"),
        pytest.param("COMPLETING", 143, "", [], id="cancelled", marks=pytest.mark.slow),
        pytest.param("RUNNING", 5, "", [], id="failed", marks=pytest.mark.slow),
        pytest.param("RUNNING", 0, "", ["--end"], id="over by itself", marks=pytest.mark.slow),
    ],
)
def test_a_job_that_kept_its_state_is_queued_again(state, code, requeue, more, script, mpirun, environment, tmp_path):
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    path = script("-n", 2, "--no-state", PATIENT, ranks, code, *more)
    # Not inside an allocation, where the machine would be asked for Slurm's own launcher.
    path.write_text(path.read_text().replace("$SLURM_JOB_ID", "12"))
    when = None if more else lambda: len(os.listdir(ranks)) == 2
    found, requeued, said = run_job(path, environment, tmp_path, state, when)
    assert (found, requeued) == (code, requeue)
    assert ("queued again" in said) == bool(requeue)
    assert sum("has ended by [15]" in name for name in os.listdir(ranks)) == (0 if more else 2)
