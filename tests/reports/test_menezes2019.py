"""The tables of Menezes et al. 2019: the figures against the paper's text and against each other."""

import itertools
from decimal import Decimal

import numpy as np
import pytest

PAPER = "menezes2019"
TEXT = "001_399ad9021ef1e452.txt"
STRATEGIES = ("coarse", "fine", "fine-deposit")
SIZES = (1024, 2048, 4096, 8192)


def table(published, number):
    (chosen,) = published.chosen("table", number)
    return chosen


@pytest.fixture(scope="module")
def times(published):
    """Printed seconds of table II by instance, strategy and number of ants."""
    exhibit = table(published, "II")
    assert [column.key for column in exhibit.published] == [f"k20 {strategy}, s" for strategy in STRATEGIES]
    return {
        (row.instance, strategy, row.options["ants"]): str(figure[0])
        for row in exhibit.rows
        for strategy, figure in zip(STRATEGIES, row.figures, strict=True)
    }


def rows_of_the_text(paper, heading):
    """Tab-separated lines of a table of the paper's text."""
    lines = paper[paper.index(heading) :].split("\n")
    first = next(i for i, line in enumerate(lines) if "\t" in line)
    last = next(i for i in range(first, len(lines)) if "\t" not in lines[i])
    return [line.strip().split("\t") for line in lines[first:last]]


# --- the data against the paper ---


def test_both_tables_are_those_of_the_text_digit_by_digit(published, paper, times):
    instances = [[row.name, *(str(figure[0]) for figure in row.figures)] for row in table(published, "I").rows]
    assert instances == rows_of_the_text(paper, "TABLE I  \n")[1:] and len(instances) == 9
    names = [line[0] for line in instances]
    lines = [[name, *(times[name, strategy, ants] for strategy in STRATEGIES for ants in SIZES)] for name in names]
    assert lines == [row for row in rows_of_the_text(paper, "TABLE II  \n") if row[0] in names]
    assert len(times) == 9 * 12


def test_rows_are_named_by_their_runs(published):
    rows = table(published, "II").rows
    assert [row.name for row in rows] == [f"{row.instance}, {row.options['ants']:,} ants" for row in rows]
    assert {row.x for row in rows if row.options["ants"] == row.x} == {*SIZES}


def test_the_optima_are_those_of_the_suites_catalogue(published, catalogue):
    for row in table(published, "I").rows:
        assert catalogue[row.name][1:3] == [str(figure[0]) for figure in row.figures]


def test_disagreements_are_as_listed(published, times):
    seconds = {place: Decimal(text) for place, text in times.items()}
    abstract, largest, similar = (disagreement.finding for disagreement in published.disagreements)
    cells = [(row.instance, row.options["ants"]) for row in table(published, "II").rows]
    fastest = [min(STRATEGIES, key=lambda strategy: seconds[name, strategy, ants]) for name, ants in cells]
    assert fastest == ["fine-deposit"] * 36 and "all 36 cells" in abstract
    saved = [seconds[name, "fine-deposit", ants] < seconds[name, "fine", ants] / 2 for name, ants in cells]
    assert f"in {sum(saved)} of {len(cells)} cells" in largest
    pairs = [(seconds["dj38", "coarse", ants], seconds["dj38", "fine", ants]) for ants in SIZES]
    assert "{} s and {} s".format(*pairs[0]) in similar
    assert [coarse / fine < Decimal("1.1") for coarse, fine in pairs] == [False, False, True, True]
    # Coarse less the seconds that the parallel update saves fine is faster than fine-deposit where coarse beats fine.
    ahead = [(name, ants) for name, ants in cells if seconds[name, "coarse", ants] < seconds[name, "fine", ants]]
    assert {ants for _, ants in ahead} == {8192} and f"in {len(ahead)} of them" in abstract
    assert [name for name, _ in ahead] == ["lu980", "pcb442", "pr1002", "rat783"]
    assert "lu980, pcb442, pr1002 and rat783 with 8,192 ants" in abstract


def test_the_part_of_the_serial_update_is_that_of_the_note(published, times):
    """Fine and fine-deposit differ in the update alone, so the difference is at least the serial update's time."""
    parts = {
        (name, ants): 1 - Decimal(times[name, "fine-deposit", ants]) / Decimal(times[name, "fine", ants])
        for name, _, ants in times
    }
    for name, ants in (min(parts, key=parts.get), max(parts, key=parts.get)):
        assert f"{100 * parts[name, ants]:.0f} % ({name}, {ants:,} ants)" in table(published, "II").note


def test_phases_have_the_kernels_of_an_iteration_and_the_papers_words(published, paper):
    from backends import create
    from core.ant_colony import AntColony, Settings
    from core.ranks import OneRank

    distances, launched = np.ones((5, 5), np.uint16), set()
    settings = Settings(ants=2, variant="as", candidates=0, local_search="none")
    for strategy in STRATEGIES:
        search = AntColony(create("python"), OneRank(), distances, settings, strategy=strategy, mapping="published")
        search.backend.launch = lambda kernel, *_: launched.add(kernel.name)
        search.colonies[0].iterate()
    exhibit = table(published, "B")
    assert sorted(itertools.chain(*exhibit.phases.values())) == sorted(launched)
    quotes = [*exhibit.claim.split('"')[1::2], *(one.quote for one in published.disagreements)]
    assert all(quote in paper for quote in quotes)
