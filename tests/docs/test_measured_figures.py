"""Sentences of the pages have the figures of the gallery's records."""

from functools import cache

import pytest
from reports.papers.exhibits import fill_exhibit, gather_evidence

from reports.pages import gallery
from reports.papers.files import load
from reports.papers.placement import find_series
from reports.text.formatting import number, seconds
from tests.conftest import ROOT

FORMATS = {"seconds": seconds, "speedup": number, "over_first": number, "nodes": lambda count: f"{count / 1e6:.0f}"}
"""Text of a measure on a page."""
FIGURES = """
papers | an H200 takes {} for them | oneil2011 | figure 1 | gpu:1 | static | cuda | seconds
papers | native mapping it takes {}: several lanes | oneil2011 | figure 1 | gpu:1 | full | cuda | seconds
papers | One core took {}. A quieter | oneil2011 | figure 1 | core:1 | full | cpu | seconds
reports | ×{} over 26.7 s | oneil2011 | figure 1 | gpu:1 | full | cuda | speedup
reports | the {} above has a letter | oneil2011 | figure 1 | gpu:1 | full | cuda | speedup
papers | H200 is {} times as fast there | luong2013 | table 2 | tai100a | readonly | cuda | speedup
papers | and {} times as fast for two flips | luong2013 | table 4 | 401-417 | readonly | cuda | speedup
papers | the same mapping on an H200 has {}. | menezes2019 | table II | qa194 | published | cuda | over_first
papers | the thesis' search takes {} for ulysses16 | xavier2022 | table 5.2 | ulysses16 | published | cuda | seconds
papers | with the same bound takes {}: idle | xavier2022 | table 5.2 | ulysses16 | edges | cuda | seconds
papers | *one core* takes {}: 1 node | xavier2022 | table 5.2 | ulysses16 | one-tree | cpu | seconds
papers | 1 node instead of {} million | xavier2022 | table 5.2 | ulysses16 | core | cpu | nodes
papers | an H200 takes {} for two strings | oconnell2014 | figure 4a | half:10000:seed=1 | published | cuda | seconds
papers | in a launch it takes {}, and | oconnell2014 | figure 4a | half:10000:seed=1 | native | cuda | seconds
papers | one core of its host {}. | oconnell2014 | figure 4a | half:10000:seed=1 | core | cpu | seconds
"""
"""A page of docs, its words around a figure, and the record: paper, exhibit, row, series, backend, measure."""
ROWS = [[cell.strip() for cell in line.split("|")] for line in FIGURES.strip().splitlines()]


@cache
def evidence_of(name):
    folder = ROOT / "reports" / "gallery"
    (entry,) = [entry for entry in gallery.read(folder) if entry.name == name]
    return gather_evidence(load(name), entry.records(folder))


@cache
def filled(paper, exhibit_name):
    exhibit = next(one for one in load(paper).exhibits if one.name == exhibit_name)
    return fill_exhibit(exhibit, evidence_of(paper), load(paper).machines)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "sentence", "paper", "exhibit", "line", "series", "backend", "measure"), ROWS, ids=[row[1] for row in ROWS]
)
def test_a_sentence_has_the_figure_of_a_recorded_run(page, sentence, paper, exhibit, line, series, backend, measure):
    shown = filled(paper, exhibit)
    values = [
        datum.values[measure]
        for datum in shown.ours
        if datum.line == line and datum.row.record.backend == backend and measure in datum.values
        if find_series(shown.exhibit, datum.row.record).name == series
    ]
    text = " ".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split())
    assert any(sentence.format(FORMATS[measure](value)) in text for value in values), values
