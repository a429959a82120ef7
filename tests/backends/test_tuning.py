"""The tuner against a transcription of the paper's algorithm 3, on devices with speeds by a formula."""

import math
from itertools import groupby
from types import SimpleNamespace

import pytest

from backends import tuning
from backends.device import Capabilities, DeviceInfo, LaunchRefused, OutOfMemory
from backends.tuning import LaunchShape, ShapeKey, ShapeTuner, TunedShape
from core.lang.digest import source_digest
from tests.backends import kernels

KEY = ShapeKey("cuda", "NVIDIA H200", "13.0", 132, "grow", source_digest([kernels.grow]), 100, 4950)


def device(max_team_size):
    return Capabilities(max_team_size, 48 << 10, 4, 2048)


def algorithm_3(start, neighbourhood_size, largest=512):
    """List the configurations of lines 1 to 4 and 19 to 21: (nb_threads, nb_threads_block)."""
    configurations = []
    nb_threads = start
    while nb_threads <= neighbourhood_size:
        nb_threads_block = 32
        while nb_threads_block <= largest:
            configurations.append((nb_threads, nb_threads_block))
            nb_threads_block = nb_threads_block + 32
        nb_threads = nb_threads * 2
    return configurations


def run(tuner, seconds, iterations=100_000):
    """Report ``seconds(shape)`` until the tuner is done; its exceptions are failed launches."""
    used = []
    while not tuner.done and len(used) < iterations:
        used.append(tuner.next())
        try:
            time = seconds(tuner.next())
        except (LaunchRefused, OutOfMemory) as error:
            tuner.failed(error)
        else:
            tuner.report(time)
    assert tuner.done
    return used


def surface(shape):
    """A cost with its minimum at 8192 lanes in teams of 160, higher for teams that are not full."""
    lanes = shape.teams * shape.team_size
    return 1 + abs(math.log2(lanes / 8192)) + abs(shape.team_size - 160) / 64


@pytest.mark.parametrize(
    ("most_lanes", "solution", "neighbourhood", "expected"),
    [
        # 64 lanes and 128 lanes make the same single team of 128.
        (128, 70, 300, [(2, 32), (1, 64), (1, 96), (1, 128), (4, 32), (2, 64), (2, 96), (8, 32), (4, 64), (3, 96), (2, 128)]),
        (1, 100, 1000, [(128, 1), (256, 1), (512, 1)]),
        (24, 100, 300, [(6, 24), (11, 24)]),  # narrower than a warp
        (64, 100, 100, [(4, 32), (2, 64)]),  # a neighbourhood smaller than the first wave
    ],
)  # fmt: skip
def test_waves_of_lanes_in_the_order_of_the_paper(most_lanes, solution, neighbourhood, expected):
    assert run(ShapeTuner(device(most_lanes), solution, neighbourhood, trials=1), surface) == expected


def test_finds_the_best_of_a_known_cost_surface():
    tuner = ShapeTuner(device(1024), 100, 50_000)
    run(tuner, surface)
    shapes = [LaunchShape(math.ceil(lanes / size), size) for lanes, size in algorithm_3(128, 50_000)]
    assert tuner.best == min(shapes, key=surface)
    assert tuner.best == tuner.next() == (52, 160)
    tuner.report(0.0)  # after the end
    assert tuner.done and tuner.best == tuner.next() == (52, 160)


def test_the_first_of_equally_fast_shapes_wins_and_each_has_its_trials_one_after_the_other():
    tuner = ShapeTuner(device(512), 100, 5_000, trials=2)
    used = run(tuner, lambda shape: 0.5)
    assert tuner.best == (4, 32)
    assert {len(list(same)) for _, same in groupby(used)} == {2} and len(used) == 2 * len(set(used))


def test_compiling_in_the_first_launch_of_a_team_size_does_not_count():
    tuner, met = ShapeTuner(device(1024), 8_192, 40_000, trials=3), set()

    def compiling(shape):
        first = shape.team_size not in met
        met.add(shape.team_size)
        return surface(shape) + (1000 if first else 0)

    run(tuner, compiling)
    assert tuner.best == (52, 160)


def test_the_cost_of_tuning_is_that_of_all_trials_beyond_the_best_shape_and_is_remembered():
    tuner = ShapeTuner(device(64), 100, 100, trials=3)
    for seconds in (9.0, 0.5, 0.5, 0.2, 0.2, 0.2):
        tuner.report(seconds)
    assert tuner.done and tuner.best == (2, 64) and tuner.tuning_s == pytest.approx(3 * (0.5 - 0.2))
    later = ShapeTuner(device(64), 100, 100, known=TunedShape(tuner.best, tuner.tuning_s))
    later.report(7.0)
    assert later.done and later.next() == tuner.best and later.tuning_s == tuner.tuning_s


@pytest.mark.parametrize("kind", [LaunchRefused, OutOfMemory])
def test_a_failing_shape_does_not_win_by_its_first_trials(kind):
    tuner = ShapeTuner(device(512), 1024, 10**6, trials=3)
    for seconds in (5.0, 5.0, 5.0, 0.1, 0.1):
        tuner.report(seconds)
    assert tuner.next() == (16, 64)
    tuner.failed(kind("too many lanes"))
    assert tuner.done and tuner.best == tuner.next() == (32, 32)


def test_a_failure_of_the_first_shape_or_of_the_best_is_raised():
    tuner, error = ShapeTuner(device(512), 1024, 10**6), OutOfMemory("nothing fits")
    tuner.report(1.0)
    with pytest.raises(OutOfMemory) as raised:
        tuner.failed(error)
    assert raised.value is error and tuner.best is None
    tuner = ShapeTuner(device(1), 8, 8, trials=1)
    tuner.report(1.0)
    with pytest.raises(LaunchRefused):
        tuner.failed(LaunchRefused("no longer"))


def test_a_shape_is_remembered_for_its_key_until_its_file_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    assert tuning.load_shape(KEY) is None
    for tuned in (TunedShape(LaunchShape(64, 128), 0.1), TunedShape(LaunchShape(32, 96), 1e-7)):
        tuning.store_shape(KEY, tuned)
        assert tuning.load_shape(KEY) == tuned
    others = [KEY._replace(**{field: getattr(KEY, field) * 2}) for field in ShapeKey._fields]
    assert [tuning.load_shape(other) for other in others] == [None] * len(others)
    (path,) = tmp_path.glob("*/*")
    path.write_bytes(path.read_bytes()[:-1])
    assert tuning.load_shape(KEY) is None


def test_a_key_says_where_a_kernel_runs():
    device = DeviceInfo("0", "NVIDIA H200", "13.0", 1 << 37, 0)
    backend = SimpleNamespace(name="cuda", device=device, capabilities=Capabilities(1024, 48 << 10, 132, 2048))
    assert ShapeKey.of(backend, kernels.grow, 100, 4950) == KEY
