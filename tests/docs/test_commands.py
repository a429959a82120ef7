"""Programs accept every command of the README and the pages. Outputs on the pages are those of the commands."""

import argparse
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cluster.launch import job, slurm
from core.local_search.checks import validation
from docs import pages

LAUNCHERS = re.compile(r"^(mpirun|srun)( -n \d+| --mpi=\w+| --bind-to \w+| --with-ft \w+)* ")
SHELL = ("", "bash", "console", "sh")
PLAIN = re.compile(r"^(cd|export|\.|sbatch) ")
INTO_FILE = re.compile(r" > \S+$")

BLOCKS = [block for page in pages.pages() for block in pages.blocks(page) if block.language in SHELL]
COMMANDS = {command: str(block) for block in BLOCKS for command in pages.commands(block)}
COMMANDS |= {command: page.name for page in pages.pages() for command in pages.inline_commands(page)}
SHOWN = [(block, *pair) for block in BLOCKS if block.language == "console" for pair in pages.shown(block)]


class UnderstoodError(SystemExit):
    """End of a program after it has parsed its command line."""


pytestmark = pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")


@pytest.fixture
def understood(monkeypatch):
    """Start programs that end after parsing their command line, on a machine of many cores."""
    monkeypatch.setattr("drivers.experiments.configurations.present_cores", lambda: 64)

    def ended(parse):
        def read(*arguments, **named):
            parse(*arguments, **named)
            raise UnderstoodError

        return read

    for name in ("parse_args", "parse_intermixed_args"):
        monkeypatch.setattr(argparse.ArgumentParser, name, ended(getattr(argparse.ArgumentParser, name)))

    def start(words):
        module = words[0] == "-m"
        name, *arguments = words[module:]
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with pytest.raises(UnderstoodError):
            if module:
                runpy.run_module(name, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(str(pages.ROOT / name), run_name="__main__")

    return start


def check_make(words):
    makefile = (pages.ROOT / "Makefile").read_text()
    for word in words:
        name, is_variable, _ = word.partition("=")
        expected = rf"\$\({name}\)" if is_variable else rf"^{name}:"
        assert re.search(expected, makefile, re.MULTILINE), word


def check_onekernel(words, understood):
    """Check that the distribution has the command, and that the program accepts the options."""
    assert "onekernel" in tomllib.loads((pages.ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    if words:
        understood(["onekernel", *words])
    starts = {"launch": job, "slurm": slurm}.get(words[1]) if words[:1] == ["cluster"] else None
    if starts:  # the started program accepts the remaining options
        understood(job.program_words(starts.parser().parse_known_args(words[2:])[0].program))


def check_python(words, understood):
    """Check that a file exists and accepts its options, or that a module does."""
    if not words[0].startswith("-"):
        assert (pages.ROOT / words[0]).is_file(), words
        if words[0].startswith("examples/") and words[1:2] and words[1].startswith("-"):
            understood(words)
        return
    understood(words)


def check_pip(words):
    asked = re.findall(r"[\w-]+", re.search(r"\[(.*)\]", " ".join(words))[1])
    assert set(asked) <= set(
        tomllib.loads((pages.ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_every_command_is_understood(command, understood):
    words = shlex.split(INTO_FILE.sub("", LAUNCHERS.sub("", command)))
    if words[0] == "make":
        check_make(words[1:])
    elif words[0] == "onekernel":
        check_onekernel(words[1:], understood)
    elif words[0] == "python":
        check_python(words[1:], understood)
    elif words[0] == "pip" and words[1] in ("install", "wheel"):
        check_pip(words[2:])
    else:
        assert PLAIN.match(command), f"{COMMANDS[command]}: {command}"


@pytest.mark.parametrize("line", ["python -m drivers.ihc --climber 3 --nonsense", "onekernel compare nothing"])
def test_a_wrong_command_is_not_understood(line, understood):
    with pytest.raises((SystemExit, pytest.fail.Exception)):
        understood(shlex.split(line.removeprefix("python ")))


@pytest.mark.parametrize(("block", "command", "expected"), SHOWN, ids=[command for _, command, _ in SHOWN])
def test_a_page_shows_what_comes_out(block, command, expected, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(validation, "SECONDS", 600.0)  # a busy core tries as many moves as an idle one
    printed = pages.printed(command)
    assert pages.lasting(printed) == pages.lasting(expected), f"{block}: run `python docs/pages.py`"


def test_batch_scripts_are_bash():
    commands = [INTO_FILE.sub("", command) for command in COMMANDS if command.startswith("onekernel cluster slurm ")]
    assert commands
    for command in commands:
        written = pages.printed(command)
        assert re.match(r"#!/bin/bash( -l)?\n#SBATCH ", written)
        subprocess.run(["bash", "-n"], input=written, text=True, check=True)


def test_times_may_differ_and_nothing_else():
    line = "a: best cost 3, 870,000 neighbours, 166.9 M neighbours/s, 0.005211 s (compile 4.902, host 0.2), on cpu (X)"
    same = "a: best cost 3, 870,000 neighbours, 1.2 G neighbours/s, 1.005211 s (compile 0.1, host 3), on cpu (X)"
    assert pages.lasting(line) == pages.lasting(same)
    for text, other in (("870,000", "870,001"), ("cost 3", "cost 4"), ("(X)", "(Y)")):
        assert pages.lasting(line) != pages.lasting(line.replace(text, other))
    assert Path(pages.__file__).is_relative_to(pages.ROOT)


@pytest.mark.parametrize("name", ["Intel(R) Xeon(R) Processor @ 2.50GHz", "Höchst, [8] cores", ""])
def test_a_page_shows_the_same_processor_on_every_machine(name, monkeypatch):
    monkeypatch.setattr("backends.cpu_info.processor_name", lambda: name)
    assert f"on cpu ({pages.DEVICE})" in pages.printed("python examples/partition.py --iterations 1 --backend cpu")
