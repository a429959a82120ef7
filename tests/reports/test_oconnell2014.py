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
    quotes = [
        *(bound["quote"] for bound in published["extra"]["profile"]["bounds"]),
        *(row["quote"] for row in published["disagreements"]),
    ]
    assert [quote for quote in quotes if quote not in text] == []


def test_the_bounds_are_the_numbers_of_their_quotes(published):
    for bound in published["extra"]["profile"]["bounds"]:
        quoted = [float(part) * (0.01 if per_cent else 1) for part, per_cent in numbers(bound["quote"])]
        said = [float(part) * (0.01 if per_cent else 1) for part, per_cent in numbers(bound["says"])]
        assert quoted == said == [bound["least"]]


def numbers(text):
    return [(value, bool(unit)) for value, unit in re.findall(r"(\d+(?:\.\d+)?)( ?%)?", text)]


def test_the_instances_are_those_of_the_text_and_of_the_suites_catalogue(text, catalogue):
    figure, _ = load("oconnell2014").chosen("figure", "4c")
    restricted = [line.key for line in figure.lines if "restricted" in line.label]
    assert ", ".join(restricted) in text
    assert catalogue.keys() >= set(restricted)
    assert f"10^{len(str((280 - 1) * 2**278 * 2)) - 1} bytes for a280" in figure.note


def test_the_figure_of_the_profiler_says_the_bounds_of_the_text(published):
    (figure,) = load("oconnell2014").chosen("figure", "5")
    profile = published["extra"]["profile"]
    for line in figure.lines:
        for metric, (said,) in zip(profile["metrics"], line.figures, strict=True):
            bounds = [
                f"{bound['statistic']} {bound['says']}"
                for bound in profile["bounds"]
                if bound["metric"] == metric and bound.get("workload", line.key) == line.key
            ]
            assert said == ", ".join(bounds)
