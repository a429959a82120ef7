"""Tour files, written and read."""

import numpy as np
import pytest

from core.problems import tours
from core.problems.errors import InstanceError

TOUR = "NAME : five.opt\nTYPE : TOUR\nDIMENSION : 5\nTOUR_SECTION\n1 3 5\n2\n4\n-1\nEOF\n"


def read_text(tmp_path, text):
    (tmp_path / "some.tour").write_text(text)
    return tours.read(tmp_path / "some.tour")


def test_file_holds_cities_from_one(tmp_path):
    tours.write(tmp_path / "a.tour", np.array([2, 0, 1], np.int32), name="three", comment="length 7")
    written = (tmp_path / "a.tour").read_text()
    assert written.startswith("NAME : three\nCOMMENT : length 7\nTYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n")
    assert written.endswith("TOUR_SECTION\n3\n1\n2\n-1\nEOF\n")
    assert tours.read(tmp_path / "a.tour", 3).tolist() == [2, 0, 1]
    with pytest.raises(InstanceError, match=r"a.tour:4: found a tour of 3 cities, expected 6"):
        tours.read(tmp_path / "a.tour", 6)


def test_tsplib95_reads_the_written_file(tmp_path):
    tsplib95 = pytest.importorskip("tsplib95")
    order = np.random.default_rng(3).permutation(100)
    tours.write(tmp_path / "a.tour", order, name="many")
    assert tsplib95.load(tmp_path / "a.tour").tours == [(order + 1).tolist()]


@pytest.mark.parametrize(
    "text",
    [TOUR, TOUR.replace("DIMENSION : 5\n", ""), TOUR.replace("-1", "-1\n-1"), TOUR.replace("EOF\n", "")],
)
def test_usual_variants_are_read(tmp_path, text):
    assert read_text(tmp_path, text).tolist() == [0, 2, 4, 1, 3]


@pytest.mark.parametrize("order", [[0, 1, 1], [1, 2, 3], [[0, 1, 2]]])
def test_only_a_permutation_is_written(tmp_path, order):
    with pytest.raises(ValueError, match="found"):
        tours.write(tmp_path / "a.tour", order, name="three")
    assert not (tmp_path / "a.tour").exists()


def test_name_cannot_smuggle_in_lines(tmp_path):
    with pytest.raises(ValueError, match="expected one line each"):
        tours.write(tmp_path / "a.tour", [0, 1, 2], name="three\nTYPE : TSP")
