"""Pictures of papers' tables and figures: which curves they have, and that they are written and stay the same."""

import pytest
from msgspec import structs

from reports.papers.exhibits import fill_exhibit, gather_evidence
from reports.papers.files import load
from reports.papers.modelled import with_modelled
from reports.papers.plots import draw, panels, remarks


@pytest.fixture
def qap(make_run):
    return lambda instance="tai30a", backend="cpu", seconds=1.0: make_run(instance, [seconds] * 3, backend=backend)


@pytest.fixture
def ants(make_ants):
    return lambda strategy, ants, seconds: make_ants(strategy, ants, [seconds] * 3, backend="cuda")


def drawn(paper, kind, number, records):
    """A figure, and the exhibit with records."""
    publication = load(paper)
    (figure,) = publication.chosen(kind, number)
    return figure, fill_exhibit(publication.drawn(figure), gather_evidence(publication, records), publication.machines)


def curves(figure, filled):
    return {curve.name: dict(curve.values) for panel in panels(figure, filled) for curve in panel.curves}


def test_speedups_of_one_machine_of_the_paper_stand_beside_ours_without_the_baseline(qap):
    runs = [qap("tai30a"), qap("tai60a"), qap("tai30a", "cuda", 0.5), qap("tai60a", "cuda", 0.1)]
    drawn_curves = curves(*drawn("luong2013", "table", "2", runs))
    assert list(drawn_curves) == ["paper, M2050: GPU", "paper, M2050: GPUTex", "ours, native mapping: cuda"]
    assert drawn_curves["ours, native mapping: cuda"] == pytest.approx({"tai30a": 2.0, "tai60a": 10.0})
    assert drawn_curves["paper, M2050: GPUTex"]["tai100a"] == 18.6


def test_a_panel_for_whoever_measured_where_times_do_not_compare(ants):
    took = {"coarse": 1.0, "fine": 2.0}
    runs = [ants(strategy, size, factor * size / 1000) for strategy, factor in took.items() for size in (1024, 8192)]
    figure, filled = drawn("menezes2019", "figure", "3", runs)
    paper, ours = panels(figure, filled)
    assert (paper.title, ours.title) == ("K20, published", "ours, native mapping: cuda")
    assert paper.places == ("1,024", "2,048", "4,096", "8,192") and ours.places == ("1,024", "8,192")
    assert [curve.name for curve in ours.curves] == ["coarse", "fine"]
    assert paper.curves[0].values["1,024"] == 4.822 and paper.curves[0].published
    assert "not printed" in paper.axis and "not printed" not in ours.axis


def test_curves_of_equal_values_are_one_and_the_axis_says_how_many_iterations(ants):
    runs = [ants(name, *run) for name in ("coarse", "fine", "fine-deposit") for run in ((1024, 1.0), (8192, 2.0))]
    (panel,) = panels(*drawn("menezes2019", "figure", "2", runs))
    assert [curve.name for curve in panel.curves] == ["coarse, fine and fine-deposit"]
    assert (panel.axis, panel.optimum) == ("best cost, 20 iterations", 6656)


def test_a_picture_of_published_figures_or_of_ours_alone_says_so(ants, qap):
    both = panels(*drawn("luong2013", "table", "2", [qap(), qap("tai60a"), qap(backend="cuda", seconds=0.5)]))
    assert remarks(both) == []
    assert remarks(panels(*drawn("xavier2022", "figure", "5.1", []))) == ["(published figures alone: no run of ours)"]
    ours = panels(*drawn("menezes2019", "figure", "2", [ants("coarse", 1024, 1.0), ants("coarse", 8192, 2.0)]))
    assert remarks(ours) == ["(ours alone: no published figure)"]


def test_a_ratio_over_a_doubtful_time_is_marked_in_the_picture(qap):
    spread = qap()
    spread = structs.replace(
        spread, repetitions=(*spread.repetitions[:2], structs.replace(spread.repetitions[2], kernel_s=1.5, total_s=1.5))
    )
    drawn_panels = panels(*drawn("luong2013", "table", "2", [spread, qap(backend="cuda", seconds=0.5)]))
    assert [curve.name for curve in drawn_panels[0].curves][-1] == "ours, native mapping: cuda*"
    assert remarks(drawn_panels)[-1].startswith("(* its time of one core is doubtful")


@pytest.fixture
def flips(make_run):
    def run(instance="401-417:seed=0", seconds=2.0, **changes):
        asked = {"workload": "ppp", "parameters": {"neighbourhood": "flip2", "iterations": 1000}}
        evaluations = {"evaluations": 1000 * 86_736, "details": {"iterations": 1000}}
        return make_run(instance, [seconds] * 3, **asked, **evaluations, **changes)

    return run


def with_model(number, records):
    paper = load("luong2013")
    figure, filled = drawn("luong2013", "table", number, records)
    return figure, with_modelled(filled, paper, gather_evidence(paper, records))


def test_modelled_columns_and_emulated_hosts_are_drawn_with_marks_of_their_own(flips, tmp_path):
    far = {"cpu_model": "Test CPU", "cores": 2, "host_count": 1, "emulated_network": "cow", "emulated_hosts": 2}
    figure, filled = with_model("10", [flips(), flips(seconds=1.5, ranks=2, environment=far)])
    (panel,) = panels(figure, filled)
    assert [(curve.name, curve.group) for curve in panel.curves[2:]] == [
        ("modelled: COW, 13 Xeon E5440, 104 cores, from one core, native mapping", "modelled"),
        ("ours, emulated COW, 2 hosts, a core each: cpu, 2 ranks on 2 emulated hosts", "emulated hosts"),
    ]
    assert len(panel.curves[2].values) == 9, "instances without a run are modelled too"
    assert remarks([panel]) == ["(half-filled or hatched: modelled, emulated hosts)"]
    text = draw(figure, filled, tmp_path, "ten")[0].read_text()
    assert "from one core, native mapping" in text and "ours, emulated COW, 2 hosts" in text


def test_more_curves_than_a_legend_holds_are_drawn_in_panels_of_equal_axes(flips, tmp_path):
    runs = [flips(), *(flips(seconds=2 / ranks, ranks=ranks) for ranks in (2, 4, 8, 16, 32, 64))]
    runs += [flips(seconds=0.1, backend=name, device_kind="gpu") for name in ("cuda", "opencl")]
    figure, filled = with_model("10", runs)
    shown = panels(figure, filled)
    assert [(panel.title, len(panel.curves)) for panel in shown] == [
        ("published, modelled, all cores and GPUs", 5),
        ("several ranks", 6),
    ]
    assert len({panel.places for panel in shown}) == 1
    assert draw(figure, filled, tmp_path, "ten")


def test_ratios_that_were_printed_as_nothing_have_no_bar():
    figure, filled = drawn("xavier2022", "figure", "5.1", [])
    (panel,) = panels(figure, filled)
    assert "ulysses22" not in panel.places and panel.curves[0].values["eil7"] == 21.71


def test_nothing_is_drawn_of_one_value_or_none(make_record):
    for records in ([], [make_record(workload="lcs", instance="half:1000:seed=1", parameters={"trace": True})]):
        figure, filled = drawn("oconnell2014", "figure", "4a", records)
        assert panels(figure, filled) == []


def test_a_picture_is_the_same_for_the_same_records(qap, tmp_path):
    figure, filled = drawn("luong2013", "table", "2", [qap(), qap(backend="cuda", seconds=0.5)])
    first, second = (draw(figure, filled, tmp_path, name) for name in ("one", "two"))
    assert first[0].read_bytes() == second[0].read_bytes()
    text = first[0].read_text()
    for words in ("M2050: GPUTex", "speed-up over one core", "Table 2 (section 6.1)"):
        assert words in text, words
