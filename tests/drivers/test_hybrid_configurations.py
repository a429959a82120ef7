"""`--hybrid`: which ranks with how many threads are compared, how they are started, and what the report says."""

import pytest

from backends.cpu_info import available_cores
from core.errors import UserError
from drivers.compare import main
from drivers.experiments.case import Case
from drivers.experiments.configurations import (
    HybridConfiguration,
    chosen_hybrid_configurations,
    hybrid_configurations,
    plan_hybrid_configurations,
    read_hybrid_configuration,
)
from drivers.workload.registry import get_workload
from reports.records.files import load
from tests.drivers.made_up_runs import processor
from tests.drivers.test_compare_workloads import SMALL

HERE = [processor(backend, 16) for backend in ("python", "cpu", "threads", "joblib", "cuda")]


# --- which ---


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], "1x16 2x8 4x4 8x2 16x1"),
        (["8"], "1x8 2x4 4x2 8x1"),
        (["16x1", "4x4", "4x4"], "4x4 16x1"),
        (["3x2"], "3x2"),
    ],
)
def test_what_stands_behind_the_option_are_mixtures_or_a_number_of_cores(asked, expected):
    chosen = chosen_hybrid_configurations([read_hybrid_configuration(one) for one in asked], 16, oversubscribe=False)
    assert " ".join(map(str, chosen)) == expected


def test_one_core_runs_first_and_ranks_of_one_core_are_flat_mpi(monkeypatch):
    monkeypatch.setattr("drivers.experiments.configurations.mpi_obstacle", lambda: None)
    chosen, not_run = plan_hybrid_configurations(HERE, hybrid_configurations(4))
    assert [(one.backend, one.ranks, one.cores, one.recorded) for one in chosen] == [
        ("cpu", 1, None, "0"),
        ("threads", 1, 4, "4 of 16 cores"),
        ("threads", 2, 2, "2 of 16 cores"),
        ("cpu", 4, None, "0"),
    ]
    assert not_run == []
    assert plan_hybrid_configurations(HERE, [HybridConfiguration(2, 2)], "joblib")[0][1].backend == "joblib"


def test_what_cannot_run_is_listed_with_the_reason(monkeypatch):
    monkeypatch.setattr("drivers.experiments.configurations.mpi_obstacle", lambda: "no mpirun")
    chosen, not_run = plan_hybrid_configurations(
        [processor("cpu", 2), processor("threads", 2)], hybrid_configurations(4)
    )
    assert [(one.backend, one.ranks) for one in chosen] == [("cpu", 1)]
    assert [(one.ranks, one.reason) for one in not_run] == [
        (1, "found 2 cores for a rank here, expected 4"),
        (2, "no mpirun"),
        (4, "no mpirun"),
    ]


# --- how they are started ---


def test_ranks_that_keep_apart_choose_from_all_cores(monkeypatch, tmp_path):
    monkeypatch.setattr("drivers.experiments.configurations.mpi_obstacle", lambda: None)
    monkeypatch.setattr("drivers.experiments.case.find_mpirun", lambda: "mpirun")
    case = Case(get_workload("ppp"), None, ("--pin-cores",), {}, (0,), 3, tmp_path / "r.jsonl")
    where, _ = plan_hybrid_configurations(HERE, [HybridConfiguration(2, 8), HybridConfiguration(16, 1)])
    _, mixed, flat = (case.on(one).command() for one in where)
    launched = ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
    assert mixed[:7] == ["mpirun", "-n", "2", *launched]
    assert mixed[mixed.index("--cores") + 1] == "8"
    assert flat[:7] == ["mpirun", "-n", "16", *launched]
    assert "--cores" not in flat and flat[flat.index("--backend") + 1] == "cpu"


# --- mistakes ---


def test_without_a_backend_of_one_core_or_of_several_there_is_nothing_to_compare():
    with pytest.raises(UserError, match="--hybrid: found no backend of one core here"):
        plan_hybrid_configurations(HERE[2:], hybrid_configurations(2))
    with pytest.raises(UserError, match="--hybrid: found nothing, expected a backend that takes a number of cores"):
        plan_hybrid_configurations(HERE[:2], hybrid_configurations(2))


# --- all of it ---


@pytest.mark.skipif(available_cores() < 2, reason="a rank takes two cores")
@pytest.mark.usefixtures("mpirun")
@pytest.mark.parametrize("name", ["ppp", *(pytest.param(one, marks=pytest.mark.slow) for one in ("ihc", "lcs"))])
def test_a_workload_does_the_same_work_on_every_mixture(name, tmp_path, capsys):
    """On four cores, which the machine may lack."""
    mixtures = ["2x2", *(["4x1"] if name != "ppp" else [])]
    words = [*SMALL[name].split(), "--hybrid", *mixtures, "--oversubscribe", "--no-peers"]
    code = main([name, *words, "--repeats", "1", "--out", str(tmp_path)])
    said = capsys.readouterr()
    assert code == 0, said.out + said.err
    # The best one-core algorithm is another workload's record.
    records = [one for one in load(tmp_path / f"compare-{name}-hybrid.jsonl") if one.workload == name]
    ran = [(record.backend, record.ranks, record.details.get("cores_per_rank")) for record in records]
    assert ran[:2] == [("cpu", 1, None), ("threads", 2, 2)]
    assert len({record.hash for record in records}) == 1
    assert all(record.verified for record in records)
    assert "| 2 ranks of threads 2 of " in (tmp_path / f"compare-{name}-hybrid.md").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("mpirun")
def test_ranks_that_keep_apart_say_so_in_their_records(tmp_path):
    words = ["ppp", *SMALL["ppp"].split(), "--hybrid", "2x1", "--no-peers", "--repeats", "1", "--out", str(tmp_path)]
    assert main(words) == 0
    alone, two = load(tmp_path / "compare-ppp-hybrid.jsonl")
    assert alone.execution["pin_cores"] and two.execution["pin_cores"]
    assert len(alone.details["rank_cores"]) == 1
    assert len(set(two.details["rank_cores"])) == 2
