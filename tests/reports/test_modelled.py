"""Modelled cells of a paper's clusters: times by a separate formula, their inputs, and no cell without them."""

import re
from math import log

import pytest

from core.errors import UserError
from reports.comparison.calibration import Calibration
from reports.papers.exhibits import fill_exhibit, gather_evidence
from reports.papers.files import load
from reports.papers.modelled import with_modelled
from reports.papers.tables import make_table

FLIPS = {"neighbourhood": "flip2", "iterations": 1000}
NEIGHBOURS = {"73-73": 2628, "401-417": 86_736}
EIGHT, GRID = "modelled: COW, Xeon E5440, 8 cores", "modelled: Grid, 14 machines, 112 cores"


def filled(number, records):
    paper = load("luong2013")
    evidence = gather_evidence(paper, records)
    shown = fill_exhibit(paper.chosen("table", number)[0], evidence, paper.machines)
    return with_modelled(shown, paper, evidence)


@pytest.fixture
def one_core(make_run):
    def run(instance, seconds, **changes):
        asked = {"workload": "ppp", "parameters": FLIPS, "evaluations": 1000 * NEIGHBOURS[instance]}
        return make_run(f"{instance}:seed=0", seconds, **asked | {"details": {"iterations": 1000}} | changes)

    return run


def cell(shown, line, column):
    (modelled,) = [one for one in shown.modelled if (one.line, one.column) == (line, column)]
    return modelled


def test_a_cluster_of_one_host_takes_an_eighth_of_the_work_and_three_exchanges(one_core):
    times = (1.9, 2.0, 2.0, 2.0, 2.0, 2.1)
    datum = cell(filled("10", [one_core("401-417", times)]), "401-417", EIGHT)
    # 10,000 iterations of 2 ms; rounds of 0.6 us between 2, 4 and 8 cores, and 5 us of Python.
    expected = 10_000 * (2e-3 / 8 + 3 * 0.6e-6 + 5e-6)
    assert datum.values["seconds"] == pytest.approx(expected, rel=1e-3)
    assert datum.values["speedup"] == pytest.approx(20.0 / expected, rel=1e-3)
    assert re.fullmatch(r"one core, native mapping: 2\.57 s \[2\.\d+ s, 2\.\d+ s\]", datum.words[0])
    assert datum.row is None, "a modelled figure is no run"


def test_a_grid_pays_for_its_farthest_sites_in_every_iteration(one_core):
    modelled = cell(filled("11", [one_core("73-73", (0.1,) * 3)]), "73-73", GRID)
    # At least one message crosses the country in each of 10,000 iterations, and a core alone takes 1 s.
    assert modelled.values["seconds"] > 10_000 * 10e-3 and modelled.values["speedup"] < 0.01


def test_a_modelled_cell_names_its_core_network_ranks_and_error(one_core):
    shown = filled("10", [one_core("401-417", (2.0,) * 6)])
    notes = " ".join(cell(shown, "401-417", EIGHT).notes)
    for said in ("not run", "10,000 iterations", "8 ranks on 1 host of Myri-10G", "Test CPU", "up to 94 %"):
        assert said in notes
    assert "scaled" not in notes
    assert "from one core's times on 401-417, scaled" in " ".join(cell(shown, "1301-1317", EIGHT).notes)


def test_each_mapping_of_one_core_is_modelled_from_its_longest_run_on_one_machine(one_core):
    published = {"mapping": "published", "select": "device"}
    quicker = {"cpu_model": "another", "cores": 2, "host_count": 1}
    runs = [
        one_core("401-417", (2.0,) * 3),
        one_core("73-73", (0.1,) * 3),
        one_core("401-417", (0.4,) * 3, parameters=FLIPS | {"iterations": 250}, details={"iterations": 250}),
        one_core("401-417", (1.0,) * 3, environment=quicker),
        one_core("401-417", (8.0,) * 3, execution=published),
    ]
    cells = [one for one in filled("10", runs).modelled if (one.line, one.column) == ("401-417", EIGHT)]
    assert [one.words[0].partition(":")[0] for one in cells] == ["one core as published", "one core, native mapping"]
    assert [round(one.values["seconds"], 1) for one in cells] == [10.1, 2.6]


def test_times_between_recorded_sizes_are_read_off_in_logarithms(one_core):
    core = Calibration([one_core("73-73", (0.1,) * 3), one_core("401-417", (2.0,) * 3)])
    small, between, large = 73 * 2628, 201 * 217 * 216 / 2, 401 * 86_736
    share = log(between / small) / log(large / small)
    assert core.iteration_s("401-417") == pytest.approx(2e-3)
    assert core.iteration_s("201-217") == pytest.approx(1e-4 * 20**share)
    assert core.iteration_s("1301-1317") == pytest.approx(2e-3 * 1301 * 1317 * 1316 / 2 / large)
    with pytest.raises(UserError, match="kroA100: found no record of one core and no size in the name"):
        core.iteration_s("kroA100")


def test_walks_that_a_cluster_would_share_are_no_basis_of_a_neighbourhood(one_core):
    walks = one_core("73-73", (0.1,) * 3, parameters=FLIPS | {"walks": 8})
    assert filled("10", [walks]).modelled == ()


def test_without_a_run_on_one_core_the_columns_say_so(make_run):
    gpu = make_run("401-417:seed=0", workload="ppp", parameters=FLIPS, backend="cuda")
    shown = filled("10", [gpu])
    table = make_table(shown)
    modelled = next(part.table for part in table.parts if part.title == "Modelled")
    assert shown.modelled == () and f">{EIGHT}" in modelled.headings
    assert [note for _, note in table.notes if note.startswith("not modelled")] == [
        "not modelled: no run of this work on one core"
    ]
    assert filled("4", [gpu]).not_modelled == ()
