"""Small kernels that between them use every part of the language; the tests of the backends launch them."""

from __future__ import annotations

from core.lang import barrier, clz, exp, lane, local_array, log, max, min, mulhi, pow, team_count, team_rank, team_size
from core.lang.bundles import Row, Rows, bundle
from core.lang.decorators import function, kernel
from core.lang.intrinsics import (
    atomic_add,
    atomic_cas,
    atomic_max,
    atomic_min,
    popcount,
    set_bits,
    shared_array,
    sqrt,
    unroll,
)  # fmt: skip
from core.lang.library import philox, random_below, team_max, team_min, team_sum
from core.lang.types import Array, Const, Generic, boolean, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64

T = Generic("T")
WINDOW = 6


@kernel
def reductions(values: Array[T], reduced: Array[T]):
    """Every lane stores its team's sum, minimum and maximum."""
    scratch = shared_array(team_size(), T)
    me = team_rank() * team_size() + lane()
    total = team_sum(values[me], scratch)
    least = team_min(values[me], scratch)
    most = team_max(values[me], scratch)
    reduced[3 * me] = total
    reduced[3 * me + 1] = least
    reduced[3 * me + 2] = most


@kernel
def random_numbers(
    counters: Array[u32], keys: Array[u32], vectors: i32, words: Array[u32],
    bounds: Array[u32], count: i32, seed: u64, draws: Array[u32],
):  # fmt: skip
    """One Philox block for each counter and key, and one bounded draw for each bound."""
    block = local_array(4, u32)
    me = team_rank() * team_size() + lane()
    for v in range(me, vectors, team_count() * team_size()):
        for k in unroll(4):
            block[k] = counters[4 * v + k]
        philox(block, keys[2 * v], keys[2 * v + 1])
        for k in unroll(4):
            words[4 * v + k] = block[k]
    for d in range(me, count, team_count() * team_size()):
        draws[d] = random_below(bounds[d], seed, u64(d) * 0x100000001, u32(d))


@function
def add_by_exchange(array: Array[T], index: i32, value: T):
    """``atomic_add`` as a loop of ``atomic_cas``."""
    expected = array[index]
    while True:
        seen = atomic_cas(array, index, expected, expected + value)
        if seen == expected:
            return
        expected = seen


@function
def stir(array: Array[T], value: T):
    atomic_add(array, 0, value)
    atomic_min(array, 1, value)
    atomic_max(array, 2, value)
    add_by_exchange(array, 3, value)


@kernel
def atomics(values: Array[T], everywhere: Array[T], teams: Array[T], ticket: Array[u32], counts: Array[u32]):
    """Update four elements in global memory and a team's four in shared memory."""
    shared = shared_array(4, T)
    turns = shared_array(1, u32)
    me = team_rank() * team_size() + lane()
    for k in range(lane(), 4, team_size()):
        shared[k] = values[team_rank() * team_size()]
    if lane() == 0:
        turns[0] = u32(0)
    barrier()
    stir(everywhere, values[me])
    stir(shared, values[me])
    turn = atomic_add(ticket, 0, 1)
    atomic_add(counts, turn, 1)
    turn = atomic_add(turns, 0, 1)
    atomic_add(counts, u32(team_rank() * team_size()) + turn, 1)
    barrier()
    for k in range(lane(), 4, team_size()):
        teams[4 * team_rank() + k] = shared[k]


@kernel
def ring(values: Array[i32], rounds: i32, collected: Array[i32]):
    """Pass values round the team ``rounds`` times, then let lane 0 collect some of them."""
    cells = shared_array(team_size(), i32)
    me = team_rank() * team_size() + lane()
    cells[lane()] = values[me]
    barrier()
    for r in range(rounds):
        value = cells[(lane() + 1) % team_size()]
        barrier()
        cells[lane()] = value + r
        barrier()
    left = rounds
    while True:
        if left == 0:
            break
        if lane() == 0:
            cells[0] = cells[0] + cells[left % team_size()]
        barrier()
        left -= 1
        if left % 2 == 0:
            continue
        barrier()
    collected[me] = cells[(lane() + left) % team_size()]


@function
def collatz(start: i32, most: Const[i32]) -> i32:
    value, steps = start, 0
    while True:
        if value == 1 or steps >= most:
            break
        steps += 1
        if value % 2 == 0:
            value //= 2
            continue
        value = 3 * value + 1
    return steps


@function
def detour(a: i32, b: i32) -> i32:
    if a == b:
        return -1
    return collatz(a, 40) - collatz(b, 400)


@kernel
def control(
    numbers: Array[i32], n: i32, doubled: Const[boolean], power: Const[i32], sorted_: Array[i32], results: Array[i32]
):
    """Sort each window of `WINDOW` values in a local array, and compute eight numbers from its ends."""
    window = local_array(WINDOW, i32)
    for w in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        for k in range(WINDOW):
            window[k] = numbers[WINDOW * w + k]
        for k in range(1, WINDOW):
            for m in range(k, 0, -1):
                if window[m - 1] <= window[m]:
                    break
                window[m - 1], window[m] = window[m], window[m - 1]
        for position in unroll(WINDOW):
            sorted_[WINDOW * w + position] = window[position]
        low, high = window[0], window[WINDOW - 1]
        low, high = high, low
        results[8 * w] = low // 7 + low % 7
        results[8 * w + 1] = high // -7 if high != 0 and low // high < 5 else high % -7
        results[8 * w + 2] = detour(abs(low) + 1, abs(high) + 1)
        results[8 * w + 3] = popcount(u32(high)) + clz(u32(abs(low)))
        results[8 * w + 4] = mulhi(low * 65536, high * 65536)
        results[8 * w + 5] = (low << 3) ^ (high >> 2) | ~low & 0xFF
        total = 0
        for k in range(WINDOW):
            if window[k] < 0:
                continue
            total += window[k] * power
        results[8 * w + 6] = total
        if doubled:
            results[8 * w + 7] = 2 * low
        else:
            results[8 * w + 7] = low


@kernel
def remainders(x: Array[i32], by: Array[i32], wide: Array[i64], wide_by: Array[i64], n: i32, rests: Array[i64]):
    """Store remainders of each pair; ``x`` and ``wide`` have the lowest number, ``by`` and ``wide_by`` -1."""
    for k in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        rests[3 * k] = i64(x[k] % by[k])
        rests[3 * k + 1] = wide[k] % wide_by[k]
        rests[3 * k + 2] = i64(x[k] % -1) + wide[k] % -1 + i64(i32(-2147483648) % -1) + 5


@kernel
def nearer(x: Array[i32], y: Array[i64], n: i32, counts: Array[i32]):
    """Count in ``found[k]`` in how many of the two arrays element ``k`` is nearer to 0 than element ``k + 1``."""
    for k in range(team_rank(), n - 1, team_count()):
        counts[k] = i32(abs(x[k]) - abs(x[k + 1]) < 0) + i32(abs(y[k]) - abs(y[k + 1]) < 0)


@kernel
def unlike_itself(x: Array[f32], y: Array[f64], n: i32, counts: Array[i32]):
    """Count in ``found[k]`` in how many of the two arrays element ``k`` is not equal to itself."""
    for k in range(team_rank(), n, team_count()):
        counts[k] = i32(x[k] != x[k]) + i32(y[k] != y[k])


@kernel
def float_sums(x: Array[f32], y: Array[f64], n: i32, width: i32, sums: Array[f32], long_sums: Array[f64]):
    """Sums of ``n`` rows of floats, added from first to last."""
    for k in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        total, long_total = f32(0.0), f64(0.0)
        for j in range(width):
            total += x[k * width + j] * x[k * width + j]
            long_total += y[k * width + j] * y[k * width + j]
        sums[k] = total
        long_sums[k] = long_total


@kernel
def elements(
    a: Array[i8], b: Array[i16], c: Array[i32], d: Array[i64], e: Array[u8], f: Array[u16], g: Array[u32],
    h: Array[u64], x: Array[f32], y: Array[f64], by_a: i8, by_b: i16, by_c: i32, by_d: i64,
    by_e: u8, by_f: u16, by_g: u32, by_h: u64, by_x: f32, by_y: f64, n: i32,
):  # fmt: skip
    """Load, change and store elements of all types with scalars of all types; floats must not be contracted."""
    for k in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        a[k] = i8(a[k] + by_a)
        b[k] = i16(b[k] + by_b)
        c[k] = c[k] ^ by_c
        d[k] = d[k] ^ by_d
        e[k] = u8(e[k] + by_e)
        f[k] = u16(f[k] + by_f)
        g[k] = g[k] * by_g
        h[k] = h[k] * by_h
        x[k] = -(sqrt(x[k] * by_x + x[k]) / by_x) - 0.5 * x[k]
        y[k] = -(sqrt(y[k] * by_y + y[k]) / by_y) - 0.5 * y[k]


@kernel
def grow(values: Array[u32], n: i32, factor: u32):
    for k in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        values[k] = values[k] * factor + 1


@kernel
def collect(values: Array[u32], n: i32, sums: Array[u64]):
    for k in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        sums[k] = sums[k] * 3 + u64(values[k])


# --- bundles, truth values, set bits, constants of tuples ---

S = Generic("S")
D = Generic("D")
STEPS = (1, 3, 5)


@bundle
class Span:
    first: i32
    end: i32


@bundle
class Part:
    totals: Array[u64] = Row(2)
    values: Array[S] = Row("n")
    flags: Array[boolean] = Row("n")
    span: Span
    n: i32


@bundle
class Limits:
    most: Array[S]
    strict: boolean
    wide: Array[boolean]


@bundle
class Scratch:
    sums: Array[i32]
    seen: Array[boolean]
    span: Span


@function
def is_within(limits: Limits, value: S, strict: boolean) -> boolean:
    return value < limits.most[0] or (not strict and value == limits.most[0])


@function
def widest(span: Span, other: Span) -> i32:
    return max(span.end, other.end) - min(span.first, other.first)


@function
def mark(part: Part, k: i32, limits: D):
    part.flags[k] = is_within(limits, part.values[k], limits.strict) and limits.wide[k % 2]


@kernel
def bundled(parts: Rows[Part], limits: D, also: boolean):
    """A team marks the values of a part that are within its limits and sums those that are marked."""
    scratch = Scratch(shared_array(team_size(), i32), shared_array(team_size(), boolean), Span(1, 2))
    for w in range(team_rank(), parts.count, team_count()):
        part = parts[w]
        mine, seen = 0, False
        for k in range(part.span.first + lane(), part.span.end, team_size()):
            mark(part, k, limits)
            if part.flags[k] and also:
                mine += i32(part.values[k])
                seen = True
        scratch.sums[lane()] = mine
        scratch.seen[lane()] = seen
        barrier()
        if lane() == 0:
            span = Span(part.span.end, part.n)
            total = 0
            for other in range(team_size()):
                total += scratch.sums[other]
                if scratch.seen[other]:
                    span = Span(span.first - 1, span.end + 1)
            for step in unroll(len(STEPS)):
                total = total * STEPS[step] + step
            part.totals[0] = u64(i64(total))
            part.totals[1] = u64(widest(part.span, span) + scratch.span.end)
        barrier()


@function
def bits_but(word: u64, left_out: i32, most: i32) -> u64:
    """Set bits as digits to base 67, without one of them, at most ``most``."""
    digits, count = u64(0), 0
    for b in set_bits(word):
        if b == left_out:
            continue
        if count == most:
            break
        count += 1
        digits = digits * 67 + u64(b)
    return digits


@kernel
def bits(words: Array[u64], n: i32, digits: Array[u64], steps: Array[i32]):
    """Walk through the set bits of words of 64 and of 32 bits."""
    for w in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        digits[w] = bits_but(words[w], 5, 9)
        total = 0
        for b in set_bits(u32(words[w])):
            for c in set_bits(u8(words[w] >> 8)):
                if c > b:
                    break
                total += b * 8 + c
        steps[w] = total


# --- words of a dialect ---

LOWEST = -(2**63)
NONE, MOST = float("nan"), float("inf")


@kernel
def differences(x: Array[f32], y: Array[f64]):
    """NVVM has no difference with a rounding mode: it adds the negated number."""
    x[0] = x[1] - f32(0.5) * x[0]
    y[0] = y[1] - 0.5 * y[0]


@kernel
def counts(x: Array[T], found: Array[i32]):
    found[0] = popcount(x[0])
    found[1] = clz(x[1])
    x[2] = mulhi(x[2], x[3])


@kernel
def float_words(x: Array[T], y: Array[i64]):
    x[0] = exp(x[0]) + log(x[1])
    x[1] = pow(x[1], abs(x[2]))
    x[2] = T(NONE) if x[0] < x[1] else T(-MOST)
    y[0] = y[0] + LOWEST if y[0] >= 0 else abs(y[0])


@kernel
def packed(out: Array[f64]):
    first = shared_array(5, u8)
    second = shared_array(3, f64)
    third = shared_array(9, i16)
    first[lane()], second[lane()], third[lane()] = u8(1), 2.0, i16(3)
    barrier()
    out[lane()] = second[0] + f64(first[1]) + f64(third[2])
