"""Tables 5.1 to 5.4 of Xavier 2022: the figures against the thesis' text and against each other."""

import re
from decimal import Decimal

PAPER = "xavier2022"
TEXT = "003_ba087668a40c5435.txt"
PRINTED_15 = 15
TABLES = {
    "5.1": ("ithaca", "Concorde"),
    "5.2": ("austin", "Concorde"),
    "5.3": ("ithaca", "LKH"),
    "5.4": ("austin", "LKH"),
}
"""Machine and rival of the thesis' tables; two of them are one exhibit."""


def texts_of(paper):
    lines = paper.split("\n")
    for start in (i for i, line in enumerate(lines) if line.startswith("Input\t")):
        yield [line.split("\t") for line in lines[start + 1 : start + 1 + PRINTED_15]]


def interval(text):
    value = Decimal(text)
    half = Decimal(1).scaleb(value.as_tuple().exponent) / 2
    return max(Decimal(0), value - half), value + half


def exhibit_of(published, number):
    (one,) = published.chosen("table", number)
    return one


def figures_of(published, number):
    """The rows of a printed table: instance, the thesis, its rival, speed-up; and the optimum last."""
    exhibit, (machine, rival) = exhibit_of(published, number), TABLES[number]
    keys = [column.key for column in exhibit.published]
    places = [keys.index(f"{machine} {heading}") for heading in ("the thesis", rival, "speed-up")]
    for row in exhibit.rows:
        texts = ["".join(map(str, row.figures[place])) for place in (*places, keys.index("optimum"))]
        yield [row.name, *texts]


def follows(own, rival, ratio):
    """True if a printed speed-up can be the ratio of the two printed times."""
    (own_low, own_high), (peer_low, peer_high), (low, high) = map(interval, (own, rival, ratio))
    most = peer_high / own_low if own_low else Decimal("Infinity")
    return low <= most and high >= peer_low / own_high


# --- the data against the thesis ---


def test_all_four_tables_are_those_of_the_text_digit_by_digit(published, paper):
    # In print p01 is "p01.tsp (15 cities)", and an instance of vehicle routing may end in ".vrp".
    printed = [[[row[0].partition(".")[0], *row[1:]] for row in rows] for rows in texts_of(paper)]
    assert [[*figures_of(published, number)] for number in TABLES] == printed
    assert [len(rows) for rows in printed] == [PRINTED_15] * 4


def test_tables_name_the_machine_and_the_rival_of_their_captions(published, paper):
    for number, (machine, rival) in TABLES.items():
        name, parts = published.machines[machine].name.split(": ")
        assert re.search(rf"Table {number}:? Result.* with {rival.upper()} on {name}\.", paper)
        for part in parts.replace("two ", "").split(", "):
            assert part.split()[-1] in paper
        exhibit = exhibit_of(published, number)
        assert {one.peer for one in exhibit.columns if one.peer} == {rival}


def test_all_tables_and_figures_of_the_thesis_are_addressed(published):
    names = {name for one in published.exhibits for name in one.names}
    assert {f"{kind} {number}" for kind in ("table", "figure") for number in TABLES} == names - {"table A"}


def test_quotes_of_contradicted_statements_are_in_the_text(published, paper):
    text = " ".join(paper.split())
    quotes = [one.quote for one in published.disagreements if one.quote]
    assert len(quotes) == 2 and all(quote in text for quote in quotes)


def test_the_instances_are_those_of_every_table_and_of_the_suites_catalogue(published, catalogue):
    optima = [(row.name, str(row.figures[0][0])) for row in exhibit_of(published, "5.1").rows]
    for number in TABLES:
        assert [(row.name, str(row.figures[0][0])) for row in exhibit_of(published, number).rows] == optima
    assert [row.name for row in exhibit_of(published, "A").rows] == [name for name, _ in optima]
    for instance, optimum in optima:
        assert catalogue[instance][2] == optimum


def test_speedups_follow_from_the_times_but_for_those_that_the_data_name(published):
    wrong = {
        number: [name for name, *times, _ in figures_of(published, number) if times[2] and not follows(*times)]
        for number in TABLES
    }
    assert wrong == {"5.1": [], "5.2": [], "5.3": ["eil7", "eil13", "burma14", "ulysses16", "gr17"], "5.4": []}
    assert ", ".join(wrong["5.3"][:-1]) + " and gr17" in published.disagreements[0].finding


def test_times_of_lkh_are_those_of_one_machine(published):
    """Check the note of the exhibit."""
    times = [[row[2] for row in figures_of(published, number)] for number in ("5.3", "5.4")]
    assert times[0] == times[1] and "digit by digit" in exhibit_of(published, "5.3").note


# --- our columns ---


def test_claims_up_to_15_cities_are_checked_in_the_rows_that_have_no_more(published):
    cities = {"eil7": 7, "eil13": 13, "burma14": 14, "p01": 15, "ulysses16": 16}
    for number in ("5.1", "5.3"):
        faster, slower = exhibit_of(published, number).checks
        assert (faster.rule, slower.rule) == ("below", "above")
        assert all(cities[name] <= 15 for name in faster.rows)
        assert all(cities.get(name, 16) > 15 for name in slower.rows)


def test_the_best_algorithm_of_one_core_runs_in_every_row(published):
    exhibit = exhibit_of(published, "A")
    tree = exhibit.column("tree")
    assert published.series[tree.series].kinds == ("core",) and not tree.rows
