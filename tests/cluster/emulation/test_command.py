"""The command runs on emulated hosts; without what they need, it says so in one line."""

import subprocess
import sys

import pytest

import cluster.emulation
from cluster.emulation.hosts import HERE
from cluster.launch.commands import ROOT


def test_a_command_runs_on_its_host_and_gives_its_exit_code(hosts_can_be, emulate, monkeypatch):
    monkeypatch.setenv("OMPI_MCA_plm", "isolated")
    program = "import os, sys; print(os.uname().nodename, os.getcwd(), os.getenv('OMPI_MCA_plm')); sys.exit(7)"
    done = emulate("cow", 2, "--on", 2, "--", sys.executable, "-c", program)
    assert (done.stdout, done.stderr, done.returncode) == (f"host2 {ROOT} None\n", "", 7)
    done = emulate("cow", 2, "--on", 2, "--", "no-such-program")
    assert (done.stdout, done.stderr, done.returncode) == ("", "no-such-program: No such file or directory\n", 127)


@pytest.mark.parametrize(
    "words", [("0",), ("65",), ("2", "--on", "3"), ("2", "--on", "0"), ("2", "--share", "/tmp/no")]
)
def test_hosts_that_cannot_be_are_refused(words, emulate):
    done = emulate("cow", *words, "--", "true")
    expected = "--share: expected folders" if "--share" in words else "expected 1 to 64 hosts"
    assert (done.returncode, f"error: {expected}" in done.stderr) == (2, True)


def test_the_wire_compiles_without_warnings(hosts_can_be):
    command = ["gcc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", HERE / "wire.c"]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).stderr == ""


@pytest.mark.parametrize("lacks", ["root", "gcc"])
def test_one_line_says_what_hosts_need_and_what_is_missing(lacks, monkeypatch):
    if sys.platform != "linux":
        pytest.skip("hosts are emulated on Linux alone")
    present = {"unshare": "/usr/bin/unshare", "gcc": None if lacks == "gcc" else "/usr/bin/gcc"}
    monkeypatch.setattr(cluster.emulation.os, "geteuid", lambda: 1000 if lacks == "root" else 0)
    monkeypatch.setattr(cluster.emulation.os.path, "exists", lambda path: True)
    monkeypatch.setattr(cluster.emulation.shutil, "which", present.get)
    needed = "Linux, root, gcc, unshare (util-linux), /dev/net/tun"
    assert cluster.emulation.obstacle.__wrapped__() == f"emulated hosts need {needed}: found no {lacks}"
