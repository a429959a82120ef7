"""The tables of Luong et al. 2013: the figures against the paper's text and against each other."""

import itertools
import re
from collections import defaultdict
from decimal import Decimal

import pytest

PAPER = "luong2013"
TEXT = "004_fbc700ce5a4d984c.txt"
PAIR = r"\d+(?:\.\d+)?×\d+(?:\.\d+)?"
SIDE_BY_SIDE = (2, 3, 4, 6, 7, 10, 11)


def table(published, number, neighbourhood=None):
    tables = [
        one for one in published.chosen("table", str(number)) if neighbourhood in (None, one.options["neighbourhood"])
    ]
    assert len(tables) == 1
    return tables[0]


def column(table, machine, heading):
    place = [(c.machine, c.heading) for c in table.columns].index((machine, heading))
    return {line.key: exact(line.figures[place]) for line in table.lines if line.figures}


def exact(figure):
    return [Decimal(str(part)) for part in figure]


def lines_of(table):
    return [line for line in table.lines if line.figures]


# --- the data against the paper ---


def test_tables_2_to_11_are_whole(published):
    tables = [exhibit for exhibit in published.exhibits if exhibit.columns]
    assert [exhibit.number for exhibit in tables] == ["2", "3", "4", "5", "6", "7", "8", "9", "9", "10", "11"]
    for exhibit in tables:
        assert {len(line.figures) for line in lines_of(exhibit)} == {len(exhibit.columns)}
        assert {c.machine for c in exhibit.columns} <= set(published.machines)
        assert exhibit.section.startswith("6.")


def test_exhibits_of_the_appendices_have_no_published_figure_and_the_text_names_them(published, paper):
    appendices = [one for one in published.exhibits if not one.columns]
    assert [one.number for one in appendices] == ["A.3", "C.2", "C.4.1", "C.5"]
    text = " ".join(paper.split())
    for one in appendices:
        assert not lines_of(one) and one.note and f"Appendix {one.number}" in text
        assert all(quote in text for quote in re.findall(r'"([^"]+)"', one.note)), one.note


def test_every_figure_is_one_of_the_papers_text(published, paper):
    tables = paper[paper.index("TABLE 2\n") :]
    printed = re.findall(rf"(?m)^{PAIR}$", tables)
    ours = [
        "×".join(map(str, figure))
        for exhibit in published.exhibits
        for line in lines_of(exhibit)
        for figure in line.figures
        if len(figure) == 2
    ]
    # Table 8 also prints its figures in separate lines; nothing else in the text has this form.
    assert sorted(ours) == sorted(printed)


@pytest.mark.parametrize("number", SIDE_BY_SIDE)
def test_figures_stand_in_the_order_of_the_text(published, paper, number):
    after = paper[paper.index(f"TABLE {number}\n") :]
    exhibit = table(published, number)
    # The text has the machines one after the other, and of each the lines with its two columns side by side.
    order = [
        "×".join(map(str, figure))
        for left in range(0, len(exhibit.columns), 2)
        for line in lines_of(exhibit)
        for figure in line.figures[left : left + 2]
        if figure
    ]
    assert re.findall(rf"(?m)^{PAIR}$", after)[: len(order)] == order


def test_machines_and_tables_5_and_9_are_as_the_sections_quote(published):
    first = [column(table(published, 2), name, "GPUTex")["tai30a"][1] for name in ("t5800", "q6600", "e5450", "e5620")]
    assert first == [*map(Decimal, ("1.8", "1.9", "2.0", "2.8"))]  # "respectively x1.8, x1.9, x2.0 and x2.8"
    weierstrass = [exact(f)[1] for line in lines_of(table(published, 5)) for f in line.figures if len(f) == 2]
    assert (min(weierstrass), max(weierstrass)) == (Decimal("39.2"), Decimal("243.0"))  # "from x39.2 to x243"
    reduced = table(published, 9, "flip2")
    assert column(reduced, "e5450", "GPUTexR")["73-73"][1] == Decimal("15.1")  # "x15.1 ... and x12.6"
    assert column(reduced, "e5450", "GPUTex")["73-73"][1] == Decimal("12.6")
    assert column(reduced, "e5450", "GPUTexR")["1301-1317"][1] == Decimal("53.7")  # "x53.7 against x49.5"


def one_core(figure):
    """Shortest and longest time of one core that the printed digits allow."""
    low, high = Decimal(1), Decimal(1)
    for value in map(Decimal, figure):
        half = Decimal(1).scaleb(value.as_tuple().exponent) / 2
        low, high = low * (value - half), high * (value + half)
    return low, high


def test_seconds_times_speedup_is_the_same_time_of_one_core_but_for_known_disagreements(published):
    times = defaultdict(list)
    for exhibit in published.exhibits:
        for line in lines_of(exhibit):
            for col, figure in zip(exhibit.columns, line.figures, strict=True):
                work = (exhibit.workload, *exhibit.options.values(), line.label, published.machines[col.machine].name)
                if figure:
                    times[work].append((int(exhibit.number), *one_core(exact(figure))))
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
    listed = set()
    for exhibit in published.disagreements:
        cpu, instance = re.fullmatch(r"seconds times .* of the (.*) on (\S+)", exhibit.says).groups()
        (machine,) = [machine.name for machine in published.machines.values() if machine.name.endswith(cpu)]
        listed.add((exhibit.exhibits, instance, machine))
    assert differing == listed
    assert len(listed) == len(published.disagreements)
    assert sum(len(intervals) for intervals in times.values()) > 500
