"""Broken files, wrong names, wrong parts and wrong solutions: each is refused in one line that says what was found."""

import math
from functools import partial

import numpy as np
import pytest

from core import tours as tsp
from core.instances.errors import InstanceError
from core.ppp import perceptron
from core.qap import qaplib
from core.tables.knapsack.problem import MOST_CAPACITY, Knapsack, generate
from core.tables.lcs import strings as pairs
from core.tours import generators
from core.weierstrass import scorer as weierstrass
from tests.core.instances import samples
from tests.core.instances.test_fuzz import PISINGER, READERS, TOUR

# --- files: the reader, a text, the line of the fault or none, and what is said of it ---

EUC, TRI, CVRP, FIX = samples.EUCLIDEAN, samples.TRIANGLE, samples.VEHICLES, samples.FIXED
QAP = "3\n\n0 1 2\n3 0 4\n5 6 0\n\n 0 7 8\n 9 0 10\n 11 12 0\n"
SIGNS = "2 3\n+1 -1 1\n-1 -1 +1\n\n1\n3\n"

FILES = [
    ("TSPLIB", "", 1, "no TYPE in the whole file"),
    ("TSPLIB", EUC.replace(": 5", ": 6"), 11, "after 5 lines, expected 6"),
    ("TSPLIB", EUC.replace(": 5", ": 4"), 11, "beyond the 4 of NODE_COORD_SECTION"),
    ("TSPLIB", EUC.replace(": 5", ": 999999999"), 4, "from 3 to 100000"),
    ("TSPLIB", EUC.replace(": 5", ": five"), 4, "DIMENSION 'five', expected an integer"),
    ("TSPLIB", EUC.replace("DIMENSION : 5\n", ""), 11, "no DIMENSION"),
    ("TSPLIB", EUC.replace(": 5", ":"), 4, "DIMENSION without a value"),
    ("TSPLIB", TRI.replace(": 4", ": 100000"), 9, "after 10 weights"),
    ("TSPLIB", EUC.replace("5 0 10", "6 0 10"), 11, "node 6, expected an integer from 1 to 5"),
    ("TSPLIB", EUC.replace("5 0 10", "4 0 10"), 11, "node 4 again, as on line 10"),
    ("TSPLIB", EUC.replace("2 10 0", "2 10"), 8, "2 numbers, expected a node and 2"),
    ("TSPLIB", EUC.replace("10.5", "nan"), 9, "'nan', expected a number"),
    ("TSPLIB", EUC.replace("10.5", "1e999"), 9, "expected finite coordinates"),
    ("TSPLIB", EUC.replace("10.5", "1" * 65), 9, "a number of 65 characters"),
    ("TSPLIB", EUC.replace("10.5", "1e10"), 9, "apart, expected distances of at most 2147483647"),
    ("TSPLIB", EUC.replace("\nEOF\n", ""), 11, "the end of the file within a line"),
    ("TSPLIB", EUC[: EUC.index("NODE")], 5, "no NODE_COORD_SECTION"),
    ("TSPLIB", CVRP[: CVRP.index("DEMAND")], 9, "the end of a CVRP without EOF, expected EOF"),
    ("TSPLIB", CVRP[: CVRP.index("-1")], 15, "the end of a CVRP"),
    ("TSPLIB", TRI[: TRI.index("DISPLAY_DATA_S")], 9, "no DISPLAY_DATA_SECTION"),
    ("TSPLIB", EUC + "more\n", 13, "'more' after EOF"),
    ("TSPLIB", EUC.replace("COMMENT", "REMARK"), 2, "unknown keyword 'REMARK'"),
    ("TSPLIB", EUC.replace("TYPE : TSP", "TYPE : TSP\nTYPE : TSP"), 4, "TYPE again, as on line 3"),
    ("TSPLIB", CVRP.replace("DEPOT", "DEMAND"), 14, "DEMAND_SECTION again, as on line 10"),
    ("TSPLIB", EUC.replace(": TSP", ": ATSP"), 3, "TYPE ATSP (asymmetric), expected TSP"),
    ("TSPLIB", EUC.replace(": TSP", ": TOUR"), 3, "TYPE 'TOUR', expected TSP, ATSP, CVRP or another"),
    ("TSPLIB", EUC.replace(": TSP", ": SOP"), 3, "TYPE 'SOP'"),
    ("TSPLIB", EUC.replace(": TSP", ": HCP"), 3, "TYPE 'HCP'"),
    ("TSPLIB", EUC.replace(": TSP", ": ACVRP"), 3, "TYPE ACVRP (asymmetric)"),
    ("TSPLIB", EUC.replace("EUC_2D", "XRAY1"), 5, "EDGE_WEIGHT_TYPE 'XRAY1', expected one of"),
    ("TSPLIB", TRI.replace("LOWER_DIAG_ROW", "SPARSE"), 5, "EDGE_WEIGHT_FORMAT 'SPARSE'"),
    ("TSPLIB", EUC.replace("NODE", "EDGE_WEIGHT_FORMAT: UPPER_ROW\nNODE"), 6, "UPPER_ROW"),
    ("TSPLIB", EUC.replace("EOF", "EDGE_WEIGHT_SECTION\n1\nEOF"), 12, "coordinates alone"),
    ("TSPLIB", EUC.replace("EOF", "EDGE_DATA_SECTION\n1 2\n-1\nEOF"), 12, "EDGE_DATA_SECTION, which no"),
    ("TSPLIB", EUC.replace("EOF", "Time_Window_Section\n1 0 9\nEOF"), 12, "TIME_WINDOW_SECTION, which no search here"),
    ("TSPLIB", EUC.replace("TYPE", "SCALE : 10\nTYPE", 1), 3, "expected a file without it, or --drop SCALE"),
    ("TSPLIB", TRI.replace(" 34 0", " 34"), 9, "after 9 weights, expected 10 weights"),
    ("TSPLIB", TRI.replace(" 34 0", " 34 0 5"), 9, "weight 11, expected 10 weights"),
    ("TSPLIB", TRI.replace("24 34", "24 -34"), 9, "weight -34, expected an integer from 0"),
    ("TSPLIB", TRI.replace("24 34", "2147483648 34"), 9, "weight 2147483648"),
    ("TSPLIB", samples.FULL.replace("14 24", "14 25"), 10, "weight 25 from city 4 to 2 and 24 back"),
    ("TSPLIB", FIX, 12, "FIXED_EDGES_SECTION, which no search here obeys, expected a file without it, or --drop FIXED"),
    ("TSPLIB", EUC.replace("SECTION", "SECTION : here"), 6, "'here' behind NODE_COORD"),
    ("TSPLIB", EUC.replace("TYPE : TSP", "17"), 3, "'17', expected KEY : value"),
    ("tour", TOUR.replace("TOUR\n", "TSP\n", 1), 2, "TYPE 'TSP', expected TOUR"),
    ("tour", TOUR.partition("TOUR_SECTION")[0] + "EOF\n", 4, "no TOUR_SECTION"),
    ("tour", TOUR.replace("-1\n", ""), 7, "expected -1"),
    ("tour", TOUR.replace("4\n-1", "-1"), 7, "a tour of 4 cities"),
    ("tour", TOUR.replace("4\n-1", "2\n-1"), 7, "city 2 again, as on line 6"),
    ("tour", TOUR.replace("4\n-1", "6\n-1"), 7, "city 6, expected an integer from 1 to 5"),
    ("tour", TOUR.replace("4\n-1", "four\n-1"), 7, "'four', expected a number"),
    ("tour", TOUR.replace("-1\n", "-1\n1 2 3 4 5\n-1\n"), 9, "'1' after -1"),
    ("tour", "TYPE : TOUR\nTOUR_SECTION\n1 2\n-1\nEOF\n", 4, "a tour of 2 cities, expected 3"),
    ("QAPLIB", " \n\n", 1, "an empty file, expected n"),
    ("QAPLIB", "\n0\n", 2, "n '0', expected an integer from 1 to 4096"),
    ("QAPLIB", "2\n0 5 0 0\n0 0 7 0\n", None, "zeros alone on one side of the diagonal in both matrices"),
    ("QAPLIB", "3\n", 1, "the end after 0 entries, expected 18 entries, two matrices of 3 by 3"),
    ("QAPLIB", QAP.replace("12 0", "12"), 9, "the end after 17 entries"),
    ("QAPLIB", QAP + "\n4\n", 11, "'4' after them, expected 18 entries"),
    ("QAPLIB", QAP.replace("10", "1O"), 8, "entry '1O', expected an integer from -2147483647 to 2147483647"),
    ("QAPLIB", QAP.replace("10", "\u0661"), 8, "entry '\u0661'"),
    ("QAPLIB", QAP.replace("10", "2147483648"), 8, "entry '2147483648'"),
    ("QAPLIB", QAP.replace("10", "400000000"), None, "differences of up to 2400000148, expected at most 2147483647"),
    ("perceptron", "", 1, "an empty file, expected a line 'm n'"),
    ("perceptron", "2 x\n", 1, "'2 x', expected two integers 'm n'"),
    ("perceptron", "2 -3\n", 1, "2 rows and -3 columns, expected at least one of each"),
    ("perceptron", "99999 99999\n", 1, "99999 rows, 99999 columns and weights 30 and 1, so costs up to"),
    ("perceptron", "2 3\n\n1 1 1\n", 3, "the end after 1 rows, expected 2 rows of 3 entries"),
    ("perceptron", SIGNS.replace("-1 1\n", "-1 1 1\n"), 2, "4 entries, expected 3"),
    ("perceptron", SIGNS.replace("-1 1\n", "-1 0\n"), 2, "'0', expected +1 or -1"),
    ("perceptron", SIGNS.replace("1\n3", "1"), 5, "the end after 1 targets, expected 2 targets"),
    ("perceptron", SIGNS + "1\n", 7, "'1' after them, expected 2 targets"),
    ("perceptron", SIGNS[:-2] + "5\n", 6, "target '5', expected an odd integer from 0 to 3"),
    ("perceptron", SIGNS.replace("\n1\n", "\n2\n"), 5, "target '2', expected an odd integer"),
    ("knapsack", "", 1, "the end of the file, expected number of items, capacity"),
    ("knapsack", "2 10 3\n", 1, "'2 10 3', expected number of items, capacity"),
    ("knapsack", "2 ten\n", 1, "capacity 'ten', expected an integer from 0 to 1073741823"),
    ("knapsack", "0 5\n", 1, "number of items '0', expected an integer from 1 to 1000000"),
    ("knapsack", "2 10\n3 4\n", 2, "the end of the file, expected value, weight of item 2 of 2"),
    ("knapsack", "1 10\n\n3 -4\n", 3, "weight '-4', expected an integer from 0 to 4294967295"),
    ("knapsack", "1 10\n3 4\n5 6\n", 3, "'5 6', expected the end of the file after 1 items"),
    ("knapsack by Pisinger", PISINGER.replace("n 3", "n 0", 1), 2, "number of items '0', expected an integer from 1"),
    ("knapsack by Pisinger", PISINGER.replace("c 995", "C 995"), 3, "'C 995', expected c capacity"),
    ("knapsack by Pisinger", PISINGER.replace("time", "took"), 5, "'took 0.00', expected time and seconds"),
    ("knapsack by Pisinger", PISINGER.replace("time 0.00", ","), 5, "',', expected time and seconds"),
    ("knapsack by Pisinger", PISINGER.replace("326,1", "326"), 7, "'2,506,326', expected number, value, weight, x"),
    ("knapsack by Pisinger", PISINGER.replace("326,1", "326,2"), 7, "x '2', expected an integer from 0 to 1"),
    ("knapsack by Pisinger", PISINGER.replace("n 3", "n 2", 1), 8, "'3,416,248,1', expected ----- after 2 items"),
    ("knapsack by Pisinger", PISINGER.replace("n 3", "n 4", 1), 9, "'-----', expected number, value, weight, x of"),
    ("matrix", "0 1_000\n1 0\n", 1, "'1_000'"),
    ("matrix", "0 " + "9" * 5000 + "\n1 0\n", 1, "distance inf from city 0 to 1, expected an integer"),
    ("FASTA pair", "ACGT\n>one\n", 1, "'ACGT', expected a header, > and a name, before any letters"),
    ("FASTA pair", ">one\nAC\nA1\n", 3, "'1', expected letters, * or -"),
    ("FASTA pair", b">one\nA\xc3\n", 2, r"'\xc3', expected letters, * or -"),
    ("FASTA pair", "; nothing\n", None, "no record, expected a header"),
    ("FASTA pair", ">one\nA\n", None, "one record, expected two"),
]


@pytest.mark.parametrize(
    ("reader", "text", "line", "words"),
    FILES,
    ids=[f"{row[0]}: {ascii(row[3].partition(',')[0])[1:-1]}" for row in FILES],
)
def test_a_broken_file_is_refused_at_its_line(tmp_path, reader, text, line, words):
    path = tmp_path / f"broken{READERS[reader].suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InstanceError) as refusal:
        READERS[reader].read(str(path))
    said = str(refusal.value)
    assert said.startswith(f"{path}: found " if line is None else f"{path}:{line}: found ") and words in said
    assert refusal.value.line == line and "\n" not in said and len(said) < 300 + len(str(path))


# --- names and generators ---

NAMES = [
    (perceptron.load, "73x73", "found no such file and no such size, expected a file, or m-n or m-n:seed=INTEGER"),
    (partial(perceptron.load, data_folder="nowhere"), "73-73", "nowhere: found no such folder"),
    (perceptron.load, "0-73", "found 0 rows and 73 columns, expected at least one of each"),
    (perceptron.load, "73-73:seed=9223372036854775808", "seed 9223372036854775808, expected an integer from 0"),
    (perceptron.load, "6000-6000", "weights 30 and 1, so costs up to 2160012000, expected costs of at most 2147483647"),
    (generators.generate, "uniform", "no size, expected uniform:SIZE[:seed=VALUE][:side=VALUE]"),
    (generators.generate, "uniform:10:seed=9223372036854775808", "seed '9223372036854775808'"),
    (generators.generate, "uniform:10:sed=1", "option 'sed=1' (unknown)"),
    (generators.generate, "uniform:10:seed=1:seed=2", "option 'seed=2' (again)"),
    (generators.generate, "uniform:10:side=0", "side '0', expected an integer from 1"),
    (generators.generate, "hexagonal:10", "no such generator"),
    (qaplib.load, "taillard:30:seeds=1", "no such generator, expected taillard:N:seeds=FLOWS,DISTANCES"),
    (qaplib.load, "taillard:4097:seeds=1,2", "size 4097, expected an integer from 1 to 4096"),
    (qaplib.load, "taillard:10:seeds=0,2", "seed 0, expected an integer from 1 to 2147483646"),
    (qaplib.load, "taillard:1000:seeds=1,2", "at most 2147483647, since costs have 32 bits"),
    (pairs.generate, "random", "found no length, expected random:LENGTH[:other=VALUE]"),
    (pairs.generate, "random:5:letters=257", "found letters '257', expected an integer from 1 to 256"),
    (pairs.generate, "random:5:seed", "found seed '', expected an integer from 0 to 9223372036854775807"),
    (pairs.generate, "half:5:letters=2", "found option 'letters=2' (unknown), expected half:LENGTH[:seed=VALUE]"),
    (pairs.generate, "quarter:5", "found no such generator, expected random:N or half:N"),
    (weierstrass.load, "weierstrass:342", "expected 1 to 341, so that costs in units of 2^-20 fit in 31 bits"),
    (weierstrass.load, "sphere:3", "no such function"),
]


@pytest.mark.parametrize(
    ("load", "spec", "words"), NAMES, ids=[f"{ascii(spec)} {ascii(words)[1:-1][:20]}" for _, spec, words in NAMES]
)
def test_what_names_no_instance_is_refused(load, spec, words):
    with pytest.raises(InstanceError) as refusal:
        load(spec)
    assert words in str(refusal.value) and "\n" not in str(refusal.value)


# --- parts of an instance, and a knapsack that cannot be generated ---

SQUARE = np.array([[0.0, 0.0], [0.0, 3.0], [4.0, 3.0], [4.0, 0.0]])


def perceptron_of(**change):
    parts = {"name": "given", "matrix": [[1, -1], [1, 1]], "targets": [2, 0]} | change
    return lambda: perceptron.PerceptronInstance(**parts)


def knapsack_of(weights, values, capacity):
    return lambda: Knapsack("test", np.array(weights), np.array(values), capacity)


def tour_of(**parts):
    return lambda: tsp.TspInstance("by hand", **parts)


def assignment_of(*matrices):
    return lambda: qaplib.QapInstance("wrong", *matrices)


PARTS = [
    (assignment_of([[1, 2]], [[1]]), "flows of shape (1, 2), expected a square matrix"),
    (assignment_of(np.zeros((0, 0), int), [[1]]), "expected 1 to 4096 rows"),
    (assignment_of([[np.nan]], [[1]]), "flows such as nan, expected integers"),
    (assignment_of([[1, 2], [3]], [[1]]), "flows in rows of unequal lengths, expected an array of integers"),
    (assignment_of([[1]], [[-(2**31)]]), "distances of -2147483648"),
    (assignment_of([[1]], np.zeros((2, 2), int)), "1 facilities, 2 locations"),
    (perceptron_of(matrix=[1, -1]), "a matrix of shape (2,)"),
    (perceptron_of(matrix=[[1, 0], [1, 1]]), "0 in the matrix, expected +1 or -1"),
    (perceptron_of(targets=[0]), "targets of shape (1,)"),
    (perceptron_of(targets=[0.5, 2.0]), "targets such as 0.5"),
    (perceptron_of(targets=[0, 4]), "target 4, expected an even integer from 0 to 2"),
    (perceptron_of(secret=[1]), "a secret of shape"),
    (perceptron_of(secret=[1, 0]), "0 in the secret"),
    (perceptron_of(secret=[-1, -1]), "a secret with other products than the targets"),
    (knapsack_of([1, 2], [1], 3), "found 2 weights, 1 values, expected as many of both"),
    (knapsack_of([], [], 3), "found weights of shape (0,)"),
    (knapsack_of([1.5], [1], 3), "found weights such as 1.5, expected integers"),
    (knapsack_of([1], [-1], 3), "found value -1, expected an integer from 0 to 4294967295"),
    (knapsack_of([2**32], [1], 3), "found weight 4294967296"),
    (knapsack_of([1], [1], MOST_CAPACITY + 1), f"expected an integer from 0 to {MOST_CAPACITY}"),
    (knapsack_of([1], [1], 10.0), "capacity 10.0, expected an integer from 0"),
    (lambda: generate("paper", 5), "found no capacity, expected an integer from 4"),
    (lambda: generate("paper", 5, 3), "found capacity 3, expected an integer from 4"),
    (lambda: generate("paper", 5, 30, -1), "found seed -1"),
    (lambda: generate("hard", 5, 30), "found class 'hard', expected one of paper, uncorrelated"),
    (lambda: generate("subset-sum", 5, 30, 1, 999), "found range 999, expected an integer from 1000"),
    (lambda: weierstrass.WeierstrassInstance(2.5), "found 2.5 coordinates, expected an integer from 1 to 341"),
    (tour_of(), "expected coordinates or distances"),
    (tour_of(coordinates=SQUARE, distances=np.zeros((4, 4), int)), "expected coordinates or distances"),
    (tour_of(coordinates=SQUARE[:2]), "found 2 cities, expected 3"),
    (tour_of(coordinates=SQUARE * np.nan), "NaN"),
    (tour_of(coordinates=SQUARE * 1e9), "expected distances of at most 2147483647"),
    (tour_of(coordinates=SQUARE, edge_weight_type="XRAY1"), "edge weight type XRAY1"),
    (tour_of(coordinates=SQUARE, edge_weight_type="EUC_3D"), "expected (n, 3)"),
    (tour_of(distances=np.zeros((4, 3), int)), "expected a square matrix"),
    (tour_of(distances=np.full((4, 4), 0.5)), "expected integers"),
    (tour_of(distances=np.eye(4, dtype=int) - 1), "distance -1"),
    (tour_of(distances=np.triu(np.ones((4, 4), int))), "expected a symmetric matrix"),
]


@pytest.mark.parametrize(("make", "words"), PARTS, ids=[words for _, words in PARTS])
def test_wrong_parts_are_refused(make, words):
    with pytest.raises(InstanceError) as refusal:
        make()
    assert words in str(refusal.value)


# --- solutions ---

SCORERS = {
    "perceptron": partial(perceptron.cost, perceptron.parse(SIGNS)),
    "knapsack": Knapsack("small", np.arange(4), np.arange(4), 11).weight_and_value,
    "qap": partial(qaplib.cost, qaplib.parse(QAP)),
    "weierstrass": weierstrass.cost,
    "tour": tsp.TspInstance("rectangle", coordinates=SQUARE).tour_length,
    "tour by table": partial(tsp.tour_length, tsp.TspInstance("rectangle", coordinates=SQUARE).distances),
}
SOLUTIONS = [
    ("knapsack", np.ones(3, bool), "expected (4,) and bool"),
    ("perceptron", [[0, 1, 1]], "shape"),
    ("perceptron", [0, 1, 2], "bit 2"),
    ("qap", [0, 1], "shape (2,), expected (3,)"),
    ("qap", [0.0, 1.0, 2.0], "float64, expected integers"),
    ("qap", [1, 2, 3], "location 3, expected 0 to 2"),
    ("qap", [0, 2, 2], "location 2 repeated and 1 missing"),
    ("weierstrass", [0.5, math.nan], "coordinate 1 at nan, expected -1 to 1"),
    ("weierstrass", [math.nextafter(1, 2)], "coordinate 0 at 1.0000000000000002"),
    ("weierstrass", [], "shape"),
    ("weierstrass", [0, 1], "int64, expected float64 or float32"),
    *(
        (scorer, tour, words)
        for scorer in ("tour", "tour by table")
        for tour, words in (
            ([0, 1, 2], "shape (3,), expected (4,)"),
            ([0, 1, 2, 2], "city 2 repeated and 3 missing"),
            ([0, 1, 2, 4], "city 4, expected 0 to 3"),
            ([0, 1, 2, -1], "city -1, expected 0 to 3"),
            ([0.0, 1.0, 2.0, 3.0], "float64, expected integers"),
        )
    ),
]


@pytest.mark.parametrize(("scorer", "solution", "words"), SOLUTIONS)
def test_what_is_no_solution_has_no_cost(scorer, solution, words):
    with pytest.raises(ValueError) as refusal:
        SCORERS[scorer](solution)
    assert words in str(refusal.value)
