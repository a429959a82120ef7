"""Taillard's generator gives QAPLIB's tai*a, number for number."""

import numpy as np
import pytest

from core.problems import qaplib, taillard


def numbers_of(path):
    """Return every number of a .dat file, read by plain Python."""
    return [int(token) for token in path.read_text().split()]


@pytest.mark.parametrize("name", taillard.SEEDS)
def test_published_seeds_give_the_files_of_qaplib(name, shared_data):
    instance = taillard.generate(name)
    entries = [*instance.flows.ravel().tolist(), *instance.distances.ravel().tolist()]
    assert [instance.n, *entries] == numbers_of(shared_data / "qaplib" / f"{name}.dat")


def test_words_are_those_of_the_minimal_standard_generator():
    # Park and Miller (1988) publish word 10,000 of seed 1
    words = taillard.random_words(1, 10_000)
    assert words.shape == (10_000,) and words[-1] == 1043618065
    assert words[:3].tolist() == [16807, 282475249, 1622650073]


def test_largest_seed_steps_as_plain_integers_do():
    x, expected = 2**31 - 2, []
    for _ in range(100):
        x = 16807 * x % (2**31 - 1)
        expected.append(x)
    assert taillard.random_words(2**31 - 2, 100).tolist() == expected


def test_first_rows_without_a_file():
    # the first lines of tai30a.dat and of its second matrix
    tai30a = taillard.generate("tai30a")
    first = [0, 27, 56, 28, 64, 98, 69, 69, 93, 35, 41, 67, 12, 33, 1, 71, 72, 26, 86, 67, 67, 24, 10, 46, 56]
    assert tai30a.flows[0, :25].tolist() == first
    assert tai30a.distances[0, :8].tolist() == [0, 21, 95, 82, 56, 41, 6, 25]
    assert tai30a.best_known == 1818146


def test_matrix_is_symmetric_with_an_empty_diagonal():
    entries = taillard.matrix(60, 12345)
    assert entries.dtype == np.int32 and (entries == entries.T).all() and not entries.diagonal().any()
    assert entries.min() == 0 and entries.max() == 99
    assert taillard.matrix(1, 5).tolist() == [[0]]


def test_specification_with_published_seeds_is_the_published_instance():
    instance = qaplib.load("taillard:30:seeds=1217840750,123456789")
    assert instance.sha256 == taillard.generate("tai30a").sha256
    assert instance.name == "taillard:30:seeds=1217840750,123456789" and instance.best_known == 1818146
    other = qaplib.load("taillard:30:seeds=123456789,1217840750")
    assert other.best_known is None and (other.flows == instance.distances).all()
