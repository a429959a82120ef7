"""The pages of the cluster model: what is modelled is called so, and turning points are said or denied."""

import pytest
from pandas import DataFrame

from reports.pages import cluster_model as pages_cluster_model
from reports.pages.cluster_model import ClusterModelPage, ModelCheck, ModelledCost, ModelledInstance, turning_ranks
from reports.plots import scaling as scaling_plots
from reports.statistics.medians import Estimate
from reports.text.tables import TextTable


def points(*seconds, share=0.25):
    rows = [(one, seconds[0] / one, k * share) for k, one in enumerate(seconds)]
    return DataFrame(rows, columns=["seconds", "speedup", "communication"], index=[1 << k for k in range(len(rows))])


def subject(gpu_s=0.3):
    curves = [("slow", points(1.0, 0.6, 0.8)), ("fast", points(1.0, 0.5, 0.25, share=0.1))]
    return ModelledInstance("73-73", 2628.0, "neighbours", 1.0, gpu_s, curves)


def page(**more):
    networks = TextTable("Networks", ("network",), [["slow"], ["fast"]])
    return ClusterModelPage("ppp", "a command", ("One core: Test.",), networks, (subject(),), **more)


def test_pages_call_figures_modelled_and_say_or_deny_where_communication_eats_the_gain(is_golden):
    is_golden(pages_cluster_model.render(page()), "cluster-model.md")
    assert "no GPU recorded" in str(pages_cluster_model.turning_points(subject(None)))


def test_what_nobody_gave_watts_or_prices_for_stays_empty():
    table = pages_cluster_model.cost_table(
        [ModelledCost("here", 2.0, 3000.0, None), ModelledCost("there", 0.5, None, 1.25)]
    )
    assert "| here | 2.00 s | 3.00 kJ |  |" in str(table) and "| there | 500 ms |  | 1.25 |" in str(table)


def test_an_error_is_printed_with_its_interval():
    check = ModelCheck("73-73", "cpu", "n", 2, 1, Estimate(1.0, 0.9, 1.1), 0.8, Estimate(-0.2, -0.3, 0.05), "nothing")
    text = pages_cluster_model.render_checks([check], 0.15)
    assert "0 of 1 runs are at most 15 % off" in text and "-20.0 % [-30.0 %, +5.0 %]" in text


@pytest.mark.parametrize(
    ("seconds", "gpu_s", "turns"),
    [
        ((1.0, 0.6, 0.8), 0.3, (2, 4, None)),
        ((1.0, 0.5, 0.25), 0.3, (4, 4, 4)),
        ((1.0, 0.5), 0.5, (2, None, None)),  # as fast is not faster
        ((1.0, 0.5, 0.5), None, (2, 4, None)),
    ],
)
def test_a_curve_turns_where_ranks_no_longer_pay(seconds, gpu_s, turns):
    assert turning_ranks(points(*seconds), gpu_s) == turns


def test_the_plot_is_drawn_into_a_folder(tmp_path, legible):
    pytest.importorskip("matplotlib")
    written = scaling_plots.modelled("73-73", subject().curves, subject().gpu_speedup, tmp_path)
    assert [path.name for path in written] == ["cluster-model.svg", "cluster-model.png"]
    assert "efficiency, modelled" in written[0].read_text()
