"""Files: what loads, what is refused, and where the error points."""

import pickle
import re

import numpy as np
import pytest

from core import tours as tsp
from core.errors import UserError
from core.instances import tsplib
from core.instances.errors import InstanceError
from core.tours import distances
from core.tours.problem import TspTour
from tests.core.instances import samples


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
        if file.stem != "linhp318" and int(re.search(r"\d+$", file.stem)[0]) <= 1500:
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


LINES = samples.EUCLIDEAN.splitlines()
SAME = {
    "nodes in another order": "\n".join([*LINES[:6], *LINES[10:5:-1], *LINES[11:]]).encode(),
    "lower-case keys and a DOS end of file": samples.EUCLIDEAN.lower().replace("\n", "\r\n").encode() + b"\x1a\r\n\x1a",
    "a comment like keywords": samples.EUCLIDEAN.replace("the regular house", "DIMENSION : 7 EOF\tTYPE: ATSP").encode(),
    "Latin-1": samples.EUCLIDEAN.replace("regular", "Gr\xf6tschel").encode("latin-1"),
    "a byte order mark": b"\xef\xbb\xbf" + samples.EUCLIDEAN.encode(),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_other_texts_of_an_instance_are_read_as_the_same(tmp_path, text):
    (tmp_path / "same.tsp").write_bytes(text)
    assert tsplib.load(tmp_path / "same.tsp").sha256 == tsplib.parse(samples.EUCLIDEAN).sha256


def test_a_part_that_no_search_obeys_can_be_dropped_by_name():
    text = samples.FIXED.replace("EOF", "Time_Window_Section\n1 0 9\nDISTANCE: 5\nEOF")
    dropped = tsplib.parse(text, drop=["DISTANCE", "fixed_edges_section", "TIME_WINDOW_SECTION"])
    assert dropped.name == "five without FIXED_EDGES_SECTION and TIME_WINDOW_SECTION and DISTANCE"
    assert dropped.sha256 == tsplib.parse(samples.EUCLIDEAN).sha256
    for name in ("CAPACITY", "DIMENSION", "EDGE_DATA_SECTION"):
        with pytest.raises(InstanceError, match=f"text: found no {name} to drop, expected a key or section that is"):
            tsplib.parse(text, drop=["DISTANCE", "FIXED_EDGES_SECTION", "TIME_WINDOW_SECTION", name])


def test_a_dropped_part_of_what_has_none_is_refused(tmp_path):
    (tmp_path / "p_d.txt").write_text("0 1 2\n1 0 3\n2 3 0\n")
    for spec in ("uniform:9:seed=1", str(tmp_path / "p_d.txt")):
        with pytest.raises(InstanceError, match="found no FIXED_EDGES_SECTION to drop"):
            tsp.load(spec, drop="FIXED_EDGES_SECTION")


def test_parts_of_vehicle_routing_are_skipped_with_a_note(tmp_path):
    path = tmp_path / "v.vrp"
    nodes = samples.VEHICLES[samples.VEHICLES.index("NODE") : samples.VEHICLES.index("DEMAND")]
    header = "DIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nVEHICLES : 2\n"
    sections = "DEMAND_SECTION\n1 0 2\nVEHICLES_FIXED_COST_SECTION\n1 5\nDEPOT_SECTION\n1\n"
    digest = tsplib.parse(samples.VEHICLES).sha256
    assert tsplib.parse(f"TYPE : TSP\n{header}{nodes}").sha256 == digest  # no EOF
    for kind in ("TSP", "CVRP", "VRPB", "HFVRP"):
        path.write_text(f"TYPE : {kind}\n{header}{nodes}{sections}EOF\n")
        words = (
            "v: VEHICLES, DEMAND_SECTION, VEHICLES_FIXED_COST_SECTION and DEPOT_SECTION do not concern a tour through"
        )
        with pytest.warns(UserWarning, match=f"^{words} all 3 nodes and are skipped$"):
            assert tsp.load(str(path)).sha256 == digest


def test_an_asymmetric_file_is_read_where_a_search_takes_it(tmp_path):
    path = tmp_path / "a.atsp"
    path.write_text(samples.ASYMMETRIC)
    with pytest.raises(InstanceError, match="a.atsp:2: found TYPE ATSP .*onekernel heldkarp"):
        tsp.load(str(path))
    instance = tsp.load(str(path), symmetric=False)
    expected = [[0, 12, 13, 14], [12, 0, 23, 24], [13, 23, 0, 34], [1, 5, 34, 0]]
    assert instance.name == "a" and instance.distances.tolist() == expected
    with pytest.raises(UserError, match="a has asymmetric distances"):
        TspTour(instance)
    for wrong, line in ((": ATSP", ": TSP"), 10), (("FULL_MATRIX", "UPPER_ROW"), 5), (("12 0", "-12 0"), 8):
        with pytest.raises(InstanceError, match=f"text:{line}: found"):
            tsplib.parse(samples.ASYMMETRIC.replace(*wrong), symmetric=False)


UNIT = np.random.default_rng(1).random((40, 3))


@pytest.mark.parametrize("kind", [kind for kind in distances.FORMULAS if kind != "GEO"])
def test_coordinates_in_too_large_a_unit_have_a_note(kind):
    def notes(factor):
        points = UNIT[:, : distances.FORMULAS[kind][0]] * factor
        return tsp.TspInstance("u", coordinates=points, edge_weight_type=kind).notes

    for factor in (1e-9, 1, 10):
        (note,) = notes(factor)
        assert note.startswith(f"u: TSPLIB's {kind} rounds distances to integers, which changes those of nearest")
    assert notes(0) == notes(1e4) == []


def test_rounding_error_is_that_of_the_nearest_city_elsewhere():
    points = np.array([[0, 0], [0, 0], [1.25, 0], [1.25, 1.75]])
    # 1.25 becomes 1, 1.75 becomes 2
    assert distances.rounding_error(points, "EUC_2D") == pytest.approx((3 * 0.25 / 1.25 + 0.25 / 1.75) / 4)


@pytest.mark.parametrize(
    ("place", "count"),
    [((52.31, 13.24), 0), ((52.52, 13.40), 0), ((52.6, 13.4), 1), ((52.375, 13.4), 1), ((91, 13.4), 1), ((52, 181), 1)],
)
def test_decimal_degrees_have_a_note(place, count):
    points = np.array([[48.08, 11.34], place, [-53.33, 9.59]])
    notes = tsp.TspInstance("g", coordinates=points, edge_weight_type="GEO").notes
    assert len(notes) == count and all("GEO reads latitude, then longitude, as DDD.MM" in note for note in notes)


def test_published_instances_have_no_note_on_their_scale(shared_data):
    names = "tsplib/eil101.tsp tsplib/ali535.tsp tsplib/fl417.tsp tsplib/ulysses22.tsp national/qa194.tsp vrp/eil30.vrp"
    for name in names.split():
        instance = tsplib.load(shared_data / name)
        assert len(instance.notes) == bool(instance.skipped) == name.endswith("vrp")


@pytest.mark.parametrize("text", samples.ALL)
def test_digest_survives_white_space_and_notation(text):
    rewritten = text.replace("\n", "  \r\n\r\n").replace(" : ", ":").replace("10 0", "+10.0\t0.00e0")
    rewritten = rewritten.replace("NAME", "COMMENT : another text\nNAME")
    assert tsplib.parse(rewritten).sha256 == tsplib.parse(text).sha256


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
