"""Conditions and energy of a repetition: date, load, clocks, temperature and joules, read before and after.

Readings come from Linux (`/proc/loadavg`, `/sys`) and, for NVIDIA's GPUs, from NVML. Missing, unreadable or refused
values are not recorded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from core.atomic_files import read_text
from reports.records.environment import machine_name

T = TypeVar("T")
GPU_ENERGY = "gpu_nvml"
PACKAGE_ENERGY = "package_rapl"
"""Sources of joules: their keys in a record."""

MOST_PROCESSORS = 16
"""Most processors with clocks read, evenly spread: reading hundreds of files takes milliseconds."""
LEAST_UPDATES = 10
"""Least updates of an energy counter between two readings that count: each reading is then a tenth too old at most."""
UPDATE_S = {GPU_ENERGY: 0.1, PACKAGE_ENERGY: 0.001}
"""Seconds between two renewals of a counter, as seen on an H200 and in Intel's manuals."""
MOST_WATTS = 600.0
"""Largest power of a processor package. In a repetition long enough for this power to fill the energy counter,
the counter may have wrapped around twice; the joules are then not recorded.
"""

SHORTEST_LOAD_S = 0.2
"""Least duration with a load of others: processor times have steps of 10 ms."""

THROTTLED_BY = {
    "SwPowerCap": "power limit",
    "HwSlowdown": "slowdown by hardware",
    "SwThermalSlowdown": "temperature",
    "HwThermalSlowdown": "temperature, by hardware",
    "HwPowerBrakeSlowdown": "power brake",
    "SyncBoost": "clock of other GPUs",
}
"""Reasons of a lower GPU clock, by the end of NVML's name, without idle GPUs and clocks set by the user."""


class ProcessorSeconds(NamedTuple):
    """Processor time in a repetition.

    Attributes
    ----------
    host
        Name of the machine, also below emulated hosts.
    all_s, own_s
        Busy seconds of all its processors, time stolen from a virtual machine included, and of this process and its
        children.
    lasted_s
        Duration of the repetition.
    """

    host: str
    all_s: float
    own_s: float
    lasted_s: float


def others_cores(ranks: Sequence[ProcessorSeconds | None]) -> float | None:
    """Return the mean number of cores that other programs kept busy on the first rank's host; None if unknown."""
    first = ranks[0]
    if first is None or first.lasted_s < SHORTEST_LOAD_S:
        return None
    own_s = sum(one.own_s for one in ranks if one is not None and one.host == first.host)
    return round(max(0.0, first.all_s - own_s) / first.lasted_s, 3)


class EnergyReading(NamedTuple):
    """Moment of a reading in seconds, microjoules of all packages by counter, and joules of the GPU."""

    at_s: float
    packages: Mapping[Path, int]
    gpu_j: float | None


class Meter:
    """Reads before and after a repetition; a context manager, used again for every repetition of a run.

    The load is that of the minute before the repetition. Clocks are read before and right after it, before the device
    cools down, and the temperature right after; reasons of throttling are read before and after. The load of other
    programs follows from the times of all processors and of this process with its children. Energy is the difference of
    two counters, so it is that of the whole GPU or of all processor packages, including other programs; a repetition
    that is too short for the counter (see `UPDATE_S`) has none, unless it is `in_series`. An H200 takes 3 to 8 ms to
    return its energy; all else is read in less than 1 ms.

    Parameters
    ----------
    device_kind
        `core`, `cores` or `gpu`; NVML is used only for a `gpu`.
    device_index : str
        The GPU's number among those that CUDA shows to this process, or its UUID as NVIDIA writes it (`GPU-...`).
    device_name
        The driver's name of the GPU. If NVML has another name for that number, none of its values is recorded.
    root
        Folder of `proc` and `sys`.
    nvml : module, optional
        Replacement of `pynvml`.
    clock
        Seconds since some moment.

    Attributes
    ----------
    in_series : bool
        Set to True for consecutive repetitions of which only the sum of joules counts: each begins at the end of the
        one before, and may be short.
    values : dict
        After a repetition: `started_at`, `conditions`, `energy_j` and `energy_update_s`, None if nothing could be
        read, for `reports.records.schema.Repetition`.
    processor_s : ProcessorSeconds or None
        After a repetition: busy seconds of this host and of this process in it.

    Examples
    --------
    >>> meter = Meter("core", 0)
    >>> with meter:
    ...     cost = sum(range(1000))
    >>> sorted(meter.values)
    ['conditions', 'energy_j', 'energy_update_s', 'started_at']
    """

    def __init__(
        self,
        device_kind: str,
        device_index: str,
        *,
        device_name: str = "",
        root: Path = Path("/"),
        nvml: ModuleType | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.values: dict[str, Any] = {}
        self.processor_s: ProcessorSeconds | None = None
        self.in_series = False
        self._clock = clock
        self._root = root
        self._processors = _processors(root)
        self._packages = _packages(root)
        self._gpu = _gpu(device_index, device_name, nvml) if device_kind == "gpu" else None
        self._began = 0.0
        self._throttled_before: set[str] | None = None
        self._energy_before: EnergyReading
        self._end_of_series: EnergyReading | None = None
        self._busy_before: tuple[float, float] | None = None

    def __enter__(self) -> Meter:
        self.values = {"started_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        load = _load(self._root)
        self.values["conditions"] = {} if load is None else {"load_1min": load}
        gpu = self._gpu
        clocks = _clocks(self._processors) | (gpu.clock() if gpu else {})
        named = {"cpu_mhz_mean": "cpu_mhz_before", "gpu_mhz": "gpu_mhz_before"}
        self.values["conditions"] |= {before: clocks[name] for name, before in named.items() if name in clocks}
        self._busy_before = busy_seconds(self._root)
        self._throttled_before = gpu.throttled_by() if gpu else None
        # Energy last: the energy of the other readings is not the repetition's.
        self._began = self._clock()
        earlier = self._end_of_series if self.in_series else None
        self._energy_before = earlier or self._read_energy(self._began)
        return self

    def __exit__(self, *error: object) -> None:
        ended = self._clock()
        after = self._read_energy(ended)
        energy = self._joules(self._energy_before, after)
        self._end_of_series = after if self.in_series else None
        busy = busy_seconds(self._root)
        self.processor_s = None
        if busy and self._busy_before:
            all_s, own_s = (after - before for after, before in zip(busy, self._busy_before, strict=True))
            self.processor_s = ProcessorSeconds(machine_name(), all_s, own_s, ended - self._began)
        conditions = self.values["conditions"] | _clocks(self._processors)
        if self._gpu:
            conditions |= self._gpu.conditions(self._throttled_before)
        updates = {source: UPDATE_S[source] for source in energy}
        self.values |= {"conditions": conditions or None}
        self.values |= {"energy_j": energy or None, "energy_update_s": updates or None}

    @property
    def gpu(self) -> str:
        """NVML's UUID of the GPU; empty if unknown."""
        return self._gpu.uuid if self._gpu else ""

    def _read_energy(self, at_s: float) -> EnergyReading:
        counters = {counter: value for counter in self._packages if (value := _whole_number(counter)) is not None}
        return EnergyReading(at_s, counters, self._gpu.joules() if self._gpu else None)

    def _joules(self, before: EnergyReading, after: EnergyReading) -> dict[str, float]:
        """Return the joules between two readings by source, without those that are unknown.

        Those of packages are unknown if one could not be read, or may have filled its counter.
        """
        lasted, joules = after.at_s - before.at_s, {}
        if before.gpu_j is not None and after.gpu_j is not None:
            joules[GPU_ENERGY] = after.gpu_j - before.gpu_j
        is_known = self._packages and self._packages.keys() == before.packages.keys() == after.packages.keys()
        if is_known and all(lasted * MOST_WATTS * 1e6 < capacity for capacity in self._packages.values()):
            gone = [(after.packages[one] - before.packages[one], most) for one, most in self._packages.items()]
            joules[PACKAGE_ENERGY] = sum(more + (most if more < 0 else 0) for more, most in gone) / 1e6
        if self.in_series:
            return joules
        return {source: drawn for source, drawn in joules.items() if lasted >= LEAST_UPDATES * UPDATE_S[source]}


class _Gpu:
    """Readings of one GPU by NVML; None if this GPU or its driver has none."""

    def __init__(self, nvml: ModuleType, handle: object) -> None:
        self._nvml, self._handle = nvml, handle
        self.uuid = str(self._read(nvml.nvmlDeviceGetUUID) or "")
        # Read once: an H200 takes a millisecond.
        self._most_mhz = self._read(nvml.nvmlDeviceGetMaxClockInfo, nvml.NVML_CLOCK_SM)
        # Newer versions of NVML and of drivers say "event", older ones "throttle"; the bits are the same.
        self._bits: dict[int, str] = {}
        self._questions = []
        for word in ("Event", "Throttle"):
            if question := getattr(nvml, f"nvmlDeviceGetCurrentClocks{word}Reasons", None):
                self._questions.append(question)
                bits = {getattr(nvml, f"nvmlClocks{word}Reason{name}", 0): text for name, text in THROTTLED_BY.items()}
                self._bits |= bits

    def joules(self) -> float | None:
        """Energy drawn since the driver was loaded."""
        millijoules = self._read(self._nvml.nvmlDeviceGetTotalEnergyConsumption)
        return None if millijoules is None else millijoules / 1e3

    def clock(self) -> dict[str, int]:
        megahertz = self._read(self._nvml.nvmlDeviceGetClockInfo, self._nvml.NVML_CLOCK_SM)
        return {} if megahertz is None else {"gpu_mhz": megahertz}

    def throttled_by(self) -> set[str] | None:
        for question in self._questions:
            reasons = self._read(question)
            if reasons is not None:
                return {text for bit, text in self._bits.items() if reasons & bit}
        return None

    def conditions(self, throttled_before: set[str] | None) -> dict[str, Any]:
        """Clocks, temperature and throttling, for `reports.records.schema.Repetition`."""
        nvml = self._nvml
        reasons = self.throttled_by()
        reasons = None if reasons is None else reasons | (throttled_before or set())
        conditions = {
            **self.clock(),
            "gpu_mhz_max": self._most_mhz,
            "gpu_temperature_c": self._read(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
            "throttled": None if reasons is None else bool(reasons),
            "throttled_by": None if reasons is None else sorted(reasons),
        }
        return {name: value for name, value in conditions.items() if value is not None}

    def _read(self, question: Callable[..., T], *details: object) -> T | None:
        try:
            return question(self._handle, *details)
        except self._nvml.NVMLError:
            return None


def _gpu(index: str, name: str, nvml: ModuleType | None) -> _Gpu | None:
    """Return the GPU of this number or UUID; None without NVML or its driver, and for another name."""
    if nvml is None:
        try:
            nvml = import_module("pynvml")
        except ImportError:
            return None
    try:
        nvml.nvmlInit()
        wanted = _visible(index)
        if isinstance(wanted, int):
            handle = nvml.nvmlDeviceGetHandleByIndex(wanted)
        else:
            handle = nvml.nvmlDeviceGetHandleByUUID(wanted)
        gpu_name = nvml.nvmlDeviceGetName(handle)
    except nvml.NVMLError:
        return None
    gpu_name = gpu_name.decode() if isinstance(gpu_name, bytes) else gpu_name
    return _Gpu(nvml, handle) if name in ("", gpu_name) else None


def _visible(index: str) -> int | str:
    """Return NVML's name of the GPU with this CUDA number: `CUDA_VISIBLE_DEVICES` hides and reorders GPUs."""
    if not index.isdigit():
        return index
    number = int(index)
    shown = [one.strip() for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    if number >= len(shown) or not shown[number]:
        return number
    return int(shown[number]) if shown[number].isdigit() else shown[number]


def _processors(root: Path) -> list[Path]:
    """Folders in `/sys` with the clocks of some processors that this process may use."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    folders = [root / f"sys/devices/system/cpu/cpu{number}/cpufreq" for number in allowed]
    present = [folder for folder in folders if folder.is_dir()]
    return present[:: -(-len(present) // MOST_PROCESSORS) or 1]


def _packages(root: Path) -> dict[Path, int]:
    """Energy counters of all processor packages, in microjoules, with their upper ends; all or none."""
    zones = [
        zone
        for zone in sorted((root / "sys/class/powercap").glob("intel-rapl:*"))
        if read_text(zone / "name").startswith("package")
    ]
    capacities = [_whole_number(zone / "max_energy_range_uj") for zone in zones]
    capacities_of = {zone / "energy_uj": capacity for zone, capacity in zip(zones, capacities, strict=True) if capacity}
    return capacities_of if len(capacities_of) == len(zones) else {}


def _clocks(processors: list[Path]) -> dict[str, Any]:
    """Governor and clocks in MHz, if known."""
    governors = sorted({text for folder in processors if (text := read_text(folder / "scaling_governor"))})
    kilohertz = [value for folder in processors if (value := _whole_number(folder / "scaling_cur_freq"))]
    clocks: dict[str, Any] = {"cpu_governor": ", ".join(governors)} if governors else {}
    if kilohertz:
        clocks |= {"cpu_mhz_mean": sum(kilohertz) / len(kilohertz) / 1e3, "cpu_mhz_min": min(kilohertz) / 1e3}
    return clocks


def _whole_number(path: Path) -> int | None:
    text = read_text(path)
    return int(text) if text.isdecimal() else None


def _load(root: Path) -> float | None:
    try:
        return float(read_text(root / "proc/loadavg").split()[0])
    except (IndexError, ValueError):
        return None


def busy_seconds(root: Path) -> tuple[float, float] | None:
    """Return the busy seconds of all processors, and of this process with its living children; None if unknown."""
    first_line = read_text(root / "proc/stat").partition("\n")[0]
    if not first_line.startswith("cpu ") or not hasattr(os, "sysconf"):
        return None
    user, nice, system, _idle, _waiting, *interrupts = map(int, first_line.split()[1:9])
    ticks = os.sysconf("SC_CLK_TCK")
    own = os.times()
    own_s = own.user + own.system + own.children_user + own.children_system
    children_s = sum(_process_ticks(root, child) for child in _children(root, os.getpid())) / ticks
    return (user + nice + system + sum(interrupts)) / ticks, own_s + children_s


def _children(root: Path, process: int) -> list[int]:
    """Return the numbers of all living descendants of a process."""
    found: list[int] = []
    for listed in (root / f"proc/{process}/task").glob("*/children"):
        for child in map(int, read_text(listed).split()):
            found += [child, *_children(root, child)]
    return found


def _process_ticks(root: Path, process: int) -> int:
    # The name, in brackets, may have spaces; user and system time are the 14th and 15th fields of proc(5).
    fields = read_text(root / f"proc/{process}/stat").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0
