"""Files: what loads, what is refused, and where the error points."""

import gzip
import pickle
import re

import numpy as np
import pytest

from core.problems import tsplib
from core.problems.errors import InstanceError
from tests.core.problems import samples


def test_every_file_of_tsplib_has_the_size_that_its_name_says(shared_data):
    checked = 0
    for file in sorted((shared_data / "tsplib").glob("*.tsp")):
        size = int(re.search(r"\d+$", file.stem)[0])
        if size <= 1500:
            instance = tsplib.load(file)
            assert (instance.name, instance.n) == (file.stem, size)
            assert (instance.coordinates is None) == (instance.edge_weight_type == "EXPLICIT")
            checked += 1
    assert checked > 80


def test_every_vehicle_routing_file_gives_its_nodes(shared_data):
    for file in sorted((shared_data / "vrp").glob("*.vrp")):
        instance = tsplib.load(file)
        assert instance.n == int(re.search(r"\d+$", file.stem)[0])
        assert instance.distances.shape == (instance.n, instance.n)


def test_national_instances_load(shared_data):
    sizes = {file.stem: tsplib.load(file).n for file in (shared_data / "national").glob("*.tsp")}
    assert sizes == {"dj38": 38, "lu980": 980, "p01": 15, "qa194": 194, "uy734": 734}


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


def test_nodes_may_come_in_any_order():
    lines = samples.EUCLIDEAN.splitlines()
    lines[6:11] = reversed(lines[6:11])
    assert tsplib.parse("\n".join(lines)).sha256 == tsplib.parse(samples.EUCLIDEAN).sha256


def test_vehicle_routing_keeps_the_nodes_and_the_depot():
    np.testing.assert_array_equal(tsplib.parse(samples.VEHICLES).distances, [[0, 5, 10], [5, 0, 5], [10, 5, 0]])


def test_explicit_instance_is_drawn_by_its_display_data():
    instance = tsplib.parse(samples.TRIANGLE)
    assert instance.coordinates is None
    np.testing.assert_array_equal(instance.display, [[0, 0], [1, 0], [1, 1], [0, 1]])


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


def test_packed_file_equals_the_plain_one(tmp_path):
    (tmp_path / "five.tsp").write_text(samples.EUCLIDEAN)
    (tmp_path / "five.tsp.gz").write_bytes(gzip.compress(samples.EUCLIDEAN.encode()))
    plain, packed = tsplib.load(tmp_path / "five.tsp"), tsplib.load(tmp_path / "five.tsp.gz")
    assert plain.sha256 == packed.sha256 and packed.name == "five"


def test_byte_order_mark_and_latin_1_comments_are_read(tmp_path):
    text = samples.EUCLIDEAN.replace("regular", "Gr\xf6tschel").encode("latin-1")
    (tmp_path / "umlaut.tsp").write_bytes(text)
    (tmp_path / "mark.tsp").write_bytes(b"\xef\xbb\xbf" + samples.EUCLIDEAN.encode())
    assert tsplib.load(tmp_path / "umlaut.tsp").sha256 == tsplib.load(tmp_path / "mark.tsp").sha256


EUC, TRI, CVRP, FIX = samples.EUCLIDEAN, samples.TRIANGLE, samples.VEHICLES, samples.FIXED
BROKEN = {
    "empty": ("", 1, "no TYPE in the whole file"),
    "dimension too large for the nodes": (EUC.replace(": 5", ": 6"), 11, "after 5 lines, expected 6"),
    "dimension too small": (EUC.replace(": 5", ": 4"), 11, "beyond the 4 of NODE_COORD_SECTION"),
    "dimension absurd": (EUC.replace(": 5", ": 999999999"), 4, "from 3 to 100000"),
    "dimension of digits without end": (EUC.replace(": 5", ": " + "9" * 9999), 4, "from 3 to 100000"),
    "dimension not a number": (EUC.replace(": 5", ": five"), 4, "DIMENSION 'five', expected an integer"),
    "dimension missing": (EUC.replace("DIMENSION : 5\n", ""), 11, "no DIMENSION"),
    "dimension empty": (EUC.replace(": 5", ":"), 4, "DIMENSION without a value"),
    "explicit dimension absurd": (TRI.replace(": 4", ": 100000"), 9, "after 10 weights"),
    "id zero": (EUC.replace("1 0 0", "0 0 0"), 7, "node 0, expected an integer from 1 to 5"),
    "id too large": (EUC.replace("5 0 10", "6 0 10"), 11, "node 6"),
    "id with a point": (EUC.replace("5 0 10", "5.0 0 10"), 11, "node 5.0"),
    "id twice": (EUC.replace("5 0 10", "4 0 10"), 11, "node 4 again, as on line 10"),
    "coordinate missing": (EUC.replace("2 10 0", "2 10"), 8, "2 numbers, expected a node and 2"),
    "coordinate too many": (EUC.replace("2 10 0", "2 10 0 0"), 8, "4 numbers"),
    "not a number": (EUC.replace("10.5", "nan"), 9, "'nan', expected a number"),
    "infinite": (EUC.replace("10.5", "inf"), 9, "'inf', expected a number"),
    "infinite by overflow": (EUC.replace("10.5", "1e999"), 9, "expected finite coordinates"),
    "python's digits": (EUC.replace("10.5", "1_0"), 9, "'1_0', expected a number"),
    "other digits": (EUC.replace("10.5", "\u0661"), 9, "expected a number"),
    "long number": (EUC.replace("10.5", "1" * 65), 9, "a number of 65 characters"),
    "too far apart": (EUC.replace("10.5", "1e10"), 9, "apart, expected distances of at most 2147483647"),
    "no end": (EUC.replace("\nEOF\n", ""), 11, "the end of the file within a line"),
    "cut within a section": (EUC[: EUC.index("4 5")], 9, "after 3 lines, expected 5"),
    "cut before a section": (EUC[: EUC.index("NODE")], 5, "no NODE_COORD_SECTION"),
    "cut before the demands": (CVRP[: CVRP.index("DEMAND")], 9, "no DEMAND_SECTION"),
    "cut in the depots": (CVRP[: CVRP.index("-1")], 15, "the end of DEPOT_SECTION, expected -1"),
    "cut before the display": (TRI[: TRI.index("DISPLAY_DATA_S")], 9, "no DISPLAY_DATA_SECTION"),
    "garbage after the end": (EUC + "more\n", 13, "'more' after EOF"),
    "garbage in the middle": (EUC.replace("2 10 0", "2 10 0\n?!"), 9, "'?!', expected a number"),
    "unknown key": (EUC.replace("COMMENT", "REMARK"), 2, "unknown keyword 'REMARK'"),
    "unknown section": (EUC.replace("EOF", "MORE_SECTION\nEOF"), 12, "unknown keyword 'MORE_SECTION'"),
    "repeated key": (EUC.replace("TYPE : TSP", "TYPE : TSP\nTYPE : TSP"), 4, "TYPE again, as on line 3"),
    "repeated section": (CVRP.replace("DEPOT", "DEMAND"), 14, "DEMAND_SECTION again, as on line 10"),
    "asymmetric type": (EUC.replace(": TSP", ": ATSP"), 3, "TYPE ATSP (asymmetric), expected TSP"),
    "tour file": (EUC.replace(": TSP", ": TOUR"), 3, "TYPE 'TOUR', expected TSP or CVRP"),
    "unknown distances": (EUC.replace("EUC_2D", "XRAY1"), 5, "EDGE_WEIGHT_TYPE 'XRAY1', expected one of"),
    "unknown layout": (TRI.replace("LOWER_DIAG_ROW", "SPARSE"), 5, "EDGE_WEIGHT_FORMAT 'SPARSE'"),
    "layout with coordinates": (EUC.replace("NODE", "EDGE_WEIGHT_FORMAT: UPPER_ROW\nNODE"), 6, "UPPER_ROW"),
    "two sorts of distances": (EUC.replace("EOF", "EDGE_WEIGHT_SECTION\n1\nEOF"), 12, "coordinates alone"),
    "edge list": (EUC.replace("EOF", "EDGE_DATA_SECTION\n1 2\n-1\nEOF"), 12, "EDGE_DATA_SECTION"),
    "too few weights": (TRI.replace(" 34 0", " 34"), 9, "after 9 weights, expected 10 weights"),
    "too many weights": (TRI.replace(" 34 0", " 34 0 5"), 9, "weight 11, expected 10 weights"),
    "negative weight": (TRI.replace("24 34", "24 -34"), 9, "weight -34, expected an integer from 0"),
    "fractional weight": (TRI.replace("13 23", "13 2.5"), 8, "weight 2.5, expected an integer"),
    "weight too large": (TRI.replace("24 34", "2147483648 34"), 9, "weight 2147483648"),
    "weight infinite": (TRI.replace("24 34", "24 1e400"), 9, "weight inf"),
    "asymmetric weights": (
        samples.FULL.replace("14 24", "14 25"),
        10,
        "weight 25 from city 4 to 2 and 24 back, expected a symmetric matrix",
    ),
    "fixed edge open": (FIX.replace("3 1\n-1", "3 1"), 6, "FIXED_EDGES_SECTION, expected -1"),
    "fixed edge of one": (FIX.replace("3 1", "3"), 6, "1 numbers, expected 2, or -1"),
    "text behind a section": (EUC.replace("SECTION", "SECTION : here"), 6, "'here' behind NODE_COORD"),
    "number in the header": (EUC.replace("TYPE : TSP", "17"), 3, "'17', expected KEY : value"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_file_is_refused_at_its_line(case):
    text, line, words = BROKEN[case]
    with pytest.raises(InstanceError) as raised:
        tsplib.parse(text, path="some.tsp")
    assert str(raised.value).startswith(f"some.tsp:{line}: found ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 300


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


def test_missing_damaged_and_oversized_files_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InstanceError, match="found no such file"):
        tsplib.load(tmp_path / "absent.tsp")
    with pytest.raises(InstanceError, match="found a folder, expected a TSPLIB file"):
        tsplib.load(tmp_path)
    (tmp_path / "cut.tsp.gz").write_bytes(gzip.compress(samples.EUCLIDEAN.encode())[:-20])
    (tmp_path / "plain.tsp.gz").write_text(samples.EUCLIDEAN)
    for name in ("cut.tsp.gz", "plain.tsp.gz"):
        with pytest.raises(InstanceError, match=f"{name}: found unreadable content"):
            tsplib.load(tmp_path / name)
    (tmp_path / "bomb.tsp.gz").write_bytes(gzip.compress(bytes(2**20)))
    monkeypatch.setattr("core.problems.files.LARGEST_TEXT", 2**19)
    with pytest.raises(InstanceError, match="more than 524288 bytes"):
        tsplib.load(tmp_path / "bomb.tsp.gz")


def test_whatever_tsplib95_raises_is_reported_as_the_files_fault(monkeypatch):
    def refuse(text):
        raise KeyError("surprise")

    monkeypatch.setattr("tsplib95.parse", refuse)
    with pytest.raises(InstanceError, match="some.tsp:6: found data that tsplib95 cannot read .*surprise"):
        tsplib.parse(samples.EUCLIDEAN, path="some.tsp")


def test_error_crosses_process_borders():
    error = pickle.loads(pickle.dumps(InstanceError("a.tsp", 3, "this", "that")))
    assert str(error) == "a.tsp:3: found this, expected that" and error.line == 3
