"""Taillard's generator gives QAPLIB's tai*a, number for number."""

import numpy as np
import pytest

from core.problems import qaplib, taillard


@pytest.mark.parametrize("name", taillard.SEEDS)
def test_published_seeds_give_the_files_of_qaplib(name, shared_data):
    instance = taillard.generate(name)
    entries = [*instance.flows.ravel().tolist(), *instance.distances.ravel().tolist()]
    written = (shared_data / "qaplib" / f"{name}.dat").read_text().split()
    assert [instance.n, *entries] == [*map(int, written)]


def test_words_are_those_of_the_minimal_standard_generator():
    # Park and Miller (1988) publish word 10,000 of seed 1
    words = taillard.random_words(1, 10_000)
    assert words.shape == (10_000,) and words[-1] == 1043618065
    assert words[:3].tolist() == [16807, 282475249, 1622650073]
    x = 2**31 - 2
    for word in taillard.random_words(2**31 - 2, 100).tolist():
        x = 16807 * x % (2**31 - 1)
        assert word == x


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
