"""Random kernels of teams with many lanes leave the same memory on every backend as in plain Python, bit for bit."""

import pytest

import backends
from backends.python import PythonBackend
from tests.conftest import pocl, wide
from tests.core.lang import lane_launches, lane_programs

OF_ONE_LANE = {"cpu": lambda: backends.create("cpu"), "threads": lambda: backends.create("threads"), "pocl": pocl}
"""CPUs and PoCL run teams of one lane, with the same kernels."""
FEW = range(80, 92)


@pytest.fixture(scope="module")
def oracles():
    device = PythonBackend.devices()[0]
    return PythonBackend(device), PythonBackend(device, reverse=True)


@pytest.fixture(scope="module")
def devices():
    opened = {}
    for name, make in {"wide": wide, **OF_ONE_LANE}.items():
        try:
            opened[name] = make()
        except backends.Unavailable as error:
            print(f"{name} is left out: {error}")
    assert {"cpu", "threads"} <= set(opened)
    yield opened
    for backend in opened.values():
        backend.close()


def expected_of(drawn, scope, team_size, oracles):
    expected, backwards = (lane_launches.launched(oracle, scope, drawn, team_size) for oracle in oracles)
    race = lane_launches.difference(backwards, expected)
    assert not race, f"seed {drawn.seed}: the generator made a race, lanes backwards: {race}"
    return expected


def check(seed, phases, oracles, devices):
    drawn = lane_programs.Lanes(seed, phases)
    scope = lane_launches.module_of(drawn)
    for team_size in (drawn.team_size, 1):
        expected = expected_of(drawn, scope, team_size, oracles)
        for name, backend in devices.items():
            if (name in OF_ONE_LANE) == (team_size == 1):
                wrong = lane_launches.difference(lane_launches.launched(backend, scope, drawn, team_size), expected)
                assert not wrong, f"seed {seed}, {phases} phases, {team_size} lanes on {name}: {wrong}\n{drawn.source}"


def test_a_dozen_kernels_of_many_lanes_agree(oracles, devices):
    for seed in FEW:
        # a CPU's compiler takes most of the time
        chosen = [name for name in devices if name == "wide" or (seed % 6 == 0 and name != "pocl")]
        check(seed, 3, oracles, {name: devices[name] for name in chosen})


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(100, 110), marks=pytest.mark.slow), pytest.param(range(110, 600), marks=pytest.mark.long)],
)
def test_more_kernels_of_many_lanes_agree(oracles, devices, seeds):
    for seed in seeds:
        check(seed, 4, oracles, devices)


IN_SIMULATOR = """
from tests.core.lang import lane_launches, lane_programs
oracle = backends.create("python")
for seed in (79, 80):
    drawn = lane_programs.Lanes(seed, 3)
    scope = lane_launches.module_of(drawn)
    found, expected = (lane_launches.launched(one, scope, drawn, drawn.team_size) for one in (backend, oracle))
    assert not lane_launches.difference(found, expected), f"seed {seed}"
"""


@pytest.mark.slow
def test_the_simulator_of_cuda_agrees_on_some(simulated):
    simulated(IN_SIMULATOR)
