"""Which devices and numbers of ranks a comparison takes, and which not and why."""

import pytest

from core.errors import UserError
from drivers.configurations import plan
from tests.drivers.made_up_comparison import device


def test_without_a_usable_backend_there_is_nothing_to_run():
    with pytest.raises(UserError, match="no backend is usable"):
        plan([device("cuda", usable=False, reason="no driver")], None, [])


def test_one_core_runs_first_and_ranks_last_each_number_once():
    chosen, not_run = plan([device("threads"), device("cpu"), device("cuda")], None, [4, 1, 2, 4])
    assert [(one.backend, one.ranks) for one in chosen if one.ranks == 1] == [("cpu", 1), ("threads", 1), ("cuda", 1)]
    ranked = [*chosen[3:], *not_run]
    assert [(one.backend, one.ranks) for one in ranked] == [("cpu", 2), ("cpu", 4)]


def test_ranks_run_on_the_backend_that_is_named_for_them(monkeypatch):
    monkeypatch.setattr("drivers.configurations.mpi_obstacle", lambda: None)
    chosen, _ = plan([device("cpu"), device("threads")], ["cpu"], [2], "threads")
    assert [(one.backend, one.ranks, one.kind) for one in chosen] == [("cpu", 1, "core"), ("threads", 2, "cores")]


def test_the_oracle_runs_only_where_it_is_named():
    devices = [device("python"), device("cpu")]
    chosen, not_run = plan(devices, None, [])
    assert [one.backend for one in chosen] == ["cpu"]
    assert "the oracle" in not_run[0].reason
    chosen, not_run = plan(devices, ["python"], [])
    assert [one.backend for one in chosen] == ["python"]
    assert not_run == []


def test_without_mpi_the_ranks_are_listed_with_what_installs_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    chosen, not_run = plan([device("cpu")], None, [2, 4])
    assert [configuration.ranks for configuration in chosen] == [1]
    assert [missing.ranks for missing in not_run] == [2, 4]
    assert "pip install -e '.[mpi]'" in not_run[0].reason


def processor(backend, cores=4):
    """A row of a survey for a backend that can be told how many cores it uses."""
    made = device(backend)
    made.takes_cores, made.compute_units = backend in ("threads", "joblib"), cores
    return made


def test_a_backend_of_all_cores_runs_with_each_number_of_cores_and_others_once():
    devices = [processor(name) for name in ("cpu", "threads", "cuda")]
    chosen, _ = plan(devices, None, [], None, [4, 1, 4])
    recorded = [(one.backend, one.cores, one.recorded) for one in chosen]
    assert recorded[:2] == [("cpu", None, "0"), ("threads", 1, "1 of 4 cores")]
    assert recorded[2:] == [("threads", 4, "4 of 4 cores"), ("cuda", None, "0")]
    assert str(chosen[1]) == "threads (device 0: stub device, 1 of 4 cores)"


@pytest.mark.parametrize(
    ("backends", "cores", "line"),
    [
        (["cpu"], [2], "--cores: found nothing to run that takes a number of cores, expected threads among --backends"),
        (None, [1, 5], "--cores 5: found 4 for threads, expected at most 4"),
    ],
)
def test_a_number_of_cores_that_changes_nothing_or_is_too_large_is_one_line(backends, cores, line):
    with pytest.raises(UserError) as caught:
        plan([processor("cpu"), processor("threads")], backends, [], None, cores)
    assert str(caught.value) == line
