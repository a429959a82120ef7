"""The cluster model agrees with SimGrid, which simulates the same exchanges on a platform that we describe to it."""

import json
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cluster.model.allreduce import LONG, finish_time_s, modelled_s
from cluster.model.interconnects import DOUBLING, find_interconnects
from cluster.model.run_time import Speed, Work, iteration, strips

PYTHON = "/usr/bin/python3"
REPLAY = Path(__file__).with_name("replay.py")
WITHIN = 0.10
WORD, ARRAY = 8, 2_000_000
NETWORKS = ("myri10g", "ethernet", "grid5000:2", "grid5000:5", "grid5000:7")


@cache
def why_not():
    """Reason against SimGrid here, or an empty text."""
    try:
        process = subprocess.run([PYTHON, "-c", "import simgrid"], capture_output=True, text=True, timeout=60)
    except OSError as error:
        return f"{PYTHON}: {error.strerror}"
    return f"{PYTHON} cannot import it: apt-get install python3-simgrid" if process.returncode else ""


@pytest.fixture(autouse=True)
def simgrid():
    if why_not():
        pytest.skip(f"no SimGrid here ({why_not()})")


def replayed(network, ranks, exchange, size, compute_s, **more):
    """Seconds of an iteration after others, or of the only one, by SimGrid."""
    places = network.places(ranks)
    sites = int(places.site[-1]) + 1
    ways = [float(network.travel_s(np.array(apart), places)) for apart in range(1, sites)]
    asked = {
        "hosts": places.host.tolist(),
        "sites": places.site.tolist(),
        "cores": [network.cores.alpha_s, 1 / network.cores.beta_s_per_byte],
        "between_hosts": [network.hosts.alpha_s, 1 / network.hosts.beta_s_per_byte],
        "between_sites": [ways, 1 / (network.between_sites.beta_s_per_byte or 1e-12)],
        "exchange": exchange,
        "bytes": size,
        "compute_s": compute_s,
        "pieces": 1,
        "iterations": 8,
    }
    command = [PYTHON, str(REPLAY)]
    ended = subprocess.run(command, input=json.dumps(asked | more), capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    times = json.loads(ended.stdout.splitlines()[-1])
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else times[0]


def agrees(modelled, simulated):
    return abs(modelled / simulated - 1) <= WITHIN


def words_exchange(network, ranks):
    is_regular = ranks % network.cores_per_host == 0 and ranks > network.cores_per_host
    return "hosts first" if is_regular and network.algorithm != DOUBLING else "doubling"


def check_neighbourhood(network, ranks):
    """A word an iteration, beside a scan of about the same duration."""
    work, speed = Work("neighbourhood", 100_000), Speed(1e-9)
    alone = iteration(work, speed, network, ranks)
    simulated = replayed(network, ranks, words_exchange(network, ranks), WORD, alone.compute_s)
    talk = modelled_s(network, ranks, WORD)
    assert agrees(alone.compute_s + talk, simulated)
    assert agrees(talk, simulated - alone.compute_s)


def check_array(network, ranks):
    simulated = replayed(network, ranks, "halving", ARRAY, 0.0, iterations=1)
    assert agrees(finish_time_s(network, ranks, ARRAY, 1), simulated)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_word_an_iteration_takes_as_long_as_in_simgrid(name):
    check_neighbourhood(find_interconnects(name)[0], 12)


@pytest.mark.parametrize("name", ["myri10g", "grid5000:7"])
def test_a_word_by_doubling_and_the_sum_of_an_array_take_as_long_as_in_simgrid(name):
    assert ARRAY >= LONG
    check_neighbourhood(replace(find_interconnects(name)[0], algorithm=DOUBLING), 24)
    check_array(find_interconnects(name)[0], 24)


@pytest.mark.parametrize(("name", "compute_s"), [("myri10g", 1e-5), ("ethernet", 1e-3), ("grid5000:5", 1e-3)])
def test_a_pipeline_of_strips_takes_as_long_as_in_simgrid(name, compute_s):
    network, ranks, pieces, border = replace(find_interconnects(name)[0], cores_per_host=1), 6, 24, 1000
    work = Work("strips", ranks * pieces, reduced_bytes=border * pieces, pieces=pieces)
    modelled = strips(work, Speed(compute_s), network, ranks)
    end = modelled_s(network, ranks, WORD)
    simulated = replayed(network, ranks, "strips", border, compute_s, pieces=pieces, iterations=1)
    assert agrees(modelled.total_s - end, simulated)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ranks"), [(name, ranks) for k, name in enumerate(NETWORKS) for ranks in ((4, 16, 64)[k % 3], 88, 128)]
)
def test_words_and_arrays_agree_on_every_network(name, ranks):
    network = find_interconnects(name)[0]
    check_neighbourhood(network, ranks)
    check_neighbourhood(replace(network, algorithm=DOUBLING), ranks)
    check_array(network, ranks)
