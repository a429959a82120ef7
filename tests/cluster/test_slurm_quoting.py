"""Batch scripts of hostile names: the shell runs nothing but the program, which gets every argument as it was."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import slurm

HOSTILE = (
    *("$(touch canary)", "`touch canary`", "${x:=$(touch canary)}", "$((x[$(touch canary)]))", "$[$(touch canary)]"),
    *("; touch canary", "& touch canary", "&& touch canary", "| touch canary", "|| touch canary", ";;"),
    *("\ntouch canary\n", "\r\ntouch canary\r\n", "\n\n", "\\\ntouch canary", "'\ntouch canary\n'", '"\ntouch canary\n"'),
    *("'; touch canary; '", '"; touch canary; "', "'$(touch canary)'", '"$(touch canary)"', "\\'; touch canary; \\'"),
    *("'", '"', "''", "'\"'\"'", "\\", "a\\", "\\\\", "$'\\ntouch canary'", '$"x"', '\\"; touch canary; \\"'),
    *("> canary", ">> canary", "2> canary", "<(touch canary)", ">(touch canary)", "<<EOF\nEOF\ntouch canary"),
    *("# canary", "a # touch canary", "\n#SBATCH --wrap=canary", "x\n#SBATCH --account=other\n", "%j", "%x%%"),
    *("$HOME", "$SLURM_JOB_ID", "$$", "$", "$@", "${IFS}", "~", "~root", "*", "?", "[a-z]*", "{a,b}", "!!", "!touch"),
    *("-n", "--help", "=", "a=b", "a b", "  ", "\t", "a\tb", " a ", ".", "(touch canary)", "{ touch canary; }"),
    *("\x1b[31m", "\x07", "\x7f", "\u202e", "\u00e9", "\u65e5\u672c", "\u201cquoted\u201d", "if true; then touch canary; fi"),
)  # fmt: skip
"""Texts, each of which is the name of a program, a folder and Python, and an option's value."""
DIRECTIVE = re.compile(r"#SBATCH --[a-z-]+(=[A-Za-z0-9_.,:@+/%-]+)?")
STUB = """#!/bin/sh
printf '%s\\0' "$@" > "$NOTES"
exit 143
"""


@pytest.fixture
def job(environment, called, tmp_path, monkeypatch):
    """A batch script's surroundings: Slurm's commands, which change nothing, and an empty folder where it runs."""
    return Job(environment, called, tmp_path, monkeypatch)


class Job:
    """Write a batch script and run it as `sbatch` would."""

    def __init__(self, environment, called, folder, monkeypatch):
        self.called, self.folder, self.monkeypatch = called, folder, monkeypatch
        self.stubs, self.empty, self.notes = folder / "commands", folder / "empty", folder / "notes"
        self.stubs.mkdir()
        self.empty.mkdir()
        self.put(self.stubs / "squeue", "#!/bin/sh\necho RUNNING\n")
        self.put(self.stubs / "scontrol", "#!/bin/sh\n")
        path = {"PATH": f"{self.stubs}:{environment['PATH']}"}
        self.environment = environment | path | {"SLURM_JOB_ID": "12", "NOTES": str(self.notes)}

    def put(self, path, text):
        path.write_text(text)
        path.chmod(0o755)
        return path

    def written(self, python, words, place):
        """The script that a user writes in a folder, by a Python."""
        self.monkeypatch.setattr(sys, "executable", str(python))
        self.monkeypatch.chdir(place)
        code, script, _ = self.called(slurm.main, *words)
        assert code == 0
        return script

    def run(self, script, **more):
        """Run a script; returns what it said and how it ended. Nothing but its notes may be left."""
        path = self.folder / "job.sh"
        path.write_text(script, newline="")
        bash = shutil.which("bash")
        assert bash is not None
        given = self.environment | more
        done = subprocess.run([bash, path], cwd=self.empty, env=given, capture_output=True, text=True, timeout=60)
        assert done.returncode == 143, done.stderr
        assert not list(self.empty.iterdir())
        return done

    def noted(self):
        """The arguments with which the last program was called."""
        return self.notes.read_bytes().decode().split("\0")[:-1]


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_but_the_program_runs_and_its_arguments_arrive(text, job, tmp_path):
    place = tmp_path / "all" / f"in {text}"
    place.mkdir(parents=True)
    python = job.put(place / f"python {text}", STUB)
    (place / f"{text}.py").touch()
    before = everything(tmp_path / "all")
    words = [f"--mpi-options={shlex.quote(text)}", f"./{text}.py", "--option", text, text, "--state", text]
    script = job.written(python, words, place)
    asked = [line for line in script.split("\n\ncd ")[0].split("\n")[1:] if line]
    assert all(DIRECTIVE.fullmatch(line) for line in asked), asked
    done = job.run(script)
    name = asked[0].removeprefix("#SBATCH --job-name=")
    assert done.stderr == ""
    assert done.stdout == f"{name}: its time was over and its state is kept; the job is queued again\n"
    assert job.noted() == ["-m", "cluster", "launch", *words, "--resume"]
    assert everything(tmp_path / "all") == before


@pytest.mark.parametrize("text", ["$(touch canary)", "-n", "\n", "", "x.", "a'b"])
def test_the_state_has_the_jobs_number_and_no_word_of_the_shells(text, job, tmp_path):
    python = job.put(tmp_path / "python", STUB)
    (tmp_path / f"{text}.py").touch()
    job.run(job.written(python, [f"./{text}.py"], tmp_path))
    words = job.noted()
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_+-]*-12\.state", words[words.index("--state") + 1])


@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_the_launcher_of_ranks_gets_every_argument(launcher, job, tmp_path):
    """From the script through `python -m cluster launch`. Its Python has no other launcher beside it."""
    body = STUB.partition("\n")[2]
    job.put(job.stubs / launcher, f'#!/bin/sh\n[ "$1" = --mpi=list ] && echo pmix && exit 0\n{body}')
    python = job.stubs / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    program = "it's $(touch canary).py"
    (tmp_path / program).touch()
    options = [word for text in HOSTILE for word in ("--option", text)]
    script = job.written(python, ["-n", "2", "--no-state", program, *options], tmp_path)
    allocated = {"SLURM_JOB_NUM_NODES": "1", "SLURM_NTASKS": "2", "ONEKERNEL_X": HOSTILE[0]}
    job.run(script, PATH=str(job.stubs), **allocated)
    words = job.noted()
    assert words[words.index(str(python)) :] == [str(python), program, *options]
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("option", ["--partition", "--account", "--gpus-per-node", "--time"])
def test_what_sbatch_would_read_is_refused(option, called):
    for text in {*HOSTILE, "", "a\x00b", "\ud800"} - {"a=b"}:
        code, out, err = called(slurm.main, f"{option}={text}", "ppp")
        assert (code, out) == (2, "") and f"argument {option}: expected" in err
        assert len(err.splitlines()) == 1


def test_bytes_that_are_no_text_are_refused(tmp_path, monkeypatch, called):
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"\xff.py")).touch()
    code, out, err = called(slurm.main, os.fsdecode(b"\xff.py"))
    assert (code, out) == (2, "")
    assert "found bytes that are no UTF-8 text, expected names that a script can hold" in err
