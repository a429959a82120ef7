"""The machine and the installation in a record."""

import json
import os
import socket
import subprocess
from importlib import metadata

import numpy as np
import pytest

from backends import cpu_info
from cluster.launch import resources
from reports.records.environment import cores, environment, memory_and_gpus, processor
from reports.text import formatting
from tests.conftest import ROOT

V1 = (("quota", "250000"), ("period", "100000"))


def test_it_names_versions_and_processor_and_is_the_same_on_every_call():
    described = environment()
    assert described == environment()
    assert json.loads(json.dumps(described)) == described
    assert described["packages"]["numpy"] == np.__version__
    assert "onekernel-no-such-package" not in described["packages"]
    assert 1 <= described["cores"] <= os.cpu_count()
    assert environment(host_count=3)["host_count"] == 3
    assert described["host"] == socket.gethostname()


def lscpu(options=""):
    run = subprocess.run(["sh", "-c", f"LC_ALL=C.UTF-8 lscpu {options}"], capture_output=True, text=True)
    lines = [line for line in run.stdout.splitlines() if not line.startswith("#")]
    return lines or pytest.skip("this system has no lscpu to compare with")


def test_the_processor_is_the_one_that_the_system_reports():
    names = [line.partition(":")[2].strip() for line in lscpu() if line.startswith("Model name")]
    assert " ".join(names[0].split()) == environment()["cpu_model"]
    places = lscpu("-p=CORE,SOCKET")
    assert (processor()["hardware_threads"], processor()["physical_cores"]) == (len(places), len(set(places)))


def made_system(folder, monkeypatch, *, threads_per_core=2, cores_of_socket=4, sockets=2, clocks=()):
    cores = sockets * cores_of_socket
    for thread in range(cores * threads_per_core):
        core = thread % cores
        place = folder / f"cpu{thread}" / "topology"
        place.mkdir(parents=True)
        (place / "physical_package_id").write_text(f"{core // cores_of_socket}\n")
        (place / "core_id").write_text(f"{core % cores_of_socket}\n")
    (folder / "cpu0" / "cpufreq").mkdir()
    for name, khz in clocks:
        (folder / "cpu0" / "cpufreq" / name).write_text(f"{khz}\n")
    monkeypatch.setattr("reports.records.environment.SYSTEM_CPUS", folder)


def test_hardware_threads_are_told_from_physical_cores(monkeypatch, tmp_path):
    made_system(tmp_path, monkeypatch, clocks=[("base_frequency", 2500000), ("cpuinfo_max_freq", 3700000)])
    described = processor() | {"virtual": False, "cores": 16}
    assert described["sockets"] == 2 and described["physical_cores"] == 8 and described["hardware_threads"] == 16
    words = "16 hardware threads of 8 cores in 2 sockets at 2.50 GHz (at most 3.70 GHz)"
    assert formatting.cores(described) == words
    assert formatting.cores(described | {"cores": 6}) == f"6 of {words}"


def test_cores_are_worded_as_far_as_they_are_recorded():
    assert formatting.cores({"cores": 16}) == "16 cores"
    alone = {"cores": 4, "hardware_threads": 4, "physical_cores": 4, "cpu_mhz_nominal": 2600, "virtual": True}
    assert formatting.cores(alone) == "4 cores at 2.60 GHz as a virtual machine shows them"
    assert formatting.cores(alone | {"cores": 2, "virtual": None, "host_count": 3}) == (
        "2 of 4 cores at 2.60 GHz on each of 3 hosts"
    )


def test_gpus_and_their_driver_are_those_of_the_kernel_module(monkeypatch, tmp_path):
    for place in ("0", "1"):
        (tmp_path / "gpus" / place).mkdir(parents=True)
        (tmp_path / "gpus" / place / "information").write_text("Model: \t\t NVIDIA H200\nIRQ:   1\n")
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release\n")
    monkeypatch.setattr("reports.records.environment.NVIDIA", tmp_path)
    described = memory_and_gpus()
    assert described == {"memory_gib": described["memory_gib"], "gpus": ["NVIDIA H200"] * 2, "gpu_driver": "580.65.06"}
    assert ", 2 NVIDIA H200, " in formatting.machine(described)


@pytest.mark.parametrize(
    ("own", "quotas", "count"),
    [
        ("0::/a:c/b", {"a:c/cpu.max": "150000 100000", "a:c/b/cpu.max": "max 100000"}, 2),
        ("0::/a/b", {"cpu.max": "400000 100000", "a/b/cpu.max": "50000 100000"}, 1),
        ("0::/elsewhere", {"cpu.max": "100 0", "b/cpu.max": "100000 100000"}, 8),
        ("4:cpu,cpuacct:/a/b", {f"cpu,cpuacct/a/cpu.cfs_{unit}_us": n for unit, n in V1}, 3),
        ("4:cpuacct:/b", {f"cpu/cpu.cfs_{unit}_us": n for unit, n in V1} | {"cpu/b/cpu.max": "1 1"}, 3),
    ],
)
def test_the_cores_of_a_container_are_its_least_quota_rounded_up(monkeypatch, tmp_path, own, quotas, count):
    for name, text in {"own": own, **quotas}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    monkeypatch.setattr("core.granted_cores.GROUPS", tmp_path)
    monkeypatch.setattr("core.granted_cores.OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert cores() == cpu_info.available_cores.__wrapped__() == resources.count_cores(tmp_path) == count


def test_the_commit_is_the_checkouts():
    head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
    if head.returncode:
        pytest.skip("not a git checkout with a commit")
    said = environment()["commit"].removesuffix("+changes")
    tags = subprocess.run(["git", "-C", str(ROOT), "tag"], capture_output=True, text=True).stdout.split()
    assert head.stdout.strip().startswith(said.rpartition("-g")[2]) or said in tags


def test_an_installed_suite_is_named_by_its_version(monkeypatch, tmp_path):
    monkeypatch.setattr("reports.records.environment.ROOT", tmp_path)
    assert environment()["commit"] == metadata.version("onekernel")


def test_the_commit_of_a_copy_without_git_is_in_a_file(monkeypatch, tmp_path):
    (tmp_path / "COMMIT").write_text("0123abc+changes\n")
    monkeypatch.setattr("reports.records.environment.ROOT", tmp_path)
    assert environment()["commit"] == "0123abc+changes"
