"""Weak scaling by `drivers.compare`: what is run on how many ranks, with a stub in the driver's place."""

import pytest

from core.errors import UserError
from drivers.compare import House, main
from drivers.compare_options import asked_of
from drivers.workloads import everything
from reports.records import load
from tests.drivers.made_up_runs import device, run_of

INSTANCE = "uniform:20:seed=1"


@pytest.fixture
def weak(tmp_path, monkeypatch, undrawn):
    """Compare with `--weak` on a core and all cores; the exit code, and backend, ranks and options of the runs."""
    monkeypatch.setattr("drivers.configurations.mpi_obstacle", lambda: None)

    def run(*arguments, scored=lambda ranks: True):
        given = []

        def command(contest, configuration):
            given.append((configuration.backend, configuration.ranks, contest.command(configuration)))
            options = asked_of(contest.workload, contest.arguments)
            return run_of(
                contest,
                configuration,
                parameters=options.deciding("work"),
                trajectory_hash=f"{getattr(options, contest.workload.scaled):04x}",
                scored=scored(configuration.ranks),
                details={"asked": options.asked(), "scaled": options.scaled},
            )

        fixed = ["--weak", "--repeats", "3", "--oversubscribe", "--out", str(tmp_path)]
        return main([*arguments, *fixed], House(lambda: [device("cpu"), device("threads")], command)), given

    return run


def value(arguments, flag):
    """What is given to an option last, which is what counts."""
    return arguments[len(arguments) - arguments[::-1].index(flag)]


def test_the_work_grows_with_the_ranks_and_is_recorded_as_such(weak, tmp_path):
    arguments = ("ihc", "--instance", INSTANCE, "--climbers", "50", "--ranks")
    code, given = weak(*arguments, "1", "2")
    assert code == 0
    assert [(backend, ranks, value(own, "--climbers")) for backend, ranks, own in given] == [
        ("cpu", 1, "50"),
        ("threads", 1, "50"),
        ("cpu", 2, "100"),
    ]
    assert weak(*arguments, "1", "2") == (0, [])
    assert [(ranks, value(own, "--climbers")) for _, ranks, own in weak(*arguments, "2", "4")[1]] == [(4, "200")]
    records = load(tmp_path / "compare-ihc-weak.jsonl")
    assert [one.details["scaled"] for one in records] == [1, 1, 2, 4]
    assert (tmp_path / "compare-ihc-weak.md").exists()


def test_what_is_left_open_grows_from_what_one_rank_does(weak):
    _, given = weak("ppp", "--instance", "31-31:seed=1", "--ranks", "3")
    assert [(ranks, value(own, "--walks")) for _, ranks, own in given] == [(1, "64"), (1, "64"), (3, "192")]


def test_grown_work_that_the_scorer_contradicts_is_an_error(weak, capsys):
    code, _ = weak("ihc", "--instance", INSTANCE, "--ranks", "2", scored=lambda ranks: ranks == 1)
    assert code == 1
    assert "error: cpu (device 0, 2 ranks): the NumPy scorer did not confirm" in capsys.readouterr().err


@pytest.mark.parametrize("workload", [one.name for one in everything() if not one.scaled])
def test_one_problem_cannot_grow(weak, workload):
    with pytest.raises(UserError, match=f"--weak: found {workload}, whose work .* expected one of ihc, aco, qap"):
        weak(workload, "--ranks", "2")


@pytest.mark.parametrize("ranks", [(), ("1",)])
def test_one_rank_alone_is_no_scaling(weak, ranks):
    with pytest.raises(UserError, match="--weak: found one rank alone"):
        weak("ihc", "--instance", INSTANCE, "--ranks", *ranks)


@pytest.mark.parametrize("declared", [one for one in everything() if one.scaled], ids=lambda one: one.name)
def test_what_grows_is_an_option_that_decides_the_work(declared):
    options = {one.name: how for one, how in declared.options.declared()}
    assert options[declared.scaled].decides in ("work", "search")
    assert options["scaled"].decides == "nothing"
