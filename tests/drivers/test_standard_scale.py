"""The standard scale of the papers, on a made-up host with one GPU and 16 cores."""

from itertools import chain

import pytest

from drivers.experiments.plan import ExperimentPlan
from drivers.experiments.presets.reproduce import chosen_exhibits, plan_runs, read_options
from reports.papers.files import names
from reports.papers.placement import run_choice
from tests.drivers.made_up_paper import device, machine_with
from tests.drivers.made_up_runs import processor

MINUTES = 30
UNKNOWN_S = 6.0
"""Seconds of a run without an estimate: an exact search."""
GPUS = [device(backend, "gpu", compute_units=132) for backend in ("cuda", "opencl")]


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_the_standard_scale_has_all_rows_and_takes_half_an_hour(name, shared_data, tmp_path, monkeypatch):
    for place in ("estimate.cores", "configurations.present_cores"):
        monkeypatch.setattr(f"drivers.experiments.{place}", lambda: 16)
    for place in ("mpi_obstacle", "emulation_obstacle"):
        monkeypatch.setattr(f"drivers.experiments.presets.series.{place}", lambda: "")
    host = machine_with(device("cpu"), processor("threads", 16), processor("joblib", 16), *GPUS, cores=16)
    options = read_options([name, "--scale", "standard", "--data", str(shared_data), "--out", str(tmp_path)], None)
    paper, exhibits = chosen_exhibits(options)
    plan = plan_runs(options, paper, exhibits, host)
    for exhibit in exhibits:
        able = {
            row.name for row in exhibit.rows if any(run_choice(paper, exhibit, row, one) for one in exhibit.columns)
        }
        planned = {row for place, row, _ in [*plan.cells, *plan.missing] if place == exhibit.name}
        assert able <= planned, exhibit.name
    experiment = ExperimentPlan([], tmp_path / "no.jsonl")
    cases = chain(*plan.groups(is_in_turn=True))
    assert sum(experiment.left_s(case) or UNKNOWN_S for case in cases) <= 60 * MINUTES
