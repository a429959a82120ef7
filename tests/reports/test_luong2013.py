"""The tables of Luong et al. 2013: the figures against the paper's text and against each other, and their runs."""

import itertools
import re
from collections import defaultdict
from decimal import Decimal

import pytest

from reports.papers.placement import run_choice

PAPER = "luong2013"
TEXT = "004_fbc700ce5a4d984c.txt"
PAIR = r"\d+(?:\.\d+)?×\d+(?:\.\d+)?"
SIDE_BY_SIDE = (2, 3, 4, 6, 7, 10, 11)
PRINTED = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]
APPENDICES = {"A.3", "C.2", "C.3", "C.4", "C.4.1", "C.5", "C.6", "C.7", "C.8.2", "C.8.3"}
GPU4, GPU4_11 = ("4", "10", "11"), ("4", "8", "11")
NOT_ONE_NUMBER = {
    (("2",), "tai35a", "e5620"),
    (("3",), "81-81", "e5450"),
    (("3",), "801-817", "t5800"),
    (("3",), "801-817", "e5450"),
    (("3",), "1301-1317", "t5800"),
    (("3",), "1301-1317", "e5450"),
    (("4", "8", "10", "11"), "73-73", "e5450"),
    (("10", "11"), "81-81", "e5620"),
    (GPU4, "201-217", "e5620"),
    (("4", "8", "10", "11"), "601-617", "e5450"),
    (("4", "8"), "801-817", "e5450"),
    (GPU4, "1301-1317", "q6600"),
    (GPU4_11, "1301-1317", "e5450"),
    (GPU4, "1301-1317", "e5620"),
    (("6", "7"), "fnl4461", "e5450"),
    (("6", "7"), "fnl4461", "e5620"),
    (("5",), "4", "e5620"),
    (("5",), "8", "e5620"),
}
"""Tables, instance and machine with printed figures that give several times of one core."""


def table(published, number):
    (one,) = published.chosen("table", str(number))
    return one


def pair(figure):
    return "×".join(map(str, figure[:2]))


def exact(figure):
    return [Decimal(str(part)) for part in figure]


def column(table, machine, heading):
    place = [(c.machine, c.heading) for c in table.published].index((machine, heading))
    return {row.name: exact(row.figures[place]) for row in rows_of(table)}


def rows_of(table):
    return [row for row in table.rows if row.figures]


# --- the data against the paper ---


def test_appendices_are_named_by_the_text_and_have_no_published_figure(published, paper):
    names = {name.removeprefix("table ") for one in published.exhibits for name in one.names}
    assert names == APPENDICES | set(PRINTED)
    text = " ".join(paper.split())
    for name in APPENDICES:
        assert re.search(rf"Appendix {re.escape(name)}\b", text), name
    for one in published.exhibits:
        assert one.published or not rows_of(one)
        for quote in re.findall(r'"([^"]+)"', one.claim):
            assert quote in text, quote


def test_quotes_of_contradicted_statements_are_in_the_text(published, paper):
    text = " ".join(paper.split())
    quotes = [one.quote for one in published.disagreements if one.quote]
    assert len(quotes) == 3 and all(quote in text for quote in quotes)
    names = {name for one in published.exhibits for name in one.names}
    assert {name for one in published.disagreements for name in one.exhibits} <= names


def test_every_figure_is_one_of_the_papers_text(published, paper):
    tables = paper[paper.index("TABLE 2\n") :]
    printed = re.findall(rf"(?m)^{PAIR}$", tables)
    ours = [
        pair(figure)
        for exhibit in published.exhibits
        for row in rows_of(exhibit)
        for figure in row.figures
        if len(figure) >= 2
    ]
    # Table 8 also prints its figures in separate lines; nothing else in the text has this form.
    assert sorted(ours) == sorted(printed)


def test_parts_of_table_8_are_those_of_the_text_line_by_line(published, paper):
    after = paper[paper.index("TABLE 8\n") : paper.index("TABLE 9\n")]
    printed = re.findall(r"(?m)^(\d+\.\d)%$", after)
    exhibit = table(published, 8)
    parts = [[row.figures[place][2:] for row in rows_of(exhibit) if len(row.figures[place]) > 2] for place in (1, 2)]
    assert {one.holds[2:] for one in exhibit.published[1:]} == {("process", "transfers", "kernel")}
    # The text has process and transfers of a row in turn, and all kernels behind them, of one half after the other.
    order = []
    for half in parts:
        order += [str(figure) for process, transfers, _ in half for figure in (process, transfers)]
        order += [str(kernel) for _, _, kernel in half]
    assert printed == order
    for half in parts:
        assert all(abs(sum(map(Decimal, map(str, row))) - 100) <= Decimal("0.1") for row in half)


@pytest.mark.parametrize("number", SIDE_BY_SIDE)
def test_figures_stand_in_the_order_of_the_text(published, paper, number):
    after = paper[paper.index(f"TABLE {number}\n") :]
    exhibit = table(published, number)
    # The text has the machines one after the other, and of each the rows with its two columns side by side.
    order = [
        pair(figure)
        for left in range(0, len(exhibit.published), 2)
        for row in rows_of(exhibit)
        for figure in row.figures[left : left + 2]
        if figure
    ]
    assert re.findall(rf"(?m)^{PAIR}$", after)[: len(order)] == order


def test_machines_and_tables_5_and_9_are_as_the_sections_quote(published):
    first = [column(table(published, 2), name, "GPUTex")["tai30a"][1] for name in ("t5800", "q6600", "e5450", "e5620")]
    assert first == [*map(Decimal, ("1.8", "1.9", "2.0", "2.8"))]  # "respectively x1.8, x1.9, x2.0 and x2.8"
    weierstrass = [exact(f)[1] for row in rows_of(table(published, 5)) for f in row.figures if len(f) == 2]
    assert (min(weierstrass), max(weierstrass)) == (Decimal("39.2"), Decimal("243.0"))  # "from x39.2 to x243"
    reduced = table(published, 9)
    assert column(reduced, "e5450", "GPUTexR")["73-73, two flips"][1] == Decimal("15.1")  # "x15.1 ... and x12.6"
    assert column(reduced, "e5450", "GPUTex")["73-73, two flips"][1] == Decimal("12.6")
    assert column(reduced, "e5450", "GPUTexR")["1301-1317, two flips"][1] == Decimal("53.7")  # "x53.7 against x49.5"


def one_core(figure):
    """Shortest and longest time of one core that the printed digits allow."""
    low, high = Decimal(1), Decimal(1)
    for value in figure[:2]:
        half = Decimal(1).scaleb(value.as_tuple().exponent) / 2
        low, high = low * (value - half), high * (value + half)
    return low, high


def test_seconds_times_speedup_is_the_same_time_of_one_core_but_for_known_disagreements(published):
    times = defaultdict(list)
    for exhibit in published.exhibits:
        for row in rows_of(exhibit):
            asked = {**exhibit.options, **row.options}
            for col, figure in zip(exhibit.published, row.figures, strict=True):
                instance = row.name.partition(",")[0]
                work = (exhibit.workload, asked["neighbourhood"], asked["algorithm"], instance, col.machine)
                if figure:
                    times[work].append((int(exhibit.name.removeprefix("table ")), *one_core(exact(figure))))
    differing = set()
    for (*_, instance, machine), intervals in times.items():
        tables = {
            number
            for one, other in itertools.combinations(intervals, 2)
            if one[2] < other[1] or other[2] < one[1]
            for number in (one[0], other[0])
        }
        if tables:
            differing.add((tuple(map(str, sorted(tables))), instance, machine))
    assert differing == NOT_ONE_NUMBER
    assert sum(len(intervals) for intervals in times.values()) > 500
    (listed,) = [one for one in published.disagreements if one.says.startswith("seconds times")]
    assert f"{len(differing)} times" in listed.finding
    assert {name.removeprefix("table ") for name in listed.exhibits} == {
        one for tables, *_ in differing for one in tables
    }
    assert all(re.search(rf"(?<![\d-]){instance}(?![\d-])", listed.finding) for _, instance, _ in differing)


# --- our columns ---


def test_a_gain_divides_runs_of_the_same_published_mapping(published):
    """Apart from its device, a run as published differs from its one core in what the exhibit is about."""
    for exhibit in published.exhibits:
        for one in exhibit.columns:
            base = exhibit.column(one.over) if one.over else None
            if base is None or not (base.series and one.series) or one.model:
                continue
            own, under = (published.series[column.series].options for column in (one, base))
            assert own["mapping"] == under["mapping"], (exhibit.name, one.key)
            differing = {name for name in own if own[name] != under.get(name, own[name])}
            assert len(differing) <= 1, (exhibit.name, one.key, differing)


def test_tuned_runs_are_long_enough_to_charge_their_tuning_in_every_scale(published):
    """Algorithm 3 tries 16 teams for each power of two of threads, ten times each."""
    exhibit = table(published, 7)
    for row in exhibit.rows:
        assert run_choice(published, exhibit, row, exhibit.column("charged")).options["iterations"] >= 16 * 10 * 12
        assert exhibit.column("gpu").options == exhibit.column("charged").options


def test_scales_differ_from_the_paper_in_amounts_that_scale_linearly(published):
    for exhibit in published.exhibits:
        for scale in exhibit.scales.values():
            amounts = [scale.amount_of(row.name) for row in exhibit.rows]
            assert {name for one in amounts for name in one} <= {"iterations", "walks"}
