"""Readings before and after a repetition, from folders like those of Linux and from a made-up NVML."""

import itertools
import os
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from core.granted_cores import EMULATION
from reports.records.meters import GPU_ENERGY, MOST_PROCESSORS, PACKAGE_ENERGY, Meter, others_cores

CAPACITY = 262_143_328_850


def write(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")


def processor(number, megahertz, governor="performance"):
    folder = f"sys/devices/system/cpu/cpu{number}/cpufreq"
    return {f"{folder}/scaling_cur_freq": megahertz * 1000, f"{folder}/scaling_governor": governor}


def package(number, microjoules, name=None, capacity=CAPACITY):
    folder = f"sys/class/powercap/intel-rapl:{number}"
    name = name or f"package-{number}"
    return {f"{folder}/name": name, f"{folder}/energy_uj": microjoules, f"{folder}/max_energy_range_uj": capacity}


class RefusedError(Exception):
    """Error raised by the made-up NVML."""


def made_up_nvml(reasons=(1, 1), refused=(), name="Test GPU"):
    """A module like `pynvml` with one GPU that uses 250 joules between two readings; `asked` has the queries."""
    reasons, joules, asked = list(reasons), itertools.count(1_000_000, 250_000), []

    def handle_of(number):
        asked.append(number)
        return "handle"

    def refuse(*arguments):
        raise RefusedError

    functions = {
        "Init": lambda: None,
        "DeviceGetHandleByIndex": handle_of,
        "DeviceGetHandleByUUID": handle_of,
        "DeviceGetUUID": lambda handle: f"GPU-of-{handle}",
        "DeviceGetName": lambda handle: name,
        "DeviceGetTotalEnergyConsumption": lambda handle: next(joules),
        "DeviceGetCurrentClocksEventReasons": lambda handle: reasons.pop(0),
        "DeviceGetClockInfo": lambda handle, clock: {"sm": 1755}[clock],
        "DeviceGetMaxClockInfo": lambda handle, clock: {"sm": 1980}[clock],
        "DeviceGetTemperature": lambda handle, sensor: {"core": 61}[sensor],
    }
    functions |= dict.fromkeys(refused, refuse)
    bits = {"GpuIdle": 1, "SwPowerCap": 4, "HwThermalSlowdown": 64}
    constants = {f"nvmlClocksEventReason{reason}": bit for reason, bit in bits.items()}
    constants |= {"NVML_CLOCK_SM": "sm", "NVML_TEMPERATURE_GPU": "core", "NVMLError": RefusedError}
    return SimpleNamespace(asked=asked, **{f"nvml{name}": one for name, one in functions.items()}, **constants)


def meter_in(root, kind="cores", seconds=2.0, nvml=None, **options):
    """A meter of a made-up machine, and a clock on which every repetition takes ``seconds`` seconds."""
    clock = itertools.count()
    return Meter(kind, options.pop("index", "0"), root=root, nvml=nvml, clock=lambda: next(clock) * seconds, **options)


def measured(meter, during=lambda: None):
    with meter:
        during()
    return meter.values


def gpu(root, nvml, index="0", **options):
    return measured(meter_in(root, "gpu", nvml=nvml, index=index, **options))


def test_a_machine_that_says_nothing_gives_the_date_alone(tmp_path):
    values = measured(Meter("core", "0", root=tmp_path))
    began = datetime.strptime(values.pop("started_at"), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - began).total_seconds()) < 5
    assert values == {"conditions": None, "energy_j": None, "energy_update_s": None}


def test_load_is_that_before_and_clocks_are_those_after(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0})
    write(tmp_path, {"proc/loadavg": "0.25 1.5 2.5 2/90 26705"} | processor(0, 1200, "powersave"))

    def run():
        write(tmp_path, {"proc/loadavg": "9.0 1.5 2.5 2/90 26705"} | processor(0, 3100, "powersave"))

    clocks = {"cpu_mhz_mean": 3100.0, "cpu_mhz_min": 3100.0}
    conditions = measured(Meter("core", "0", root=tmp_path), run)["conditions"]
    assert conditions == {"load_1min": 0.25, "cpu_mhz_before": 1200.0, "cpu_governor": "powersave"} | clocks


def test_clocks_of_several_processors_are_averaged_and_unlike_governors_are_all_named(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 2, 7})
    write(tmp_path, processor(0, 3000) | processor(1, 2000, "powersave") | processor(2, 1000))
    clocks = {"cpu_mhz_before": 2000.0, "cpu_mhz_mean": 2000.0, "cpu_mhz_min": 1000.0}
    conditions = measured(Meter("cores", "0", root=tmp_path))["conditions"]
    assert conditions == {"cpu_governor": "performance, powersave"} | clocks


def test_of_very_many_processors_some_from_everywhere_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(200)))
    for number in range(200):
        write(tmp_path, processor(number, 1000 + number))
    conditions = measured(Meter("cores", "0", root=tmp_path))["conditions"]
    assert conditions["cpu_mhz_min"] == 1000.0
    assert abs(conditions["cpu_mhz_mean"] - 1099.5) < 200 / MOST_PROCESSORS


def test_joules_of_all_packages_are_added_and_those_of_their_parts_are_not(tmp_path):
    write(tmp_path, package(0, 1_000_000) | package(1, 5_000_000))
    write(tmp_path, package("0:0", 7, "core") | package("0:1", 7, "dram") | package(2, 7, "psys"))
    meter = meter_in(tmp_path)
    after = package(0, 3_500_000) | package(1, 5_500_000) | package("0:0", 9_000_000, "core")
    energy = measured(meter, lambda: write(tmp_path, after))["energy_j"]
    assert energy == {PACKAGE_ENERGY: 3.0}
    assert meter.values["energy_update_s"] == {PACKAGE_ENERGY: 0.001}


def test_the_load_of_others_is_that_of_all_processors_without_this_process_and_its_children(tmp_path, monkeypatch):
    """Fields of proc(5): jiffies in user, nice, system, idle, iowait, irq, softirq and steal."""
    monkeypatch.setattr("os.sysconf", lambda name: 100)
    monkeypatch.setenv(EMULATION, "cow 2 1 the machine")
    own, folder = iter([3.0, 4.0]), f"proc/{os.getpid()}/task"
    rest = dict.fromkeys(("system", "children_user", "children_system"), 0)
    monkeypatch.setattr("os.times", lambda: SimpleNamespace(user=next(own), **rest))
    child = "77 (a b) S 1 1 1 0 -1 0 0 0 0 0 {} 50 0 0"
    before = {f"{folder}/1/children": "77 ", "proc/77/stat": child.format(0)}
    write(tmp_path, before | {"proc/stat": "cpu 1000 0 0 9 9 0 0 0 0 0"})
    meter = meter_in(tmp_path)
    after = {"proc/stat": "cpu 1400 0 100 999 99 0 0 200 0 0\ncpu0 7", "proc/77/stat": child.format(50)}
    measured(meter, lambda: write(tmp_path, after))
    spent = meter.processor_s
    assert spent == ("the machine", 7.0, 1.5, 2.0)
    assert others_cores([spent]) == 2.75
    assert others_cores([spent, spent._replace(own_s=2.0), spent._replace(host="elsewhere")]) == 1.75
    assert others_cores([spent._replace(lasted_s=0.1)]) is None and others_cores([None]) is None


def test_a_counter_of_joules_that_begins_again_is_taken_for_what_it_counted(tmp_path):
    write(tmp_path, package(0, CAPACITY - 1_000_000))
    values = measured(meter_in(tmp_path), lambda: write(tmp_path, package(0, 2_000_000)))
    assert values["energy_j"] == {PACKAGE_ENERGY: 3.0}


@pytest.mark.parametrize(("seconds", "recorded"), [(0.009, False), (0.011, True), (430.0, True), (440.0, False)])
def test_a_counter_is_read_over_times_that_it_resolves_and_in_which_600_watts_do_not_fill_it(
    tmp_path, seconds, recorded
):
    """Unknown values are absent from the record, not 0."""
    write(tmp_path, package(0, 1))
    energy = measured(meter_in(tmp_path, seconds=seconds), lambda: write(tmp_path, package(0, 1_000_001)))["energy_j"]
    assert energy == ({PACKAGE_ENERGY: 1.0} if recorded else None)


def test_short_repetitions_have_no_joules_of_a_gpu_but_in_a_series_from_end_to_end(tmp_path):
    """The made-up GPU uses 250 J between two readings; in a series a repetition begins with the reading before."""
    nvml = made_up_nvml(reasons=[1] * 12)
    meter = meter_in(tmp_path, "gpu", seconds=0.3, nvml=nvml)
    assert measured(meter)["energy_j"] is None
    meter.in_series = True
    energy = [measured(meter)["energy_j"] for _ in range(4)]
    assert energy == [{GPU_ENERGY: 250.0}] * 4 and meter.values["energy_update_s"] == {GPU_ENERGY: 0.1}
    assert nvml.nvmlDeviceGetTotalEnergyConsumption("handle") == 1_000_000 + (2 + 1 + 4) * 250_000, "seven readings"
    meter.in_series = False
    assert measured(meter)["energy_j"] is None


@pytest.mark.parametrize(
    ("missing", "content"),
    [("energy_uj", None), ("energy_uj", ""), ("max_energy_range_uj", "many"), ("max_energy_range_uj", "-5")],
)
def test_a_package_that_cannot_be_read_leaves_the_sum_out(tmp_path, missing, content):
    write(tmp_path, package(0, 1_000_000) | package(1, 1_000_000))
    path = tmp_path / "sys/class/powercap/intel-rapl:1" / missing
    path.unlink()
    if content is not None:
        path.write_text(content)
    assert measured(meter_in(tmp_path))["energy_j"] is None


def test_a_gpu_says_clocks_temperature_joules_and_what_throttled_before_or_after(tmp_path):
    values = gpu(tmp_path, made_up_nvml())
    assert values["energy_j"] == {GPU_ENERGY: 250.0}
    clocks = {"gpu_mhz_before": 1755, "gpu_mhz": 1755, "gpu_mhz_max": 1980}
    assert values["conditions"] == clocks | {"gpu_temperature_c": 61, "throttled": False, "throttled_by": []}
    slowed = gpu(tmp_path, made_up_nvml(reasons=[4, 64 + 1]))["conditions"]
    assert (slowed["throttled"], slowed["throttled_by"]) == (True, ["power limit", "temperature, by hardware"])


def test_a_driver_that_knows_only_the_older_question_is_asked_that(tmp_path):
    nvml = made_up_nvml(refused=["DeviceGetCurrentClocksEventReasons"])
    nvml.nvmlDeviceGetCurrentClocksThrottleReasons = lambda handle: 4
    nvml.nvmlClocksThrottleReasonSwPowerCap = 4
    assert gpu(tmp_path, nvml)["conditions"]["throttled_by"] == ["power limit"]


@pytest.mark.parametrize(
    ("refused", "absent"),
    [
        ("DeviceGetClockInfo", ["gpu_mhz", "gpu_mhz_before"]),
        ("DeviceGetMaxClockInfo", ["gpu_mhz_max"]),
        ("DeviceGetTemperature", ["gpu_temperature_c"]),
        ("DeviceGetCurrentClocksEventReasons", ["throttled", "throttled_by"]),
    ],
)
def test_what_a_gpu_refuses_to_say_is_absent_and_the_rest_is_there(tmp_path, refused, absent):
    everything = gpu(tmp_path, made_up_nvml())["conditions"]
    values = gpu(tmp_path, made_up_nvml(refused=[refused, "DeviceGetTotalEnergyConsumption"]))
    assert values["energy_j"] is None, "and not 0"
    assert values["conditions"] == {name: value for name, value in everything.items() if name not in absent}


@pytest.mark.parametrize("refused", ["Init", "DeviceGetHandleByIndex", "DeviceGetName"])
def test_without_nvidias_driver_a_gpu_says_nothing(tmp_path, refused):
    values = gpu(tmp_path, made_up_nvml(refused=[refused]))
    assert (values["conditions"], values["energy_j"]) == (None, None)


def test_another_gpu_than_the_one_that_ran_is_not_read(tmp_path):
    assert gpu(tmp_path, made_up_nvml(), device_name="Test GPU")["energy_j"] == {GPU_ENERGY: 250.0}
    assert gpu(tmp_path, made_up_nvml(name="Other GPU"), device_name="Test GPU")["energy_j"] is None
    assert gpu(tmp_path, made_up_nvml(name=b"Test GPU"), device_name="Test GPU")["energy_j"] == {GPU_ENERGY: 250.0}


@pytest.mark.parametrize(
    ("visible", "index", "asked"),
    [("", "1", 1), ("3, 1", "0", 3), ("GPU-5d6e,2", "0", "GPU-5d6e"), ("3", "GPU-77", "GPU-77")],
)
def test_a_gpu_has_the_number_that_cuda_gave_it(tmp_path, monkeypatch, visible, index, asked):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    nvml = made_up_nvml()
    gpu(tmp_path, nvml, index)
    assert nvml.asked == [asked]


def test_a_meter_measures_repetition_after_repetition_and_fills_a_sample(tmp_path, make_record):
    write(tmp_path, {"proc/loadavg": "0.5 0 0 1/1 1"} | package(0, 0))
    meter = meter_in(tmp_path, "gpu", nvml=made_up_nvml(reasons=[1] * 4))
    first = measured(meter, lambda: write(tmp_path, package(0, 2_000_000)))
    second = measured(meter, lambda: write(tmp_path, package(0, 7_000_000)))
    assert first["energy_j"] == {GPU_ENERGY: 250.0, PACKAGE_ENERGY: 2.0}
    assert second["energy_j"] == {GPU_ENERGY: 250.0, PACKAGE_ENERGY: 5.0}
    assert make_record(sampled=second).repetitions[0].conditions["load_1min"] == 0.5
    core = made_up_nvml()
    measured(meter_in(tmp_path, "cores", nvml=core))
    assert core.asked == [], "no GPU is asked where a core ran"


def test_a_repetition_that_fails_fails_as_before(tmp_path):
    with pytest.raises(ZeroDivisionError), Meter("core", "0", root=tmp_path):
        raise ZeroDivisionError
