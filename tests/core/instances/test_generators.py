"""Generated instances: the same numbers for ever."""

import numpy as np

from core import tours as tsp
from core.instances.random_words import random_words
from core.tours import generators


def split_mix(seed: int, count: int) -> list[int]:
    """SplitMix64's first words in plain integers, with the steps of its authors' C code."""
    mask, words = 2**64 - 1, []
    for _ in range(count):
        seed = seed + 0x9E3779B97F4A7C15 & mask
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        words.append(z ^ z >> 31)
    return words


def test_words_are_splitmix64s():
    # published for seed 1234567
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert random_words(1234567, 0, 4).tolist() == known == split_mix(1234567, 4)
    seed = 2**63 - 1
    assert random_words(seed, 7, 50).tolist() == split_mix(seed, 57)[7:]


def test_uniform_points_are_the_words_scaled():
    instance = generators.generate("uniform:50:seed=9:side=1000")
    expected = [(word >> 32) * 1000 >> 32 for word in split_mix(9, 100)]
    assert instance.coordinates.astype(int).ravel().tolist() == expected


def test_clustered_points_are_the_words_scaled():
    words = split_mix(4, 2 * 3 + 25 * 20)
    centres = [[(w >> 32) * 10_000 >> 32 for w in words[2 * c : 2 * c + 2]] for c in range(3)]
    expected = []
    for k in range(20):
        own = words[6 + 25 * k : 6 + 25 * (k + 1)]
        centre = centres[(own[0] >> 32) * 3 >> 32]
        for axis in range(2):
            total = sum(w >> 48 for w in own[1 + 12 * axis : 13 + 12 * axis])
            expected.append(centre[axis] + ((total - 6 * 2**16) * 300 >> 16))
    instance = generators.generate("clustered:20:seed=4:clusters=3")
    assert instance.coordinates.astype(int).ravel().tolist() == expected


def test_grid_holds_every_point_once_and_knows_its_optimum():
    instance = generators.generate("grid:24:seed=5:step=7")
    points = sorted(map(tuple, instance.coordinates.astype(int).tolist()))
    assert points == sorted((7 * x, 7 * y) for y in range(5) for x in range(5) if 5 * y + x < 24)
    assert instance.optimum is None
    full = generators.generate("grid:20:seed=5:step=7")
    # down the first column, then to and fro through the rows
    comb = [(0, 0), (0, 1), (0, 2), (0, 3)]
    comb += [(x, y) for y in (3, 2, 1, 0) for x in ((1, 2, 3, 4) if y % 2 else (4, 3, 2, 1))]
    where = {tuple(point): k for k, point in enumerate((full.coordinates / 7).astype(int).tolist())}
    tour = [where[point] for point in comb]
    assert full.optimum == 140 == tsp.tour_length(full.distances, tour)


def test_seed_changes_the_instance_and_the_name_says_all():
    first, again, other = (generators.generate(f"uniform:30:seed={seed}") for seed in (1, 1, 2))
    assert first.sha256 == again.sha256 != other.sha256
    assert first.name == "uniform:30:seed=1:side=10000"
    assert generators.generate(first.name).sha256 == first.sha256
    assert generators.generate("uniform:30").sha256 == first.sha256
    assert first.distances.dtype == np.uint16
