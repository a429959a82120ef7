"""Permutation flow shops: Taillard's instances number for number, makespans by hand and brute force, heads and tails."""

import numpy as np
import pytest

from core.problems import flow_shops

# --- instances ---


def test_taillard_s_first_instance_comes_out_number_for_number():
    times = flow_shops.load("ta001").times
    assert times.shape == (20, 5)
    first = "54 83 15 71 77 36 53 38 27 87 76 91 14 29 12 77 32 87 68 94"
    last = "58 56 20 85 53 35 53 41 69 13 86 72 8 49 47 87 58 18 68 28"
    assert [times[:, 0].tolist(), times[:, 4].tolist()] == [[*map(int, row.split())] for row in (first, last)]


def test_all_hundred_and_twenty_are_there_in_their_sizes():
    assert list(flow_shops.PUBLISHED) == [f"ta{k:03d}" for k in range(1, 121)]
    shapes = [flow_shops.load(f"ta{k:03d}").times.shape for k in range(1, 121, 10)]
    assert shapes == list(flow_shops.SEEDS) and len({*flow_shops.PUBLISHED.values()}) == 120
    assert flow_shops.load("ta120").times.shape == (500, 20)


@pytest.mark.parametrize("name", [f"ta{k:03d}" for k in (*range(1, 51), *range(61, 81))])
def test_no_published_optimum_is_outside_the_bounds(name):
    instance = flow_shops.load(name)
    least, most = instance.bounds
    assert least <= instance.optimum < most
    assert instance.optimum <= instance.makespans(np.arange(instance.jobs)[None])[0]


def test_any_other_size_and_seed_is_an_instance_too():
    mine, again = flow_shops.load("taillard:20:5:seed=873654221"), flow_shops.load("ta001")
    assert (mine.sha256, mine.optimum, mine.name) == (again.sha256, None, "taillard:20:5:seed=873654221")
    assert flow_shops.load("taillard:9:2").name == "taillard:9:2:seed=1"
