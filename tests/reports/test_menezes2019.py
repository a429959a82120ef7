"""The tables of Menezes et al. 2019: the figures against the paper's text and against each other."""

from decimal import Decimal

PAPER = "menezes2019"
TEXT = "001_399ad9021ef1e452.txt"
STRATEGIES = ("coarse", "fine", "fine-deposit")
SIZES = (1024, 2048, 4096, 8192)


def table(published, number):
    (chosen,) = published.chosen("table", number)
    return chosen


def by_place(published):
    exhibit = table(published, "II")
    return {
        (line.key, column.parameters["strategy"], column.parameters["ants"]): Decimal(str(figure[0]))
        for line in exhibit.lines
        for column, figure in zip(exhibit.columns, line.figures, strict=True)
    }


def rows_of_the_text(paper, heading):
    """Tab-separated lines of a table of the paper's text."""
    lines = paper[paper.index(heading) :].split("\n")
    first = next(i for i, line in enumerate(lines) if "\t" in line)
    last = next(i for i in range(first, len(lines)) if "\t" not in lines[i])
    return [line.strip().split("\t") for line in lines[first:last]]


# --- the data against the paper ---


def test_both_tables_are_those_of_the_text_digit_by_digit(published, paper):
    instances = [[line.key, *(str(figure[0]) for figure in line.figures)] for line in table(published, "I").lines]
    assert instances == rows_of_the_text(paper, "TABLE I  \n")[1:] and len(instances) == 9
    times = [[line.key, *(str(figure[0]) for figure in line.figures)] for line in table(published, "II").lines]
    assert times == [
        row for row in rows_of_the_text(paper, "TABLE II  \n") if row[0] in {line[0] for line in instances}
    ]
    assert len(times) == 9


def test_the_optima_are_those_of_the_suites_catalogue(published, catalogue):
    for line in table(published, "I").lines:
        assert catalogue[line.key][1:3] == [str(figure[0]) for figure in line.figures]


def test_disagreements_are_as_listed(published):
    seconds = by_place(published)
    abstract, similar, conclusion = (disagreement.finding for disagreement in published.disagreements)
    cells = [(line.key, ants) for line in table(published, "II").lines for ants in SIZES]
    fastest = [min(STRATEGIES, key=lambda strategy: seconds[name, strategy, ants]) for name, ants in cells]
    assert fastest == ["fine-deposit"] * 36 and "all 36 cells" in abstract
    pairs = [(seconds["dj38", "coarse", ants], seconds["dj38", "fine", ants]) for ants in SIZES]
    assert "{} s and {} s".format(*pairs[0]) in similar
    assert [coarse / fine < Decimal("1.1") for coarse, fine in pairs] == [False, False, True, True]
    ahead = [(name, ants) for name, ants in cells if seconds[name, "coarse", ants] < seconds[name, "fine", ants]]
    assert {ants for _, ants in ahead} == {8192} and "8,192 ants" in conclusion
    assert [name for name, _ in ahead] == ["lu980", "pcb442", "pr1002", "rat783"]
    assert "lu980, pcb442, pr1002 and rat783" in conclusion
