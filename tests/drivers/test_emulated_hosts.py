"""Ranks on hosts that one machine emulates: their plan, their command, and records that no other run is taken for."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.errors import UserError
from core.granted_cores import EMULATION
from drivers.experiments.configurations import Configuration
from drivers.experiments.estimate import estimate_seconds
from drivers.experiments.presets import series as planning
from drivers.runs.rank_start import require_emulated_hosts
from reports.papers.paper import Series
from reports.records import environment as places
from reports.records.files import Record
from tests.drivers.made_up_paper import FIRST, HILLS, device, machine_with, paper_of
from tests.drivers.made_up_runs import processor, record_of

FAR = Series("far", kinds=("core",), ranks=4, hosts=4, network="cow")
HYBRID = Series("far", kinds=("cores",), cores=2, ranks=2, hosts=2, network="grid2")


@pytest.fixture
def emulated(monkeypatch):
    """Plan a series as if hosts could be emulated here, or with a reason against it."""

    def plan(series, machine, why_not=None):
        monkeypatch.setattr(planning, "emulation_obstacle", lambda: why_not)
        return planning.series_configurations(series, machine)

    return plan


@pytest.fixture
def case(tmp_path):
    from drivers.experiments.presets.paper_plan import plan_reproduction

    paper = paper_of(tmp_path, HILLS)
    records = tmp_path / "records.jsonl"
    plan = plan_reproduction(paper, paper.exhibits, machine_with(device("cpu")), "quick", records)
    return next(one for one in plan.cases.values() if one.task.problem.name == FIRST)


def test_emulated_hosts_may_share_cores_and_keep_their_ranks_for_any_ranks_of_the_user(emulated):
    for machine in (machine_with(device("cpu"), cores=2), machine_with(device("cpu"), cores=2, ranks=[2])):
        (host,) = emulated(FAR, machine)
        assert (host.ranks, host.hosts, host.network) == (4, 4, "cow")
    with pytest.raises(UserError, match="it needs several ranks, and --ranks leaves them out"):
        emulated(FAR, machine_with(device("cpu"), ranks=[]))


def test_a_rank_of_a_hybrid_program_has_its_threads(emulated):
    (small,), (large,) = (emulated(HYBRID, machine_with(processor("threads", cores))) for cores in (2, 16))
    assert (small.recorded, large.recorded) == ("2 of 2 cores", "2 of 16 cores")
    assert {(one.ranks, one.hosts, one.network) for one in (small, large)} == {(2, 2, "grid2")}


def test_the_reason_is_given_where_hosts_cannot_be_emulated(emulated):
    with pytest.raises(UserError, match="no /dev/net/tun"):
        emulated(FAR, machine_with(device("cpu")), "no /dev/net/tun")


def test_the_command_starts_hosts_that_see_the_records_and_binds_no_rank(case):
    where = replace(case.configuration, ranks=4, hosts=2, network="cow")
    words = case.on(where).command()
    start = words[words.index("cluster.emulation") : words.index("--") + 1]
    assert start == ["cluster.emulation", "cow", "2", "--slots", "2", "--share", str(case.records.parent), "--"]
    assert words[words.index("--bind-to") + 1] == "none"
    assert "cluster.emulation" not in case.on(replace(where, network="")).command()


def test_processes_on_emulated_hosts_name_their_machine_and_network(monkeypatch):
    alone = places.environment()
    assert not places.emulated_hosts(alone)
    monkeypatch.setenv(EMULATION, "grid5 5 1 the machine")
    environment = places.environment(host_count=5)
    assert places.emulated_hosts(environment) == {"emulated_network": "grid5", "emulated_hosts": 5}
    assert (environment["host"], environment["host_count"], environment["cores"]) == ("the machine", 1, alone["cores"])


@pytest.mark.parametrize(
    ("slots", "size", "hosts", "expected"),
    [(1, 4, "a", 3), (1, 4, "abba", 3), (2, 4, "a", 2), (4, 4, "a", 1), (2, 4, "abcc", 2), (9, 30, "ab", 3)],
)
def test_ranks_on_fewer_hosts_than_their_slots_fill_are_refused(slots, size, hosts, expected, monkeypatch):
    monkeypatch.setenv(EMULATION, f"cow 3 {slots} the machine")
    ranks = SimpleNamespace(size=size, lost=(), bcast=lambda one: one, host=str, gather=lambda _: list(hosts))
    refused = pytest.raises(UserError, match=f"{size} ranks on {len(set(hosts))} of 3 .* expected them on {expected}:")
    with refused if len(set(hosts)) < expected else nullcontext():
        require_emulated_hosts(ranks)


def test_runs_on_real_and_emulated_hosts_are_never_taken_for_each_other(case):
    real = case.on(replace(case.configuration, ranks=2))
    far = case.on(replace(real.configuration, network="cow", hosts=2))
    farther = case.on(replace(real.configuration, network="grid2", hosts=2))
    machine, records = places.environment(), []
    for run in (real, far, farther):
        fields = record_of(run, 0)
        fields.pop("schema")
        fields["environment"] = machine | run.configuration.emulated
        records.append(Record.checked(**fields | {"repetitions": (), "verified": False}))
    assert [one.records_among(records, machine) for one in (real, far, farther)] == [[one] for one in records]


def test_the_estimate_of_emulated_hosts_has_their_network_and_no_more_cores_than_here(monkeypatch):
    monkeypatch.setattr("drivers.experiments.estimate.cores", lambda: 2)
    core_s, ranks = 10.0, Configuration("cpu", "0", "stub", ranks=5)
    emulated_s = estimate_seconds(core_s, replace(ranks, network="grid5", hosts=5), 3, iterations=50)
    assert emulated_s == pytest.approx(3 * (10 / 2 + 50 * 0.02))
    assert estimate_seconds(core_s, ranks, 3, iterations=50) == pytest.approx(3 * 10 / 5)
