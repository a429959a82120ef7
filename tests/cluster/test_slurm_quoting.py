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
from core.errors import UserError

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
def stubs(tmp_path):
    """A folder of commands that Slurm has, which change nothing."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for name, body in (("squeue", "echo RUNNING"), ("scontrol", "exit 0")):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    return folder


def written(words, monkeypatch, capsys):
    """The script for these words of the command line."""
    monkeypatch.setattr(sys, "argv", ["slurm", *words])
    assert slurm.main() == 0
    return capsys.readouterr().out


def run(script, folder, environment):
    """Run a script in an empty folder as `sbatch` would; what it says and how it ends."""
    folder.mkdir()
    path = folder.with_name("job.sh")
    path.write_text(script, newline="")
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run([bash, path], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_there_are_50_hostile_names():
    assert len(set(HOSTILE)) == len(HOSTILE) >= 50


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_but_the_program_runs_and_its_arguments_arrive(text, stubs, environment, tmp_path, monkeypatch, capsys):
    place = tmp_path / "all" / f"in {text}"
    place.mkdir(parents=True)
    python = place / f"python {text}"
    python.write_text(STUB)
    python.chmod(0o755)
    (place / f"{text}.py").touch()
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(place)
    before = everything(tmp_path / "all")
    words = [f"--mpi-options={shlex.quote(text)}", f"./{text}.py", "--option", text, text, "--state", text]
    script = written(words, monkeypatch, capsys)
    asked = [line for line in script.split("\n\ncd ")[0].split("\n")[1:] if line]
    assert all(DIRECTIVE.fullmatch(line) for line in asked), asked
    given = environment | {"PATH": f"{stubs}:{environment['PATH']}", "SLURM_JOB_ID": "12", "NOTES": str(tmp_path / "n")}
    done = run(script, tmp_path / "empty", given)
    name = asked[0].removeprefix("#SBATCH --job-name=")
    assert done.returncode == 143 and done.stderr == ""
    assert done.stdout == f"{name}: its time was over and its state is kept; the job is queued again\n"
    assert (tmp_path / "n").read_bytes().decode().split("\0")[:-1] == [
        *("-m", "cluster", "launch", f"--mpi-options={shlex.quote(text)}", f"./{text}.py"),
        *("--option", text, text, "--state", text, "--resume"),
    ]
    assert everything(tmp_path / "all") == before and not list((tmp_path / "empty").iterdir())


@pytest.mark.parametrize("text", ["$(touch canary)", "-n", "\n", "", "x.", "a'b"])
def test_the_state_has_the_jobs_number_and_no_word_of_the_shells(
    text, stubs, environment, tmp_path, monkeypatch, capsys
):
    python = tmp_path / "python"
    python.write_text(STUB)
    python.chmod(0o755)
    (tmp_path / f"{text}.py").touch()
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(tmp_path)
    script = written([f"./{text}.py"], monkeypatch, capsys)
    given = environment | {"PATH": f"{stubs}:{environment['PATH']}", "SLURM_JOB_ID": "12", "NOTES": str(tmp_path / "n")}
    assert run(script, tmp_path / "empty", given).returncode == 143
    words = (tmp_path / "n").read_text().split("\0")
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_+-]*-12\.state", words[words.index("--state") + 1])
    assert not list((tmp_path / "empty").iterdir())


@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_the_launcher_of_ranks_gets_every_argument(launcher, stubs, environment, tmp_path, monkeypatch, capsys):
    """From the script through `python -m cluster launch`. Its Python has no other launcher beside it."""
    body = STUB.partition("\n")[2]
    (stubs / launcher).write_text(f'#!/bin/sh\n[ "$1" = --mpi=list ] && echo pmix && exit 0\n{body}')
    (stubs / launcher).chmod(0o755)
    (stubs / "python").symlink_to(os.path.realpath(sys.executable))
    monkeypatch.setattr(sys, "executable", str(stubs / "python"))
    program = "it's $(touch canary).py"
    (tmp_path / program).touch()
    monkeypatch.chdir(tmp_path)
    options = [word for text in HOSTILE for word in ("--option", text)]
    script = written(["-n", "2", "--no-state", program, *options], monkeypatch, capsys)
    allocated = {"SLURM_JOB_ID": "12", "SLURM_JOB_NUM_NODES": "1", "SLURM_NTASKS": "2", "ONEKERNEL_X": HOSTILE[0]}
    given = environment | allocated | {"PATH": str(stubs), "NOTES": str(tmp_path / "n")}
    done = run(script, tmp_path / "empty", given)
    assert done.returncode == 143, done.stderr
    words = (tmp_path / "n").read_bytes().decode().split("\0")[:-1]
    assert words[words.index(sys.executable) :] == [sys.executable, program, *options]
    assert not list((tmp_path / "empty").iterdir()) and not (tmp_path / "canary").exists()


@pytest.mark.parametrize("option", ["--partition", "--account", "--gpus-per-node", "--time"])
def test_what_sbatch_would_read_is_refused(option, monkeypatch, capsys):
    for text in {*HOSTILE, "", "a\x00b", "\ud800"} - {"a=b"}:
        monkeypatch.setattr(sys, "argv", ["slurm", f"{option}={text}", "ppp"])
        with pytest.raises(SystemExit) as ended:
            slurm.main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (2, "") and f"argument {option}: expected" in said.err
        assert len(said.err.splitlines()) == 1


def test_bytes_that_are_no_text_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"\xff.py")).touch()
    monkeypatch.setattr(sys, "argv", ["slurm", os.fsdecode(b"\xff.py")])
    with pytest.raises(UserError, match="found bytes that are no UTF-8 text, expected names that a script can hold"):
        slurm.main()
