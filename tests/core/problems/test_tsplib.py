"""Files: what loads, what is refused, and where the error points."""

import pickle
import re

import numpy as np
import pytest

from core.problems.instances import tsplib
from core.problems.instances.errors import InstanceError
from tests.core.problems import samples


def is_of_its_size(file):
    """Load a file, and compare the size with the number at the end of its name."""
    instance, size = tsplib.load(file), int(re.search(r"\d+$", file.stem)[0])
    assert (instance.name, instance.n) == (file.stem, 15 if file.stem == "p01" else size)
    assert (instance.coordinates is None) == (instance.edge_weight_type == "EXPLICIT")
    assert instance.n > 1500 or instance.distances.shape == (instance.n, instance.n)


def test_every_vehicle_routing_and_national_instance_has_its_size(shared_data):
    files = [*(shared_data / "vrp").glob("*.vrp"), *(shared_data / "national").glob("*.tsp")]
    assert len(files) >= 10
    for file in files:
        is_of_its_size(file)


@pytest.mark.slow
def test_every_file_of_tsplib_has_the_size_that_its_name_says(shared_data):
    files = [*(shared_data / "tsplib").glob("*.tsp")]
    assert len(files) > 80
    for file in files:
        if int(re.search(r"\d+$", file.stem)[0]) <= 1500:
            is_of_its_size(file)


def test_files_of_tsplib_that_end_without_eof_are_complete(shared_data):
    for name in ("pr1002", "usa13509"):
        file = shared_data / "tsplib" / f"{name}.tsp"
        assert "EOF" not in file.read_text()
        assert tsplib.load(file).n == int(re.search(r"\d+$", name)[0])


def test_coordinates_and_distances_of_a_small_text():
    instance = tsplib.parse(samples.EUCLIDEAN)
    assert (instance.name, instance.n, instance.edge_weight_type) == ("five", 5, "EUC_2D")
    np.testing.assert_array_equal(instance.coordinates, [[0, 0], [10, 0], [10, 10.5], [5, 15], [0, 10]])
    # sqrt(25 + 20.25) = 6.727, sqrt(125) = 11.18
    assert instance.distances[2, 3] == 7 and instance.distances[4, 3] == 7
    assert instance.optimum is None
    np.testing.assert_array_equal(tsplib.parse(samples.VEHICLES).distances, [[0, 5, 10], [5, 0, 5], [10, 5, 0]])
    drawn = tsplib.parse(samples.TRIANGLE)  # by its display data
    assert drawn.coordinates is None and drawn.display.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_nodes_may_come_in_any_order():
    lines = samples.EUCLIDEAN.splitlines()
    lines[6:11] = reversed(lines[6:11])
    assert tsplib.parse("\n".join(lines)).sha256 == tsplib.parse(samples.EUCLIDEAN).sha256


def test_fixed_edges_are_kept_and_counted_in_the_digest():
    fixed = tsplib.parse(samples.FIXED)
    free = tsplib.parse(samples.FIXED.replace("FIXED_EDGES_SECTION\n3 1\n-1\n", ""))
    assert fixed.fixed_edges == ((0, 2),) and free.fixed_edges == ()
    assert fixed.sha256 != free.sha256


@pytest.mark.parametrize("text", samples.ALL)
def test_digest_survives_white_space_and_notation(text):
    rewritten = text.replace("\n", "  \r\n\r\n").replace(" : ", ":").replace("10 0", "+10.0\t0.00e0")
    rewritten = rewritten.replace("NAME", "COMMENT : another text\nNAME")
    assert tsplib.parse(rewritten).sha256 == tsplib.parse(text).sha256


def test_free_text_that_looks_like_keywords_is_only_text():
    text = samples.EUCLIDEAN.replace("the regular house", "DIMENSION : 7 EOF\tTYPE: ATSP")
    assert tsplib.parse(text).sha256 == tsplib.parse(samples.EUCLIDEAN).sha256


def test_byte_order_mark_and_latin_1_comments_are_read(tmp_path):
    text = samples.EUCLIDEAN.replace("regular", "Gr\xf6tschel").encode("latin-1")
    (tmp_path / "umlaut.tsp").write_bytes(text)
    (tmp_path / "mark.tsp").write_bytes(b"\xef\xbb\xbf" + samples.EUCLIDEAN.encode())
    assert tsplib.load(tmp_path / "umlaut.tsp").sha256 == tsplib.load(tmp_path / "mark.tsp").sha256


@pytest.mark.parametrize("text", samples.ALL)
def test_file_cut_anywhere_is_refused_or_the_same_instance(text):
    whole = tsplib.parse(text).sha256
    for end in range(len(text)):
        try:
            instance = tsplib.parse(text[:end])
        except InstanceError:
            continue
        # only the line EOF itself may be missing
        assert text[end:].strip() in ("", "EOF") and instance.sha256 == whole


def test_whatever_tsplib95_raises_is_reported_as_the_files_fault(monkeypatch):
    def refuse(text):
        raise KeyError("surprise")

    monkeypatch.setattr("tsplib95.parse", refuse)
    with pytest.raises(InstanceError, match="some.tsp:6: found data that tsplib95 cannot read .*surprise"):
        tsplib.parse(samples.EUCLIDEAN, path="some.tsp")
    error = pickle.loads(pickle.dumps(InstanceError("a.tsp", 3, "this", "that")))
    assert str(error) == "a.tsp:3: found this, expected that" and error.line == 3
