"""What a launch and a copy refuse, on every backend: arguments that a device would cut, repeat or mix up."""

import numpy as np
import pytest

from backends.python import PythonBackend
from core.errors import LaunchRefused, TeamTooLarge
from core.lang import Array, Const, Generic, f32, i32, kernel, lane, team_rank, team_size

T = Generic("T")


@kernel
def add_to_all(amount: T, values: Array[T], n: i32):
    for i in range(n):
        values[i] = values[i] + amount


@kernel
def copied(source: Array[i32], target: Array[i32], n: i32):
    for i in range(n):
        target[i] = source[i] + team_rank()


@kernel
def scaled(values: Array[f32], factor: f32, twice: Const[i32]):
    values[0] = values[0] * factor
    if twice != 0:
        values[0] = values[0] * factor


@kernel
def nobody_says_which(amount: T, values: Array[i32]):
    values[0] = i32(amount)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32])
def test_a_generic_number_may_stand_before_the_array_that_gives_its_type(backend, dtype):
    values = backend.upload(np.arange(3, dtype=dtype))
    backend.launch(add_to_all, 1, 1, 4, values, 3)
    assert backend.download(values).tolist() == [4, 5, 6]


def test_a_generic_number_that_no_array_gives_a_type_is_refused(backend):
    values = backend.upload(np.zeros(1, np.int32))
    with pytest.raises(LaunchRefused, match="nobody_says_which: argument amount is T, which no array gives a type"):
        backend.launch(nobody_says_which, 1, 1, 3, values)


def test_the_same_buffer_twice_in_a_launch_is_refused(backend):
    values = backend.upload(np.arange(4, dtype=np.int32))
    with pytest.raises(LaunchRefused, match="copied: arguments source and target are the same buffer"):
        backend.launch(copied, 1, 1, values, values, 4)
    with pytest.raises(LaunchRefused, match="are the same buffer"), backend.record():
        backend.launch(copied, 1, 1, values, values, 4)
    assert backend.download(values).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "host",
    [
        np.array([1.5, 2.5, 3.5]),
        np.array([1, 2, 3], np.int64),
        np.array([1, 2, 3], np.uint32),
        np.array([7], np.int32),
        np.array([1, 2], np.int32),
        np.arange(4, dtype=np.int32),
    ],
    ids=["floats", "wider", "other sign", "one element", "too few", "too many"],
)
def test_a_write_of_another_size_or_dtype_is_refused(backend, host):
    buffer = backend.upload(np.array([4, 5, 6], np.int32))
    with pytest.raises(LaunchRefused, match=f"{host.size} elements of {host.dtype} for a buffer of 3 of int32"):
        backend.write(buffer, host)
    assert backend.download(buffer).tolist() == [4, 5, 6]


def test_a_write_takes_any_layout_of_the_same_numbers(backend):
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    buffer = backend.upload(table)
    backend.write(buffer, table.T)
    assert backend.download(buffer).tolist() == [[0, 3, 1], [4, 2, 5]]


@pytest.mark.parametrize(("start", "count"), [(-1, 2), (2, 2), (0, 4), (4, 0), (1, -1)])
def test_elements_that_a_buffer_has_not_are_not_read(backend, start, count):
    buffer = backend.upload(np.arange(3, dtype=np.int32))
    with pytest.raises(LaunchRefused, match=f"{count} elements from {start} on, of a buffer of 3"):
        backend.stream_out(buffer, start, count, np.zeros(max(count, 0), np.int32))


def test_elements_are_read_into_memory_of_their_size_and_dtype_only(backend):
    buffer = backend.upload(np.arange(3, dtype=np.int32))
    for host in (np.zeros(3, np.int32), np.zeros(2, np.int64), np.zeros(1, np.int32)):
        with pytest.raises(LaunchRefused, match="2 elements of int32 for"):
            backend.stream_out(buffer, 1, 2, host)
    assert backend.read(buffer, 1, 2).tolist() == [1, 2]


@pytest.mark.parametrize("factor", [None, "2", 1e39, -(10**400), [2.0]], ids=["none", "text", "1e39", "huge", "list"])
def test_a_float_argument_that_is_no_such_number_is_refused(backend, factor):
    with pytest.raises(LaunchRefused, match="scaled: argument factor is f32; .* does not fit"):
        backend.launch(scaled, 1, 1, backend.upload(np.ones(1, np.float32)), factor, 0)


@pytest.mark.parametrize("twice", [None, 1.0, 2**31, "1"])
def test_a_constant_that_is_no_such_number_is_refused(backend, twice):
    with pytest.raises(LaunchRefused, match="scaled: argument twice is i32; .* does not fit"):
        backend.launch(scaled, 1, 1, backend.upload(np.ones(1, np.float32)), 2.0, twice)


def test_infinities_are_floats(backend):
    values = backend.upload(np.ones(1, np.float32))
    backend.launch(scaled, 1, 1, values, -np.inf, 1)
    assert backend.download(values).tolist() == [np.inf]


# --- teams that a kernel's registers allow ---


@kernel
def lanes_of(values: Array[i32]):
    values[lane()] = team_size()


@pytest.fixture
def few_registers():
    """A device whose largest team has 1,024 lanes, of which no kernel has more than 100."""
    made = PythonBackend(PythonBackend.devices()[0])
    made.most_lanes = lambda executable: 100
    return made


def test_a_team_that_a_kernel_needs_too_many_registers_for_is_refused_each_time(few_registers):
    values = few_registers.upload(np.zeros(1024, np.int32))
    for _ in range(2):
        with pytest.raises(TeamTooLarge, match="^python: lanes_of runs teams of 1 to 100 lanes here, not 101$"):
            few_registers.launch(lanes_of, 1, 101, values)


@pytest.mark.parametrize(("wanted", "found"), [(1, 1), (100, 100), (101, 51), (1000, 63), (1024, 64), (5000, 64)])
def test_the_largest_team_of_a_kernel_is_the_wanted_one_or_that_halved_until_it_runs(few_registers, wanted, found):
    values = few_registers.upload(np.zeros(1024, np.int32))
    lanes = few_registers.largest_team(lanes_of, wanted, values)
    assert lanes == found
    few_registers.launch(lanes_of, 1, lanes, values)
    assert few_registers.download(values)[:lanes].tolist() == [lanes] * lanes


def test_every_device_runs_the_largest_team_that_it_says_a_kernel_has(backend):
    values = backend.upload(np.zeros(1024, np.int32))
    lanes = backend.largest_team(lanes_of, 1024, values)
    assert 1 <= lanes <= backend.capabilities.max_team_size
    backend.launch(lanes_of, 1, lanes, values)
    assert backend.download(values)[:lanes].tolist() == [lanes] * lanes


def test_an_argument_that_does_not_fit_is_no_reason_for_smaller_teams(few_registers):
    with pytest.raises(LaunchRefused, match="must be a Buffer"):
        few_registers.largest_team(lanes_of, 1024, 3)


@kernel
def numbered(values: Array[i32]):
    values[team_rank() * team_size() + lane()] = team_size()


def test_typed_numbers_of_teams_and_lanes_mean_plain_ones(backend):
    lanes = max(size for size in (1, 2, 4) if size <= backend.capabilities.max_team_size)
    values = backend.upload(np.zeros(2 * lanes, np.int32))
    for _ in range(2):  # the second launch is one that repeats an earlier one
        backend.launch(numbered, i32(2), i32(lanes), values)
    assert backend.download(values).tolist() == [lanes] * 2 * lanes
    assert type(backend.bind(numbered, i32(2), i32(lanes), (values,)).teams) is int
