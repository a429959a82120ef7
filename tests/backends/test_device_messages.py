"""`assert` and `print` in kernels: on every device that is asked to hear them what plain Python prints and raises."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from backends.device_output import output_types
from backends.emit.opencl_c import OpenClC
from core.lang import KernelError, barrier, bundle, function, kernel, lane, shared_array, unroll
from core.lang.bundles import Row, Rows
from core.lang.intrinsics import team_count, team_rank, team_size
from core.lang.library import team_sum
from core.lang.types import Array, Const, Generic, boolean, f32, f64, i8, i32, i64, u8, u32, u64
from tests.backends.test_cuda_without_gpu import simulated

T = Generic("T")
spare = "a text of the module whose name a local variable has"


@bundle
class Walk:
    cost: Array[i32] = Row(3)
    limit: i32
    slope: f64


@function
def check(v: i32, limit: i32):
    assert v < limit, "beyond the limit"


@function
def climb(one: Walk, k: i32) -> i32:
    assert one.cost[k] >= 0
    spare = one.cost[k]
    print("cost", k, spare)
    return spare


def template(step):
    @kernel
    def walk(walks: Rows[Walk], out: Array[i64]):
        for w in range(team_rank(), walks.count, team_count()):
            place = walks[w]
            total = 0
            for k in unroll(3):
                total += step(place, k) + step(place, 0)
                check(total, place.limit)
            out[w] = i64(total)
            print("walk", w, "of", total, "slope", place.slope)

    return walk


walk = template(climb)


@kernel
def values(small: Array[T], wide: Array[u64], n: i32, x: f32, y: f64, flag: boolean, c: Const[i8]):
    print()
    print("only text, 100 %")
    print(small[0], i8(n - 300), u8(n), n, -n, u32(0) - 1, i64(n) << 40, wide[0])
    print(x, y, x / f32(3.0), y / f64(3.0), f32(1.0) / f32(0.0), f64(0.0) * -1.0)
    print(flag, n > 3, not flag, True, c, 7, 0.1, "and", team_size() > 0)


@kernel
def lanes(out: Array[i32], worst: i32):
    scratch = shared_array(team_size(), i32)
    total = team_sum(lane(), scratch)
    if lane() == 0:
        print("team", team_rank(), "has", total)
    barrier()
    assert lane() != worst, "the worst lane"
    out[team_rank() * team_size() + lane()] = total


@kernel
def count(out: Array[i64], most: i64):
    print("was", out[0])
    out[0] += 1
    assert out[0] <= most


@kernel
def quiet(out: Array[i64]):
    out[0] += 10


def line_of(source, text):
    lines = Path(source.path).read_text().splitlines()
    return next(k for k, line in enumerate(lines, 1) if k > source.first_line and line.strip().startswith(text))


@pytest.fixture
def hearing(backend, monkeypatch):
    monkeypatch.setattr(backend, "checks", True)
    return backend


def walked(backend, limit):
    walks = backend.rows(Walk(limit=limit, slope=1 / 3), 2)
    backend.write(walks.cost, np.arange(6, dtype=np.int32))
    out = backend.upload(np.zeros(2, np.int64))
    backend.launch(walk, 1, 1, walks, out)
    return backend.download(out).tolist()


def test_a_template_says_what_a_problems_function_says(hearing, capsys):
    assert walked(hearing, 100) == [3, 21]
    expected = []
    for w, costs in enumerate(([0, 1, 2], [3, 4, 5])):
        for k in range(3):
            expected += [f"cost {k} {costs[k]}", f"cost 0 {costs[0]}"]
        expected.append(f"walk {w} of {sum(costs) + 3 * costs[0]} slope 0.3333333333333333")
    assert capsys.readouterr().out.splitlines() == expected


def test_a_check_that_is_a_function_fails_where_it_stands(hearing):
    with pytest.raises(KernelError) as caught:
        walked(hearing, 20)
    assert isinstance(caught.value, AssertionError)
    first, then = str(caught.value).splitlines()
    where = f"{check.path}:{line_of(check, 'assert')}: check: "
    assert first == where + "assertion failed: v < limit: beyond the limit"
    called = f"called at {walk.path}:{line_of(walk, 'check(')} in walk"
    assert then.strip() == (called if hearing.is_reference else "in a launch of walk")
    assert walked(hearing, 100) == [3, 21], "what failed is not told twice"


def test_values_of_every_type_are_printed_as_python_prints_them(hearing, capsys):
    small, wide = hearing.upload(np.array([-5], np.int16)), hearing.upload(np.array([2**64 - 1], np.uint64))
    hearing.launch(values, 1, 1, small, wide, 260, 0.1, 0.1, True, -3)
    assert capsys.readouterr().out.splitlines() == [
        "",
        "only text, 100 %",
        f"-5 -40 4 260 -260 4294967295 {260 << 40} 18446744073709551615",
        "0.1 0.1 0.033333335 0.03333333333333333 inf -0.0",
        "True True False True -3 7 0.1 and True",
    ]


def test_lanes_of_all_teams_are_heard(hearing, capsys):
    size = min(hearing.capabilities.max_team_size, 32)
    out = hearing.allocate(3 * size, np.int32)
    total = size * (size - 1) // 2
    hearing.launch(lanes, 3, size, out, -1)
    assert Counter(capsys.readouterr().out.splitlines()) == Counter(f"team {t} has {total}" for t in range(3))
    assert (hearing.download(out) == total).all()
    with pytest.raises(AssertionError, match=r"lanes: assertion failed: lane\(\) != worst: the worst lane"):
        hearing.launch(lanes, 3, size, out, size - 1)


def test_a_recorded_sequence_is_heard_when_it_has_run(hearing, capsys):
    out = hearing.upload(np.zeros(1, np.int64))
    with hearing.record() as sequence:
        hearing.launch(count, 1, 1, out, 30)
        hearing.launch(quiet, 1, 1, out)
    assert not capsys.readouterr().out
    sequence.replay(2)
    assert capsys.readouterr().out == "was 0\nwas 11\n"
    with pytest.raises(AssertionError, match=r"count: assertion failed: out\[0\] <= most"):
        sequence.replay(2)
    assert capsys.readouterr().out.startswith("was 22\nwas 33\n")


def test_a_backend_without_checks_hears_nothing(backend, monkeypatch, capsys):
    monkeypatch.setattr(backend, "checks", False)
    assert backend.is_reference or walked(backend, 3) == [3, 21]
    assert not capsys.readouterr().out


def test_machine_code_that_another_rank_compiled_is_heard(monkeypatch, capsys):
    monkeypatch.setattr(CpuBackend, "shares_executables", False)
    ranks = [CpuBackend(CpuBackend.devices()[0]) for _ in range(2)]
    outs = [rank.upload(np.zeros(1, np.int64)) for rank in ranks]
    ranks[0].launch(count, 1, 1, outs[0], 5)
    ranks[1].compiled_earlier = dict(ranks[0].compiled_here)
    count._programs.clear()
    silent = ranks[1].bind(quiet, 1, 1, (outs[1],))
    assert silent.arguments == (outs[1],) and not silent.may_print and ranks[1].device_output.integers is None
    assert not count._programs
    for rank, out in zip(ranks, outs, strict=True):
        rank.launch(count, 1, 1, out, 20)
    assert capsys.readouterr().out == "was 0\nwas 1\nwas 0\n"


def test_floats_need_no_64_bits_where_there_are_none():
    @kernel
    def printing(x: f32):
        print(x)

    assert "double" in OpenClC(printing.specialise({}, 1, output_types(printing))).source()
    assert "double" not in OpenClC(printing.specialise({}, 1, output_types(printing, float64=False))).source()


SIMULATED = """
import numpy as np
from tests.backends.test_device_messages import count, walked
walked(backend, 100)
ticks = backend.upload(np.zeros(1, np.int64))
with backend.record() as sequence:
    backend.launch(count, 1, 1, ticks, 1)
try:
    sequence.replay(2)
except AssertionError as error:
    print(error)
"""


@pytest.mark.slow
def test_the_simulator_says_what_plain_python_says(monkeypatch):
    monkeypatch.setenv("ONEKERNEL_CHECKS", "1")
    lines = simulated(SIMULATED).splitlines()
    assert lines[0] == "cost 0 0" and lines[-4] == "walk 1 of 21 slope 0.3333333333333333"
    where = f"{count.path}:{line_of(count, 'assert')}: count: "
    assert lines[-3:] == ["was 0", "was 1", where + "assertion failed: out[0] <= most"]
