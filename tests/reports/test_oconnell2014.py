"""Figures of O'Connell and Mumford 2014, against their text."""

import re
import tomllib

import pytest

from reports.papers.files import FOLDER, load

TEXT = "002_1c141bdda1f149ba.txt"


@pytest.fixture(scope="module")
def published():
    return tomllib.loads((FOLDER / "oconnell2014.toml").read_text())


@pytest.fixture(scope="module")
def text(paper):
    return " ".join(re.sub(r"-\s*\n", "", paper).split())


# --- the data against the paper ---


def test_every_quote_is_a_piece_of_the_text(published, text):
    quoted = published["extra"]["profile"]["bounds"] + published["disagreements"]
    assert [one["quote"] for one in quoted if one["quote"] not in text] == []


def test_the_bounds_are_the_numbers_of_their_quotes(published):
    for bound in published["extra"]["profile"]["bounds"]:
        assert numbers(bound["quote"]) == numbers(bound["says"]) == [bound["least"]]


def numbers(text):
    return [float(value) * (0.01 if unit else 1) for value, unit in re.findall(r"(\d+(?:\.\d+)?)( ?%)?", text)]


def test_the_instances_are_those_of_the_text_and_of_the_suites_catalogue(text, catalogue):
    figure = load("oconnell2014").chosen("figure", "4c")[0]
    restricted = [row.instance for row in figure.rows if row.panel == "restricted"]
    assert ", ".join(restricted) in text
    assert catalogue.keys() >= set(restricted)
    assert all(row.name == f"{row.instance}, restricted" for row in figure.rows if row.panel == "restricted")
    assert f"10^{len(str((280 - 1) * 2**278)) - 1} for a280" in figure.note


def test_the_figure_of_the_profiler_has_the_bounds_of_the_text(published):
    """Its published columns are an average and a least value of each metric, the least of warps for the LCS alone."""
    (figure,) = load("oconnell2014").chosen("figure", "5")
    columns = [(column.holds[0], column.heading) for column in figure.published]
    bounds = {(one["metric"], one["statistic"]): one for one in published["extra"]["profile"]["bounds"]}
    for row in figure.rows:
        for (metric, heading), (figure_,) in zip(columns, row.figures, strict=True):
            bound = bounds[metric, "average" if "average" in heading else "least"]
            expected = bound["least"] * (100 if "%" in heading else 1)
            assert figure_ == (expected if bound.get("workload", row.workload) == row.workload else "")


def test_sizes_of_the_profiles_are_those_of_the_text(text):
    (figure,) = load("oconnell2014").chosen("figure", "5")
    strings, knapsack, _ = figure.rows
    assert "string length was 3,000" in text and strings.options["instance"].startswith("half:3000:")
    assert "capacity was 500" in text and knapsack.options["capacity"] == 500
    assert "number of items is fixed at 1,500" in text and knapsack.options["items"] == 1500


def test_generated_knapsacks_are_named_by_their_options():
    """`drivers.knapsack` takes options, and a record has the name."""
    paper = load("oconnell2014")
    rows = [row for exhibit in paper.exhibits for row in exhibit.rows if "capacity" in row.options]
    assert len(rows) == 6
    for row in rows:
        assert row.instance == "paper:{items}:{capacity}:seed=0".format(**row.options)
