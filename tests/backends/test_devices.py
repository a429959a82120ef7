"""Which device a user means: an index is an index, a part of a name names one device or is refused."""

import pytest

import backends
from backends.base import DeviceInfo


def machine(*names):
    """Devices of these names, numbered from 0."""
    return [DeviceInfo(str(k), name, "driver", 1 << 30, 1, "gpu") for k, name in enumerate(names)]


EIGHT = machine(*["NVIDIA A100-SXM4-80GB"] * 8)
TWO = machine("NVIDIA H200", "NVIDIA H200 NVL")


@pytest.mark.parametrize("found", [EIGHT, TWO, EIGHT[:2]], ids=["eight alike", "two", "two alike"])
def test_digits_are_an_index_and_nothing_else(found):
    assert [backends.named_device("cuda", found, str(k)) for k in range(len(found))] == found
    with pytest.raises(backends.Unavailable, match="cuda has no device '80'; there are 0: NVIDIA"):
        backends.named_device("cuda", found, "80")


def test_a_part_of_one_name_is_that_device():
    assert backends.named_device("cuda", TWO, "nvl") is TWO[1]
    assert backends.named_device("opencl", machine("NVIDIA H200", "pthread-AMD EPYC"), "epyc").index == "1"


def test_a_whole_name_is_that_device_though_another_contains_it():
    assert backends.named_device("cuda", TWO, "nvidia h200") is TWO[0]


@pytest.mark.parametrize(("found", "name"), [(EIGHT, "A100"), (TWO, "nvidia"), (EIGHT, "nvidia a100-sxm4-80gb")])
def test_a_part_of_several_names_is_refused_with_the_list(found, name):
    with pytest.raises(backends.Unavailable) as caught:
        backends.named_device("cuda", found, name)
    listed = "; ".join(f"{d.index}: {d.name}" for d in found)
    assert str(caught.value) == f"cuda has {len(found)} devices {name!r}; give the index of one: {listed}"


@pytest.mark.parametrize("name", ["", "teapot", "-1", "²"])
def test_a_name_of_no_device_is_refused_with_those_that_exist(name):
    with pytest.raises(backends.Unavailable, match="has no device .*; there are 0: NVIDIA H200; 1: NVIDIA H200 NVL"):
        backends.named_device("cuda", TWO, name)
