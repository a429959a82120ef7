"""`python -m cluster`, what it lists, and `launch`: what it starts, how signals reach the ranks, and how it ends."""

import shlex
import signal
import subprocess
import sys
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from cluster.__main__ import PROGRAMS
from cluster.__main__ import main as cluster_main
from cluster.launch.job import main
from cluster.launch.options import positive, program_words
from cluster.launch.plan import cores_per_rank
from core.errors import UserError
from tests.patience import soon

ROOT = Path(__file__).parents[2]
PATIENT = Path(__file__).with_name("patient.py")


@pytest.fixture
def launch_environment(mpirun, environment):
    return environment


@pytest.fixture
def ranks(tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    return folder


def launched(environment, *words):
    command = [sys.executable, "-m", "cluster", "launch", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_dry_run_prints_what_would_run(launch_environment, called):
    code, out, _ = called(main, "-n", 3, "--mpi-options=--mca btl 'self, sm'", "--dry-run", "ppp", "--walks", "3")
    words = shlex.split(out)
    assert code == 0 and len(out.splitlines()) == 1
    assert Path(words[0]).name == "mpirun" and words[1:3] == ["-n", "3"]
    assert words[words.index("--mca") :] == [
        *("--mca", "btl", "self, sm"),
        *(sys.executable, *(["-P"] if Path.cwd() != ROOT else []), "-m", "drivers.ppp", "--walks", "3"),
    ]


@pytest.mark.parametrize("code", [pytest.param(0, marks=pytest.mark.slow), 3])
def test_hosts_of_a_file_are_used_and_the_exit_code_is_the_programs(code, launch_environment, tmp_path, ranks):
    path = tmp_path / "hosts"
    path.write_text("localhost slots=2 max_slots=4\n")
    with launched(launch_environment, "--hosts", path, PATIENT, ranks, code, "--end") as job:
        out, _ = job.communicate(timeout=60)
    assert (job.returncode, out) == (code, "")
    assert names(ranks) == ["0 is up", "1 is up"]


@pytest.mark.slow
def test_an_interrupt_ends_the_job(launch_environment, ranks):
    with launched(launch_environment, "-n", 2, PATIENT, ranks, 0) as job:
        assert soon(lambda: len(names(ranks)) == 2)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=60)
    assert job.returncode == 130
    assert names(ranks) == ["0 is up", "1 is up"]


@pytest.mark.parametrize(
    ("words", "started"),
    [
        (["ppp", "--walks", "2"], ["-m", "drivers.ppp", "--walks", "2"]),
        (["drivers.ppp"], ["-m", "drivers.ppp"]),
        ([str(PATIENT), "x"], [str(PATIENT), "x"]),
    ],
)
def test_programs_are_named_as_users_name_them(words, started):
    assert program_words(words) == started


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the program to start: found none, expected"),
        (["--walks"], "the program to start: found --walks, which no option of `launch` is, expected"),
        (["pppp"], "the program to start: found 'pppp', expected drivers.ppp, ppp or a FILE.py"),
        (["os"], "the program to start: found 'os'"),
        (["missing.py"], "missing.py: found no such file, expected a program"),
    ],
)
def test_what_is_no_program_is_refused(words, message):
    with pytest.raises(UserError) as caught:
        program_words(words)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["0", "-1", "1.0", "1" * 10, "9" * 5000, "\u0663", "", " 1", "1\n"])
def test_numbers_that_no_job_has_are_refused(text):
    with pytest.raises(ArgumentTypeError, match="expected a whole number from 1 to 999999999, found '") as caught:
        positive(text)
    assert len(str(caught.value)) < 100
    assert cores_per_rank(["ppp", "--cores", text]) is None
    assert (positive("999999999"), cores_per_rank(["ppp", "--cores=16"])) == (999_999_999, 16)


def test_options_of_mpirun_are_words_of_a_shell(called):
    code, out, err = called(main, "--mpi-options='--mca", "ppp")
    assert (code, out) == (2, "")
    assert 'expected words as a shell reads them, found "\'--mca" (No closing quotation)' in err


def test_a_wrong_host_file_starts_nothing(launch_environment, called, tmp_path, ranks):
    path = tmp_path / "hosts"
    path.write_text("node1 cores=2\n")
    code, out, err = called(main, "--hosts", path, PATIENT, ranks, 0, "--end")
    assert (code, out, names(ranks)) == (2, "", [])
    assert err.startswith(f"error: {path}:1: found 'cores=2', expected a host's name") and err.count("\n") == 1


@pytest.mark.slow
def test_a_host_that_ssh_does_not_get_to_is_named_with_its_line(launch_environment, tmp_path):
    (tmp_path / "ssh").write_text("#!/bin/sh\necho Connection refused >&2\nexit 255\n")
    (tmp_path / "ssh").chmod(0o755)
    (tmp_path / "hosts.txt").write_text("localhost slots=1\n192.0.2.1 slots=1\n")
    there = {name: value for name, value in launch_environment.items() if "plm_ssh_agent" not in name}
    there["PATH"] = f"{tmp_path}:{there['PATH']}"
    with launched(there, "--hosts", tmp_path / "hosts.txt", PATIENT, tmp_path, 0) as job:
        said = job.communicate(timeout=60)[1]
    assert job.returncode == 2
    assert f"error: {tmp_path}/hosts.txt:2: found 192.0.2.1: Connection refused, expected `ssh 192.0.2.1` to" in said


# --- python -m cluster ---


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_without_a_word_all_programs_are_listed(words, called):
    code, out, err = called(cluster_main, *words)
    assert (code, err) == (0, "")
    rows = [line.split(maxsplit=1) for line in out.splitlines()[2:-2]]
    assert rows == [[name, program.title] for name, program in PROGRAMS.items()]
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS if name != "setup"])
def test_every_program_says_how_it_was_called(name, plain):
    done = plain("-m", "cluster", name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m cluster {name} ")


def test_an_unknown_program_is_a_users_mistake_with_the_nearest_name(called):
    code, out, err = called(cluster_main, "lunch", "-n", 4)
    assert (code, out) == (2, "")
    assert err.startswith("error: python -m cluster lunch (did you mean launch?): expected one of ")
    assert err.count("\n") == 1 and all(name in err for name in PROGRAMS)
