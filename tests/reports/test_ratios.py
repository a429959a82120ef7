"""Runs that may be divided: equal work by one algorithm; and columns without a run."""

import pytest

from reports.comparison.speedups import ratio_obstacles
from reports.pages.gallery import read
from reports.papers.exhibits import NO_RECORD, MissingRuns, fill_exhibit, gather_evidence
from reports.papers.files import load, names
from reports.papers.plots import gap_reason
from reports.papers.tables import make_table
from tests.conftest import ROOT
from tests.reports.test_exhibits import FLIPS, cells, exhibit

GALLERY = ROOT / "reports" / "gallery"
PPP = {"workload": "ppp", "instance": "73-73:seed=0", "parameters": FLIPS}


# --- one algorithm ---


@pytest.mark.parametrize(
    ("change", "apart"),
    [
        ({"backend": "cuda", "ranks": 4}, []),
        ({"execution": {"data_memory": "shared", "generate": "host", "shape": "tuned"}}, []),
        ({"execution": {"mapping": "published"}}, ["mapping"]),
        ({"execution": {"evaluation": "incremental"}}, ["evaluation"]),
        ({"seed": 1}, ["seed"]),
        ({"parameters": {"iterations": 5}}, ["parameters"]),
        ({"instance": "tai35a"}, ["instance_sha256"]),
    ],
)
def test_runs_of_equal_work_by_one_algorithm_may_be_divided(make_run, change, apart):
    assert ratio_obstacles(make_run(), make_run(**change)) == apart
    assert ratio_obstacles(make_run(), make_run(execution={"data_memory": "shared"}), ["data_memory"]) == [
        "data_memory"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("entry", [one for one in read(GALLERY) if one.name in names()], ids=lambda one: one.name)
def test_no_ratio_of_the_gallery_is_of_two_algorithms(entry):
    rows = gather_evidence(load(entry.name), entry.records(GALLERY)).rows
    ratios = [row for row in rows if row.base is not None]
    assert all(not ratio_obstacles(row.record, row.base.record) for row in ratios)
    assert ratios or entry.name == "menezes2019", "of ants no run on one core is recorded"


@pytest.mark.parametrize("paper", names())
def test_a_heading_of_gpus_has_another_on_cores(paper):
    for series in (one for each in load(paper).exhibits for one in each.series):
        assert set(series.kinds) == {"gpu"} or "GPU" not in series.heading_on("cores"), series.name


# --- what did not run ---


def test_a_column_of_which_nothing_ran_says_why(make_run):
    decisive = "real ranks of one host, a core each"
    paper, table = load("luong2013"), exhibit("luong2013", "10")
    name = next(one.name for one in table.series if one.heading == decisive)
    result = fill_exhibit(
        table, gather_evidence(paper, [make_run(**PPP)]), paper.machines, MissingRuns(series={name: "none is here"})
    )
    notes = dict(make_table(result).notes)
    mark = cells(result)["73-73"][f"ours, {decisive}"].removeprefix("not run [").removesuffix("]")
    assert notes[mark] == "not run: none is here"
    assert f"not run: {NO_RECORD}" in notes.values(), "of other series nothing is known"


def test_an_exhibit_without_anything_of_ours_says_why(make_ants):
    paper = load("menezes2019")
    there = gather_evidence(paper, [make_ants("fine", ants, backend="cuda") for ants in (1024, 2048)])
    reasons = {
        exhibit.name: gap_reason(exhibit, fill_exhibit(paper.drawn(exhibit), there, paper.machines, MissingRuns()))
        for exhibit in paper.exhibits
    }
    assert reasons["table II"] == reasons["figure 2"] == ""
    assert reasons["figure 6"] == "it draws qa194, which did not run; --figure 6 runs it"


def test_a_figure_of_a_rival_without_its_time_says_how_to_get_it(make_exact):
    paper = load("xavier2022")
    (figure,) = paper.chosen("figure", "5.3")
    trouble = {"name": "elkai", "solve_s": None, "startup_s": None, "failure": "not found: pip install elkai"}
    for peer, said in (
        (trouble, "no time of LKH: elkai not found: pip install elkai; then --rerun"),
        (trouble | {"solve_s": 0.5}, ""),
    ):
        runs = gather_evidence(paper, [make_exact(peers=[peer])])
        assert gap_reason(figure, fill_exhibit(paper.drawn(figure), runs, paper.machines)) == said
