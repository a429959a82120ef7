"""Refused launches and copies: arguments that a device would cut, repeat or mix up."""

import numpy as np
import pytest

from backends.python import PythonBackend
from core.errors import LaunchRefused, TeamTooLarge
from core.lang import Array, Generic, i32, kernel, lane, team_size

T = Generic("T")


@kernel
def nobody_says_which(amount: T, values: Array[i32]):
    values[0] = i32(amount)


def test_a_generic_number_that_no_array_gives_a_type_is_refused(cpu):
    values = cpu.upload(np.zeros(1, np.int32))
    with pytest.raises(LaunchRefused, match="nobody_says_which: argument amount is T, which no array gives a type"):
        cpu.launch(nobody_says_which, 1, 1, 3, values)


@pytest.mark.parametrize(
    "host",
    [np.array([1, 2, 3], np.int64), np.array([1, 2, 3], np.uint32), np.array([7], np.int32), np.arange(4, dtype=np.int32)],
    ids=["wider", "other sign", "one element", "too many"],
)  # fmt: skip
def test_a_write_of_another_size_or_dtype_is_refused(cpu, host):
    buffer = cpu.upload(np.array([4, 5, 6], np.int32))
    with pytest.raises(LaunchRefused, match=f"{host.size} elements of {host.dtype} for a buffer of 3 of int32"):
        cpu.write(buffer, host)
    assert cpu.download(buffer).tolist() == [4, 5, 6]


@pytest.mark.parametrize(("start", "count"), [(-1, 2), (2, 2), (1, -1)])
def test_elements_that_a_buffer_has_not_are_not_read(cpu, start, count):
    buffer = cpu.upload(np.arange(3, dtype=np.int32))
    with pytest.raises(LaunchRefused, match=f"{count} elements from {start} on, of a buffer of 3"):
        cpu.stream_out(buffer, start, count, np.zeros(max(count, 0), np.int32))
    for host in (np.zeros(3, np.int32), np.zeros(2, np.int64)):
        with pytest.raises(LaunchRefused, match="2 elements of int32 for"):
            cpu.stream_out(buffer, 1, 2, host)


# --- teams that a kernel's registers allow ---


@kernel
def lanes_of(values: Array[i32]):
    values[lane()] = team_size()


@pytest.fixture
def few_registers():
    backend = PythonBackend(PythonBackend.devices()[0])
    backend.most_lanes = lambda executable: 100
    return backend


def test_a_team_that_a_kernel_needs_too_many_registers_for_is_refused_each_time(few_registers):
    values = few_registers.upload(np.zeros(1024, np.int32))
    for _ in range(2):
        with pytest.raises(TeamTooLarge, match="^python: lanes_of runs teams of 1 to 100 lanes here, not 101$"):
            few_registers.launch(lanes_of, 1, 101, values)


@pytest.mark.parametrize(("wanted", "lanes"), [(100, 100), (101, 51), (1000, 63), (5000, 64)])
def test_the_largest_team_of_a_kernel_is_the_wanted_one_or_that_halved_until_it_runs(few_registers, wanted, lanes):
    values = few_registers.upload(np.zeros(1024, np.int32))
    assert few_registers.largest_team(lanes_of, wanted, values) == lanes
    with pytest.raises(LaunchRefused, match="must be a Buffer"):  # no reason for smaller teams
        few_registers.largest_team(lanes_of, wanted, 3)


def test_every_device_runs_the_largest_team_that_it_says_a_kernel_has(backend):
    values = backend.upload(np.zeros(1024, np.int32))
    lanes = backend.largest_team(lanes_of, 1024, values)
    assert 1 <= lanes <= backend.capabilities.max_team_size
    for count in (lanes, i32(lanes)):  # typed numbers mean plain ones
        backend.launch(lanes_of, i32(1), count, values)
        assert backend.download(values)[:lanes].tolist() == [lanes] * lanes
    most = backend.capabilities.max_team_size
    with pytest.raises(LaunchRefused, match=f"team of {most + 1} lanes.* 1 to {most}"):
        backend.launch(lanes_of, 1, most + 1, values)
    assert type(backend.bind(lanes_of, i32(2), i32(1), (values,)).teams) is int
