"""Tables 5.1 to 5.4 of Xavier 2022: the figures against the thesis' text and against each other."""

import re
from decimal import Decimal

PAPER = "xavier2022"
TEXT = "003_ba087668a40c5435.txt"
PRINTED_15 = 15


def texts_of(paper):
    lines = paper.split("\n")
    for start in (i for i, line in enumerate(lines) if line.startswith("Input\t")):
        yield [line.split("\t") for line in lines[start + 1 : start + 1 + PRINTED_15]]


def interval(text):
    value = Decimal(text)
    half = Decimal(1).scaleb(value.as_tuple().exponent) / 2
    return max(Decimal(0), value - half), value + half


def tables_of(published):
    return [exhibit for exhibit in published.exhibits if exhibit.kind == "table"]


def row_of(line):
    """A row in the text's order, with the optimum last."""
    optimum, *figures = ["".join(map(str, figure)) for figure in line.figures]
    return [line.label, *figures, optimum]


def follows(line):
    """True if a printed speed-up can be the ratio of the two printed times."""
    (own_low, own_high), (peer_low, peer_high), (low, high) = (interval(figure[0]) for figure in line.figures[1:])
    most = peer_high / own_low if own_low else Decimal("Infinity")
    return low <= most and high >= peer_low / own_high


# --- the data against the thesis ---


def test_all_four_tables_are_those_of_the_text_digit_by_digit(published, paper):
    ours = [[row_of(line) for line in table.lines] for table in tables_of(published)]
    assert ours == list(texts_of(paper))
    assert [len(rows) for rows in ours] == [PRINTED_15] * 4


def test_tables_name_the_machine_and_the_rival_of_their_captions(published, paper):
    for table in tables_of(published):
        machine, peer = published.machines[table.columns[1].machine], table.reference["peer"]
        assert re.search(rf"Table {table.number}:? Result.* with {peer.upper()} on {machine.short}\.", paper)
        assert {column.machine for column in table.columns[1:]} == {table.columns[1].machine}
        assert table.columns[2].heading == peer
        for name in machine.name.replace("two ", "").split(", "):
            assert name.split()[-1] in paper


def test_the_instances_are_those_of_every_table_and_of_the_suites_catalogue(published, catalogue):
    optima = [(line.key, str(line.figures[0][0])) for line in tables_of(published)[0].lines]
    for table in tables_of(published):
        assert [(line.key, str(line.figures[0][0])) for line in table.lines] == optima
    for instance, optimum in optima:
        assert catalogue[instance][2] == optimum


def test_speedups_follow_from_the_times_but_for_those_that_the_data_name(published):
    wrong = {
        table.number: [line.key for line in table.lines if line.figures[3] and not follows(line)]
        for table in tables_of(published)
    }
    assert wrong == {"5.1": [], "5.2": [], "5.3": ["eil7", "eil13", "burma14", "ulysses16", "gr17"], "5.4": []}
    assert ", ".join(wrong["5.3"][:-1]) + " and gr17" in published.disagreements[0].finding
