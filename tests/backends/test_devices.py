"""Selection of a device by its index or a part of one name."""

import pytest

import backends
from backends.cpu_info import limit_cores
from backends.device import DeviceInfo
from backends.opencl.backend import OpenClBackend
from core.errors import LaunchRefused
from tests.backends import kernels


def machine(*names):
    return [DeviceInfo(str(k), name, "driver", 1 << 30, 1, "gpu") for k, name in enumerate(names)]


EIGHT = machine(*["NVIDIA A100-SXM4-80GB"] * 8)
TWO = machine("NVIDIA H200", "NVIDIA H200 NVL")


def test_digits_are_an_index_and_nothing_else():
    assert [backends.named_device("cuda", EIGHT, str(k)) for k in range(8)] == EIGHT
    with pytest.raises(backends.Unavailable, match="cuda has no device '80'; there are 0: NVIDIA"):
        backends.named_device("cuda", EIGHT, "80")


def test_a_part_of_one_name_or_a_whole_name_is_that_device():
    assert [backends.named_device("cuda", TWO, name) for name in ("nvidia h200", "nvl")] == TWO


@pytest.mark.parametrize(("devices", "name"), [(EIGHT, "A100"), (TWO, "nvidia"), (EIGHT, "nvidia a100-sxm4-80gb")])
def test_a_part_of_several_names_is_refused_with_the_list(devices, name):
    with pytest.raises(backends.Unavailable) as caught:
        backends.named_device("cuda", devices, name)
    listed = "; ".join(f"{d.index}: {d.name}" for d in devices)
    assert str(caught.value) == f"cuda has {len(devices)} devices {name!r}; give the index of one: {listed}"


@pytest.mark.parametrize("name", ["", "teapot", "-1", "²"])
def test_a_name_of_no_device_is_refused_with_those_that_exist(name):
    with pytest.raises(backends.Unavailable, match="has no device .*; there are 0: NVIDIA H200; 1: NVIDIA H200 NVL"):
        backends.named_device("cuda", TWO, name)


# --- a part of a processor ---

PROCESSOR = DeviceInfo("0", "Test CPU", "Linux", 1 << 30, 16, "cores")


def test_a_processor_that_is_used_in_part_says_so_by_its_name():
    part = limit_cores(PROCESSOR, 4)
    assert (part.compute_units, part.part, part.name) == (4, "4 of 16 cores", "Test CPU, 4 of 16 cores")
    assert part.index == PROCESSOR.index


@pytest.mark.parametrize("cores", [0, 17])
def test_more_cores_than_there_are_is_one_line(cores):
    with pytest.raises(backends.Unavailable, match=f"^--cores {cores}: found 16 cores for this process, expected 1 to"):
        limit_cores(PROCESSOR, cores)


@pytest.mark.parametrize("name", ["threads", "joblib"])
def test_as_many_workers_run_as_cores_are_asked_for(name, monkeypatch):
    monkeypatch.setattr("backends.cpu_info.available_cores", lambda: 3)
    backend = backends.create(name, "0", cores=2)
    assert backend.workers == backend.device.compute_units == backend.capabilities.compute_units == 2
    assert backend.device.part == "2 of 3 cores"
    backend.close()


def test_a_backend_of_one_core_refuses_a_number_of_cores():
    with pytest.raises(backends.Unavailable, match="^--cores 2 with cpu: expected it with threads or joblib$"):
        backends.create("cpu", cores=2)


# --- teams of several lanes on a processor ---


def test_a_team_of_several_lanes_on_a_core_is_refused_with_the_devices_that_run_it():
    device = backends.create("cpu")
    with pytest.raises(LaunchRefused, match=r"1 to 1 \(larger ones: --backend opencl --device 0:teams, or python\)$"):
        device.launch(kernels.ring, 1, 2)
    with pytest.raises(backends.Unavailable, match="^cpu has no teams of several lanes on request: expected opencl on"):
        backends.create("cpu", "0:teams")


def test_a_processor_of_opencl_runs_teams_on_request_but_not_by_a_driver_known_to_be_wrong():
    intel = PROCESSOR._replace(driver="Intel(R) OpenCL 2026")
    device = OpenClBackend.with_teams(intel)
    assert (device.name, device.has_teams) == ("Test CPU, teams of lanes", True)
    assert OpenClBackend.with_teams(TWO[0]) == TWO[0]
    with pytest.raises(
        backends.Unavailable, match=r"3\.0 is sometimes wrong with teams .* 'onekernel\[opencl-intel\]'"
    ):
        OpenClBackend.with_teams(PROCESSOR._replace(driver="Portable Computing Language 3.0"))
