"""Refusals of an ant colony: one line with the value found and the value expected."""

from types import SimpleNamespace

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from backends.device import OutOfMemory
from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.ant_colony import AntColony, Settings
from core.errors import UserError
from core.run.stop import Iterations

N = 13
MMAS = {"variant": "mmas", "colonies": 4}


@pytest.fixture
def cpu():
    """A core for one test, which may take memory from it."""
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture
def distances():
    return tsp.load(f"uniform:{N}:seed=1").distances


def refusal(make, *arguments, **changes):
    with pytest.raises(UserError) as caught:
        make(*arguments, **changes)
    line = str(caught.value)
    assert caught.value.exit_code == 2
    assert line and "\n" not in line
    return line


def one_of(ranks):
    """The last of some ranks; it must refuse before it communicates."""
    return SimpleNamespace(rank=ranks - 1, size=ranks)


def with_memory(backend, memory_bytes):
    backend.device = backend.device._replace(memory_bytes=memory_bytes)
    return backend


# --- settings ---

WRONG = [
    ({}, 2, "ants take 3 to 46000 cities here, not 2"),
    ({}, 46_001, "ants take 3 to 46000 cities here, not 46001"),
    ({"local_search": "2opt-near"}, 4, "ants take 5 to 46000 cities here, not 4"),
    ({"variant": "acs"}, N, "variant 'acs'; choose one of as, mmas"),
    ({"local_search": "4opt"}, N, "local search '4opt'; choose one of none, 2opt, 2opt-near, 3opt"),
    ({"ants": 0}, N, "a colony has at least 1 ant, not 0"),
    ({"ants": 2**31 // N + 1}, N, f"the tours of {2**31 // N + 1} ants through 13 cities pass 2^31 cities"),
    ({"alpha": -1 / 256}, N, "alpha is from 0 to 16, not -0.00390625"),
    ({"alpha": 16 + 1 / 256}, N, "alpha is from 0 to 16, not 16.00390625"),
    ({"alpha": 0.1}, N, "alpha is a multiple of 1/256, not 0.1"),
    ({"beta": -0.5}, N, "beta is from 0 to 64, not -0.5"),
    ({"beta": 64.5}, N, "beta is from 0 to 64, not 64.5"),
    ({"rho": 0.0}, N, "rho is above 0 and at most 1, not 0.0"),
    ({"rho": 1.01}, N, "rho is above 0 and at most 1, not 1.01"),
    ({"candidates": -1}, N, "candidates are 1 to 32, or 0 for all; not -1"),
    ({"candidates": 33}, N, "candidates are 1 to 32, or 0 for all; not 33"),
    ({"best_every": -1}, N, "best_every is at least 0, not -1"),
    ({"stagnation": -1}, N, "stagnation is at least 0, not -1"),
    ({"stagnation": 2**31}, N, "stagnation is at least 0, not 2147483648"),
    ({"smoothing": -0.1}, N, "smoothing is from 0 to 1, not -0.1"),
    ({"smoothing": 1.5}, N, "smoothing is from 0 to 1, not 1.5"),
    ({"colonies": 0}, N, "there is at least 1 colony, not 0"),
    ({**MMAS, "exchange": -1}, N, "exchange is at least 0, not -1"),
    ({"exchange": 5, "colonies": 2}, N, "only several colonies of the Max-Min Ant System exchange tours"),
    ({"beta": float("nan")}, N, "beta is from 0 to 64, not nan"),
    ({"rho": float("nan")}, N, "rho is above 0 and at most 1, not nan"),
    ({"smoothing": float("nan")}, N, "smoothing is from 0 to 1, not nan"),
]


@pytest.mark.parametrize(("changes", "n", "words"), WRONG, ids=str)
def test_settings_that_make_no_sense_are_refused(changes, n, words):
    assert refusal(Settings(**changes).check, n).startswith(words)


def test_a_colony_checks_its_settings(cpu, distances):
    assert refusal(AntColony, cpu, Solo(), distances, Settings(rho=0)).startswith("rho is above 0")
    assert refusal(AntColony, cpu, Solo(), distances[:2, :2]).startswith("ants take 3 to 46000 cities here, not 2")


# --- shapes ---


@pytest.mark.parametrize(
    ("team", "candidates"),
    [
        ((32, 3), 0),  # lanes that no ant gets
        ((3, 1), 0),  # 32 columns are not shared out by three lanes
        ((4, 8), 0),  # ants without a lane
        ((32, 5), 8),
        ((64, 1), 8),  # more lanes than the longest list
    ],
    ids=str,
)
def test_a_team_that_cannot_share_its_lanes_is_refused(distances, team, candidates):
    oracle = PythonBackend(PythonBackend.devices()[0])
    words = f"{team[1]} ants cannot share a team of {team[0]} lanes with {candidates} candidates"
    assert refusal(AntColony, oracle, Solo(), distances, Settings(ants=4, candidates=candidates), team=team) == words


# --- the paper's mapping ---

PUBLISHED = "--mapping published is the paper's Ant System: expected "


@pytest.mark.parametrize(
    ("changes", "how", "words"),
    [
        ({"variant": "mmas"}, {}, PUBLISHED + "variant as, found mmas"),
        ({"candidates": 8}, {}, PUBLISHED + "candidates 0, found 8"),
        ({"local_search": "2opt"}, {}, PUBLISHED + "local search none, found 2opt"),
        ({}, {"team": (32, 1)}, "--mapping published has the paper's teams: expected none to be given, found (32, 1)"),
        ({}, {"mapping": "paper"}, "mapping 'paper'; choose one of native, published"),
        ({}, {"strategy": "finest"}, "strategy 'finest'; choose one of coarse, fine, fine-deposit"),
    ],
    ids=str,
)
def test_what_the_paper_has_not_is_refused_in_its_mapping(cpu, distances, changes, how, words):
    assert refusal(AntColony, cpu, Solo(), distances, Settings(**changes), **{"mapping": "published", **how}) == words


def test_ants_on_several_ranks_are_refused_in_the_papers_mapping(cpu, distances):
    words = (
        "--mapping published has all ants of a colony on one rank: expected 1 rank, or several colonies; found 3 ranks"
    )
    assert refusal(AntColony, cpu, one_of(3), distances, Settings(ants=6), mapping="published") == words
    engine = AntColony(cpu, one_of(3), distances, Settings(ants=6, colonies=5), mapping="published")
    assert [colony.number for colony in engine.colonies] == [4]


# --- colonies ---


def test_tours_beyond_31_bits_are_refused(cpu, distances):
    far = distances.astype(np.uint32)
    far[0, 1] = far[1, 0] = 2**31 // N + 1
    words = f"tours of 13 cities at distances up to {2**31 // N + 1} do not fit 31 bits"
    assert refusal(AntColony, cpu, Solo(), far, Settings(ants=2)) == words
    far[0, 1] = far[1, 0] = 2**31 // N
    assert AntColony(cpu, Solo(), far, Settings(ants=2)).run(Iterations(1)).length < 2**31


@pytest.mark.parametrize(
    ("how", "iterations", "words"),
    [
        ({}, 2**31, f"iterations={2**31}: expected an integer from 1 to {2**31 - 1}"),
        ({"seed": -1}, 1, "argument colony.seed is u64; -1 does not fit"),
        ({"seed": 2**64}, 1, f"argument colony.seed is u64; {2**64} does not fit"),
        ({"team": (32, 1)}, 1, "a team of 32 lanes; this device runs teams of 1 to 1"),
    ],
)
def test_a_run_is_refused(cpu, distances, how, iterations, words):
    assert words in refusal(AntColony(cpu, Solo(), distances, Settings(ants=2), **how).run, Iterations(iterations))


# --- memory ---

CRAMPED = {
    "as": {"ants": 50},
    "candidates": {"ants": 50, "candidates": 8},
    "2opt": {"ants": 50, "local_search": "2opt"},
    "2opt-near": {"ants": 50, "local_search": "2opt-near"},
    "3opt": {"ants": 50, "local_search": "3opt"},
    "islands": {**MMAS, "ants": 50},
}


@pytest.mark.parametrize("case", CRAMPED)
def test_more_memory_than_the_device_has_is_refused(cpu, distances, case):
    """The exact number of bytes is enough."""
    settings = Settings(**CRAMPED[case])
    needed = AntColony(cpu, Solo(), distances, settings).bytes_needed
    for enough in (needed, 0):  # 0: a device that does not tell its memory
        assert AntColony(with_memory(cpu, enough), Solo(), distances, settings).bytes_needed == needed
    words = f"50 ants on 13 cities need {needed} bytes; {cpu.device.name} has {needed - 1}"
    assert refusal(AntColony, with_memory(cpu, needed - 1), Solo(), distances, settings) == words


@pytest.mark.parametrize(
    ("changes", "ranks", "mapping"),
    [
        *((CRAMPED[case], ranks, "native") for case in CRAMPED for ranks in (1, 3)),
        *(({"colonies": colonies}, 1, "published") for colonies in (1, 3)),
    ],
    ids=str,
)
def test_the_bytes_that_are_named_are_those_taken(cpu, monkeypatch, changes, ranks, mapping):
    """At least these, except for a page of small buffers, and at most a quarter more."""
    settings, allocate, allocated = Settings(**{**changes, "ants": 500}), cpu.allocate, []

    def counting(shape, dtype):
        allocated.append(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        return allocate(shape, dtype)

    monkeypatch.setattr(cpu, "allocate", counting)
    for n in (40, 300):
        allocated.clear()
        distances = tsp.load(f"uniform:{n}:seed=1").distances
        engine = AntColony(cpu, one_of(ranks), distances, settings, mapping=mapping)
        assert sum(allocated) - 4096 <= engine.bytes_needed <= 1.25 * sum(allocated)


def test_memory_that_others_have_taken_is_refused_too(cpu, distances, monkeypatch):
    """If a device has less free memory than in total, its driver's message is passed on."""

    def nothing_left(shape, dtype):
        raise OutOfMemory(f"{shape} elements do not fit")

    monkeypatch.setattr(cpu, "allocate", nothing_left)
    needed = "50 ants on 13 cities need "
    line = refusal(AntColony, cpu, Solo(), distances, Settings(ants=50))
    assert line.startswith(needed) and line.endswith("elements do not fit")
    assert int(line.removeprefix(needed).split()[0]) > 50 * 2 * N
