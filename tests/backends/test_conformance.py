"""Every backend computes, bit for bit, what plain Python and NumPy compute, at several team sizes."""

import functools

import numpy as np
import pytest

from backends.device import OutOfMemory
from backends.python import PythonBackend
from core.lang.bundles import placed
from tests.backends import kernels
from tests.core.local_search.reference import below, philox, word

TEAM_SIZES = (1, 7, 32, 256)
TEAMS = 3


def wrapped_sum(values):
    return values.sum(dtype=values.dtype)


def numbers(dtype, count, low=None, high=None):
    info = np.iinfo(dtype)
    low, high = (info.min if low is None else low), (info.max if high is None else high)
    return np.random.default_rng(count).integers(low, high, count, dtype=dtype, endpoint=True)


def downloads(backend, *buffers):
    return [backend.download(b) for b in buffers]


# Each case launches one kernel and returns its results and NumPy's.


def reductions(dtype):
    def case(backend, team_size):
        bounds = (-4000, 4000) if dtype is np.int32 else ()
        values = numbers(dtype, TEAMS * team_size, *bounds)
        reduced = backend.allocate(3 * values.size, dtype)
        backend.launch(kernels.reductions, TEAMS, team_size, backend.upload(values), reduced)
        rows = values.reshape(TEAMS, team_size)
        expected = [(wrapped_sum(row), row.min(), row.max()) for row in rows for _ in row]
        return downloads(backend, reduced), [np.array(expected, dtype).reshape(-1)]

    return case


SEED = 0x0123456789ABCDEF
BOUNDS = np.array([1, 2, 3, 7, 1000, 2**31 + 1, 3 * 2**30, 2**32 - 1] * 6, np.uint32)


@functools.cache
def expected_draws():
    assert any(word(SEED, d * 0x100000001, d) * b % 2**32 < 2**32 % b for d, b in enumerate(BOUNDS.tolist())), (
        "no rejection"
    )
    return np.array([below(b, SEED, d * 0x100000001, d) for d, b in enumerate(BOUNDS.tolist())], np.uint32)


def random_numbers(backend, team_size):
    counters, keys = numbers(np.uint32, 12), numbers(np.uint32, 6)
    words, draws = backend.allocate(12, np.uint32), backend.allocate(BOUNDS.size, np.uint32)
    args = (backend.upload(counters), backend.upload(keys), 3, words, backend.upload(BOUNDS), BOUNDS.size, SEED, draws)
    backend.launch(kernels.random_numbers, TEAMS, team_size, *args)
    blocks = zip(counters.reshape(3, 4).tolist(), keys.reshape(3, 2).tolist(), strict=True)
    expected = np.array([philox(counter, key) for counter, key in blocks], np.uint32)
    return downloads(backend, words, draws), [expected.reshape(-1), expected_draws()]


def atomics(dtype, *bounds):
    def updated(some):
        first = some[0]
        return np.array([first + wrapped_sum(some), some.min(), some.max(), first + wrapped_sum(some)], some.dtype)

    def case(backend, team_size):
        values = numbers(dtype, TEAMS * team_size, *bounds)
        everywhere, teams = backend.upload(values[:1].repeat(4)), backend.allocate(4 * TEAMS, dtype)
        ticket, tickets = backend.upload(np.zeros(1, np.uint32)), backend.upload(np.zeros(values.size, np.uint32))
        backend.launch(kernels.atomics, TEAMS, team_size, backend.upload(values), everywhere, teams, ticket, tickets)
        with np.errstate(over="ignore"):
            expected = [updated(values), np.concatenate([updated(row) for row in values.reshape(TEAMS, -1)])]
        expected += [np.array([values.size], np.uint32), np.full(values.size, 2, np.uint32)]
        return downloads(backend, everywhere, teams, ticket, tickets), expected

    return case


def ring(backend, team_size):
    values, rounds = numbers(np.int32, TEAMS * team_size, -1000, 1000), 5
    shifted = backend.allocate(values.size, np.int32)
    backend.launch(kernels.ring, TEAMS, team_size, backend.upload(values), rounds, shifted)
    expected = []
    for row in values.reshape(TEAMS, team_size):
        cells = np.roll(row, -rounds) + sum(range(rounds))
        for left in range(rounds, 0, -1):
            cells[0] += cells[left % team_size]
        expected.append(cells)
    return downloads(backend, shifted), [np.concatenate(expected)]


def collatz(value, most):
    steps = 0
    while value != 1 and steps < most:
        value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
    return steps


def window_numbers(window, power, doubled):
    low, high = min(window), max(window)
    first, last = abs(high) + 1, abs(low) + 1
    return [
        high // 7 + high % 7,
        low // -7 if low != 0 and high // low < 5 else low % -7,
        -1 if first == last else collatz(first, 40) - collatz(last, 400),
        (low % 2**32).bit_count() + 32 - abs(high).bit_length(),
        (high * 65536 * low * 65536) >> 32,
        (high << 3) ^ (low >> 2) | ~high & 0xFF,
        power * sum(v for v in window if v >= 0),
        2 * high if doubled else high,
    ]


def control(backend, team_size):
    doubled, power, windows = team_size != 7, 3 + team_size % 2, 40
    values = numbers(np.int32, windows * kernels.WINDOW, -300, 300)
    values[: kernels.WINDOW] = 0
    ordered, results = backend.allocate(values.size, np.int32), backend.allocate(8 * windows, np.int32)
    backend.launch(kernels.control, TEAMS, team_size, backend.upload(values), windows, doubled, power, ordered, results)
    rows = values.reshape(windows, kernels.WINDOW)
    expected = [window_numbers(row, power, doubled) for row in rows.tolist()]
    return downloads(backend, ordered, results), [np.sort(rows).reshape(-1), np.array(expected, np.int32).reshape(-1)]


def remainders(backend, team_size):
    hosts = []
    for dtype in (np.int32, np.int64):
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        pairs = [(x, by) for x in (low, 0, -1, 7, -8, high) for by in (-1, 1, -3, 4, low, high)]
        hosts += [np.array(numbers, dtype) for numbers in zip(*pairs, strict=True)]
    rests = backend.allocate(3 * len(pairs), np.int64)
    backend.launch(kernels.remainders, TEAMS, team_size, *map(backend.upload, hosts), len(pairs), rests)
    expected = [(x % b, y % d, 5) for x, b, y, d in zip(*(host.tolist() for host in hosts), strict=True)]
    return downloads(backend, rests), [np.array(expected).reshape(-1)]


INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def of_all_types(bound):
    """Scalars at the lower or the upper bound of their types."""
    limits = [(int(np.iinfo(t).min), int(np.iinfo(t).max)) for t in INTEGERS]
    return [*(pair[bound] for pair in limits), (0.1, 1e30)[bound], (0.1, 1e300)[bound]]


def elements(backend, team_size):
    n = 20
    arrays = [numbers(t, n) for t in INTEGERS]
    arrays += [np.random.default_rng(9).random(n).astype(t) for t in (np.float32, np.float64)]
    buffers = [backend.allocate(n, a.dtype) for a in arrays]
    results, expected = [], []
    for bound in (1, 0, 1, 0):  # from the third launch on only numbers differ
        for buffer, host in zip(buffers, arrays, strict=True):
            backend.write(buffer, host)
        backend.launch(kernels.elements, TEAMS, team_size, *buffers, *of_all_types(bound), n)
        results += downloads(backend, *buffers)
        a, b, c, d, e, f, g, h, x, y = arrays
        s = [v.dtype.type(one) for v, one in zip(arrays, of_all_types(bound), strict=True)]
        with np.errstate(over="ignore"):
            expected += [a + s[0], b + s[1], c ^ s[2], d ^ s[3], e + s[4], f + s[5], g * s[6], h * s[7]]
        expected += [-(np.sqrt(v * by + v) / by) - v.dtype.type(0.5) * v for v, by in ((x, s[8]), (y, s[9]))]
    return results, expected


def float_sums(backend, team_size):
    n, width = 9, 200
    x, y = (np.random.default_rng(4).random(n * width).astype(t) for t in (np.float32, np.float64))
    sums, long_sums = backend.allocate(n, np.float32), backend.allocate(n, np.float64)
    launched = (backend.upload(x), backend.upload(y), n, width, sums, long_sums)
    backend.launch(kernels.float_sums, TEAMS, team_size, *launched)
    in_order = [np.add.accumulate((v * v).reshape(n, width), axis=1)[:, -1] for v in (x, y)]
    return downloads(backend, sums, long_sums), in_order


def bundled(dtype, of_any, also, place="global"):
    def case(backend, team_size):
        count, n = 5, 40
        values = (numbers(np.int32, count * n, -1000, 1000) / 4).astype(dtype)
        values[::7] = 100
        first, end = 3, n - 2
        part = kernels.Part(n=n, span=kernels.Span(first, end))
        parts = backend.rows(part, count, S=dtype)
        backend.write(parts.values, values)
        backend.write(parts.flags, np.full(count * n, 1, np.uint8))
        backend.write(parts.totals, np.zeros(2 * count, np.uint64))
        wide = np.array([of_any, True], np.uint8)
        limits = placed(backend.load(kernels.Limits(np.array([100], dtype), not of_any, wide)), place)
        backend.launch(kernels.bundled, TEAMS, team_size, parts, limits, also)
        rows, flags = values.reshape(count, n), np.ones((count, n), np.uint8)
        within = (rows < 100) | (of_any & (rows == 100))
        flags[:, first:end] = (within & (np.arange(n) % 2 == 1) | (within & of_any))[:, first:end]
        totals = []
        for row, marked in zip(rows, flags, strict=True):
            chosen = [k for k in range(first, end) if marked[k] and also]
            lanes = len({(k - first) % team_size for k in chosen})
            total = ((sum(int(row[k]) for k in chosen) * 1 + 0) * 3 + 1) * 5 + 2
            totals += [total % 2**64, n + lanes - min(first, end - lanes) + 2]
        return downloads(backend, parts.flags, parts.totals), [flags.reshape(-1), np.array(totals, np.uint64)]

    return case


def bits(backend, team_size):
    words = numbers(np.uint64, 60)
    words[:6] = 0, 1, 2**63, 2**64 - 1, 32, 2**32
    words[20:] &= words[:40]
    results, steps = backend.allocate(words.size, np.uint64), backend.allocate(words.size, np.int32)
    backend.launch(kernels.bits, TEAMS, team_size, backend.upload(words), words.size, results, steps)
    expected, sums = [], []
    for value in words.tolist():
        text = 0
        for b in [b for b in range(64) if value >> b & 1 and b != 5][:9]:
            text = (text * 67 + b) % 2**64
        expected.append(text)
        inner = [c for c in range(8) if value >> 8 + c & 1]
        sums.append(sum(b * 8 + c for b in range(32) if value >> b & 1 for c in inner if c <= b))
    return downloads(backend, results, steps), [np.array(expected, np.uint64), np.array(sums, np.int32)]


CASES = {
    "reductions of i32": reductions(np.int32),
    "reductions of u32": reductions(np.uint32),
    "reductions of u64": reductions(np.uint64),
    "random numbers": random_numbers,
    "atomics of i32": atomics(np.int32, -2000, 2000),
    "atomics of u32": atomics(np.uint32),
    "atomics of i64": atomics(np.int64, -(2**40), 2**40),
    "atomics of u64": atomics(np.uint64),
    "barriers in loops": ring,
    "control": control,
    "remainders": remainders,
    "elements of all types": elements,
    "sums of floats in order": float_sums,
    "bundles of i16": bundled(np.int16, of_any=True, also=True),
    "bundles of i64": bundled(np.int64, of_any=False, also=True),
    "bundles of f32": bundled(np.float32, of_any=False, also=False),
    "bundles in shared memory": bundled(np.int16, of_any=True, also=True, place="shared"),
    "set bits": bits,
}


@functools.cache
def plain(name, team_size, reverse):
    """Return the results of the reference interpreter, with lanes from first to last or from last to first."""
    return CASES[name](PythonBackend(PythonBackend.devices()[0], reverse), team_size)[0]


def same(results, expected):
    assert len(results) == len(expected)
    for left, other in zip(results, expected, strict=True):
        assert left.dtype == other.dtype
        assert left.tobytes() == np.asarray(other).tobytes(), (left, other)


@pytest.mark.parametrize("name", CASES)
def test_kernels_compute_what_plain_python_and_numpy_compute(backend, name):
    for team_size in (s for s in TEAM_SIZES if s <= backend.capabilities.max_team_size):
        results, expected = CASES[name](backend, team_size)
        same(results, expected)
        same(results, plain(name, team_size, False))
        same(results, plain(name, team_size, True))


def three_launches(backend, values, sums):
    backend.launch(kernels.grow, 2, 1, values, values.size, 5)
    backend.launch(kernels.collect, 3, 1, values, values.size, sums)
    backend.launch(kernels.grow, 1, 1, values, values.size, 7)


def replayed(backend, *times):
    values, sums = backend.upload(np.arange(20, dtype=np.uint32)), backend.upload(np.zeros(20, np.uint64))
    with backend.record() as sequence:
        three_launches(backend, values, sums)
    for count in times:
        sequence.replay(count)
    return downloads(backend, values, sums)


def after(times):
    values, sums = np.arange(20, dtype=np.uint32), np.zeros(20, np.uint64)
    for _ in range(times):
        values = values * np.uint32(5) + np.uint32(1)
        sums = sums * np.uint64(3) + values
        values = values * np.uint32(7) + np.uint32(1)
    return [values, sums]


@pytest.mark.parametrize("times", [(), (1,), (3, 1)])
def test_a_recorded_sequence_is_its_launches_one_by_one(backend, times):
    same(replayed(backend, *times), after(sum(times)))  # recording runs nothing
    values, sums = (backend.upload(one) for one in after(0))
    three_launches(backend, values, sums)  # launches run again after a recording
    same(downloads(backend, values, sums), after(1))


def test_warming_up_counts_as_compilation(backend):
    values = backend.upload(np.zeros(4, np.uint32))
    backend.synchronize()
    backend.timings.reset()
    with backend.warming_up():
        backend.launch(kernels.grow, 2, 1, values, 4, 9)
    assert (backend.timings.kernel_s, backend.timings.transfer_s) == (0.0, 0.0)
    assert backend.timings.compile_s > 0
    assert backend.download(values).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("dtype", [*INTEGERS, np.float32, np.float64])
def test_what_is_uploaded_comes_back(backend, dtype):
    host = (np.arange(6, dtype=np.float64) * 1.5).astype(dtype).reshape(2, 3)
    buffer = backend.upload(host)
    back = backend.download(buffer)
    assert back.shape == (2, 3) and back.dtype == host.dtype
    np.testing.assert_array_equal(back, host)
    other = host.reshape(3, 2).T  # of another layout
    backend.write(buffer, other)
    np.testing.assert_array_equal(backend.download(buffer), other)
    np.testing.assert_array_equal(back, host)  # a download is the caller's own


@pytest.mark.parametrize("beside", [True, False])
def test_parts_of_a_buffer_are_streamed_while_launches_go_on(backend, beside):
    content, host = np.arange(20, dtype=np.uint32), backend.host_array(5, np.uint32)
    values, sums = backend.upload(content), backend.upload(np.zeros(20, np.uint64))
    backend.launch(kernels.grow, 2, 1, values, content.size, 5)
    wait = backend.stream_out(values, 3, 5, host, beside=beside)
    backend.launch(kernels.collect, 2, 1, values, content.size, sums)
    wait()
    same([host, backend.read(values, 7, 4)], [content[3:8] * 5 + 1, content[7:11] * 5 + 1])
    same(downloads(backend, sums), [(content * 5 + 1).astype(np.uint64)])


@pytest.mark.parametrize("count", [(2**40, 2**6), 2**58])
def test_memory_that_no_device_has_is_refused_alike(backend, count):
    with pytest.raises(OutOfMemory):
        backend.allocate(count, np.uint64)
    assert backend.download(backend.upload(np.arange(3))).tolist() == [0, 1, 2]


def test_time_is_told_apart(backend):
    backend.timings.reset()
    n = 2000
    values = backend.upload(np.zeros(n, np.uint32))
    backend.launch(kernels.grow, 2, 1, values, n, 3)
    backend.synchronize()
    assert backend.timings.kernel_s > 0
    assert backend.timings.transfer_s >= 0 and backend.timings.compile_s >= 0
    before = backend.timings.kernel_s
    with backend.record() as sequence:
        backend.launch(kernels.grow, 2, 1, values, n, 3)
    backend.synchronize()
    assert backend.timings.kernel_s == before
    sequence.replay(3)
    backend.synchronize()
    assert backend.timings.kernel_s > before
    backend.timings.reset()
    assert backend.timings.kernel_s == backend.timings.transfer_s == backend.timings.compile_s == 0


def test_bytes_that_the_host_copies_are_counted(backend):
    backend.timings.reset()
    values, counted = backend.upload(np.arange(1000, dtype=np.uint32)), []
    for copy in (
        lambda: None,
        lambda: backend.download(values),
        lambda: backend.read(values, 990, 10),
        lambda: backend.write(values, np.zeros(1000, np.uint32)),
        lambda: backend.allocate(1000, np.uint32),
    ):
        copy()
        counted.append(backend.timings.copied_bytes)
    assert counted == [4000, 8000, 8040, 12040, 12040]


def test_absolute_values_are_signed(backend):
    x = np.array([-3, 5, -5, 2, -9], np.int32)
    results = backend.allocate(4, np.int32)
    backend.launch(kernels.nearer, 2, 1, backend.upload(x), backend.upload(x.astype(np.int64) << 40), 5, results)
    assert backend.download(results).tolist() == [2, 0, 0, 2]


def test_not_a_number_is_unequal_to_itself(backend):
    x = np.array([1.5, np.nan, np.inf, 0.0])
    results = backend.allocate(4, np.int32)
    backend.launch(kernels.unlike_itself, 2, 1, backend.upload(x.astype(np.float32)), backend.upload(x), 4, results)
    assert backend.download(results).tolist() == [0, 2, 0, 0]
