"""Launches that repeat an earlier one are not bound again, and do what they would do if they were."""

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from backends.launch_cache import MAX_LAUNCHES
from core.errors import LaunchRefused
from core.lang import Array, Const, Generic, Row, Rows, bundle, i32, kernel, u8, u64
from core.lang.bundles import placed
from tests.backends import kernels
from tests.backends.test_conformance import INTEGERS, of_all_types

T = Generic("T")


@kernel
def store(amount: T, twice: Const[i32], values: Array[T]):
    values[0] = values[0] + amount
    if twice != 0:
        values[0] = values[0] + amount


@bundle
class Inner:
    weights: Array[i32]
    offset: i32


@bundle
class Walk:
    steps: Array[i32] = Row("n")
    inner: Inner
    n: i32
    pace: i32


@bundle
class Settings:
    twice: Const[i32]


@kernel
def store_as(settings: Settings, values: Array[i32]):
    values[0] = values[0] + 1
    if settings.twice != 0:
        values[0] = values[0] + 1


@kernel
def stroll(walks: Rows[Walk], scale: i32):
    for w in range(walks.count):
        walk = walks[w]
        for k in range(walk.n):
            walk.steps[k] = scale * (walk.pace + walk.inner.offset) + walk.inner.weights[0] + walks.count


@pytest.fixture
def bound(backend, monkeypatch):
    calls = []
    bind = backend.bind

    def counted(*arguments):
        calls.append(arguments)
        return bind(*arguments)

    monkeypatch.setattr(backend, "bind", counted)
    return calls


def walks_of(backend, rows=2, n=3, pace=1, weight=5, offset=0):
    inner = backend.load(Inner(np.full(1, weight, np.int32), offset))
    return backend.rows(Walk(None, inner, n, pace), rows)


def strolled(backend, walks, scale):
    backend.launch(stroll, 1, 1, walks, scale)
    return backend.download(walks.steps).tolist()


def test_a_repeated_launch_is_bound_twice_at_most(backend, bound):
    for walks in (walks_of(backend), walks_of(backend)):
        bound.clear()
        assert [strolled(backend, walks, scale)[0] for scale in (1, 2, 3, 4)] == [8, 9, 10, 11]
        assert len(bound) == (2 if backend.packs else 4)


def test_a_number_that_does_not_fit_is_refused_the_second_time_too(backend):
    types = (*INTEGERS, np.float32, np.float64)
    arrays, right = [backend.upload(np.zeros(4, t)) for t in types], [*of_all_types(1), 4]
    for _ in range(3):
        backend.launch(kernels.elements, 1, 1, *arrays, *right)
    before = [backend.download(array).tolist() for array in arrays]
    for place in range(11):
        huge = {8: 1e39, 9: 10**400}.get(place, 2**64)
        for wrong in (huge, -1 if 4 <= place < 8 else None, "1", [1]):
            arguments = [*right[:place], wrong, *right[place + 1 :]]
            with pytest.raises(LaunchRefused, match="elements: argument .* does not fit"):
                backend.launch(kernels.elements, 1, 1, *arrays, *arguments)
    with pytest.raises(LaunchRefused, match="a launch needs at least one"):
        backend.launch(kernels.elements, 0, 1, *arrays, *right)
    assert [backend.download(array).tolist() for array in arrays] == before


def test_a_constant_of_another_value_or_type_is_another_launch(backend):
    values = backend.upload(np.zeros(1, np.int32))
    for twice in 3 * (0, 1, True, False, 0):
        backend.launch(store_as, 1, 1, Settings(twice), values)
    assert backend.download(values).tolist() == [21]
    for wrong in (1.0, None, [1], 2**31):
        with pytest.raises(LaunchRefused, match=r"argument settings\.twice is i32; .* does not fit"):
            backend.launch(store_as, 1, 1, Settings(wrong), values)
    for same_number in (u8(1), u64(1), np.int64(1)):
        backend.launch(store_as, 1, 1, Settings(same_number), values)
    assert backend.download(values).tolist() == [27]


def test_a_generic_number_has_the_type_of_this_launch(backend):
    for dtype, amount, stored in (
        (np.int32, 3, 6),
        (np.float32, 1.5, 3.0),
        (np.int32, -1, -2),
        (np.float32, -np.inf, -np.inf),
    ):
        values = backend.upload(np.zeros(1, dtype))
        backend.launch(store, 1, 1, amount, 1, values)
        assert backend.download(values).tolist() == [stored]


def test_what_a_bundle_says_now_counts(backend, bound):
    walks = walks_of(backend)
    for _ in range(3):
        assert strolled(backend, walks, 1) == [8] * 6
    walks.bundle.pace = 4
    for _ in range(3):
        assert strolled(backend, walks, 1) == [11] * 6
    walks.bundle.inner.offset = 10
    assert strolled(backend, walks, 2) == [35] * 6
    walks.bundle.inner.weights = backend.upload(np.full(1, 100, np.int32))
    for _ in range(3):
        assert strolled(backend, walks, 2) == [130] * 6
    walks.bundle.inner = placed(walks.bundle.inner, "readonly")
    bound.clear()
    for _ in range(3):
        assert strolled(backend, walks, 1) == [116] * 6
    assert bound  # tables are another program


def test_a_buffer_is_not_taken_for_one_that_is_gone(backend):
    """A new buffer is often stored where another was just freed."""
    for k in range(20):
        walks = walks_of(backend, weight=k)
        for _ in range(3):
            assert strolled(backend, walks, 0) == [k + 2] * 6


def test_only_so_many_launches_are_kept():
    backend = CpuBackend(CpuBackend.devices()[0])
    for k in range(MAX_LAUNCHES + 10):
        values = backend.upload(np.full(1, k, np.int32))
        for _ in range(3):
            backend.launch(store, 1, 1, 1, 0, values)
        assert backend.download(values).tolist() == [k + 3]
    (reader,) = backend.launch_cache.readers[store].values()
    assert len(reader.kept) == 10
