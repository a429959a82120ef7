"""How a comparison ends and what it leaves, with a stub in the driver's place."""

import json

from drivers.compare import main
from tests.drivers.made_up_comparison import compare as compare_fixture
from tests.drivers.made_up_comparison import device, stub_house

compare = compare_fixture


def test_every_usable_backend_and_the_ranks_are_run_and_reported(compare, tmp_path, capsys):
    devices = [
        device("threads"),
        device("cpu"),
        device("cuda", usable=False, reason="no driver"),
        device("python"),
    ]
    assert compare("--ranks", "2", "4", "--oversubscribe", devices=devices) == 0
    report = (tmp_path / "compare-ihc.md").read_text()
    printed = capsys.readouterr().out
    for text in (report, printed):
        assert "no driver" in text
        assert "the oracle" in text
        assert "2.00x" in text  # threads, and two ranks
        assert "4.00x" in text  # four ranks
    left = {file.name for file in tmp_path.iterdir()}
    assert {"compare-ihc.md", "compare-ihc.tex", "compare-ihc.jsonl"} <= left
    assert {"compare-ihc-1.svg", "compare-ihc-1.png"} <= left
    records = [json.loads(line) for line in (tmp_path / "compare-ihc.jsonl").open()]
    ran = [(record["backend"], record["ranks"]) for record in records]
    assert ran == [("cpu", 1), ("threads", 1), ("cpu", 2), ("cpu", 4)]


def test_more_ranks_than_cores_are_marked(compare, tmp_path, monkeypatch):
    monkeypatch.setattr("reports.environment.cores", lambda: 3)
    monkeypatch.setattr("drivers.compare_options.cores", lambda: 3)
    assert compare("--ranks", "4", "--oversubscribe", devices=[device("cpu")]) == 0
    assert "oversubscribed: 4 ranks on 3 cores" in (tmp_path / "compare-ihc.md").read_text()


def test_which_of_how_many_runs_is_on_and_the_time_left_are_shown(compare, capsys):
    compare("--ranks", devices=[device("cpu"), device("threads")])
    first, second = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[")]
    assert first.startswith("[1/2] ihc, uniform")
    assert "cpu (device 0: stub device) ... best 7, hash 01230 of all climbs (" in first
    assert first.endswith(" s left)")
    assert second.startswith("[2/2] ihc, uniform")
    assert "left" not in second


def test_a_backend_that_fails_is_named_and_the_others_are_still_reported(compare, tmp_path, capsys):
    assert compare("--ranks", devices=[device("cpu"), device("joblib"), device("threads")]) == 1
    report = (tmp_path / "compare-ihc.md").read_text()
    assert "failed with exit code 1: error: no shared memory" in report
    assert "| threads |" in report
    assert "worker processes died" in capsys.readouterr().err


def test_a_backend_that_fails_after_its_last_repetition_has_failed(compare, tmp_path):
    assert compare("--ranks", devices=[device("cpu"), device("late")]) == 1
    assert "error: failed after its last repetition" in (tmp_path / "compare-ihc.md").read_text()


def test_a_backend_that_writes_no_record_has_failed(compare, capsys):
    assert compare("--ranks", devices=[device("cpu"), device("silent")]) == 1
    assert "silent (device 0): wrote no record" in capsys.readouterr().out


def test_a_backend_whose_repetitions_differ_has_failed_and_the_others_are_reported(compare, tmp_path):
    assert compare("--ranks", devices=[device("cpu"), device("unequal"), device("threads")]) == 1
    report = (tmp_path / "compare-ihc.md").read_text()
    assert "not the same work" in report
    assert "| threads |" in report


def test_unequal_hashes_end_in_an_error_and_no_report(compare, tmp_path, capsys):
    (tmp_path / "compare-ihc.md").write_text("an earlier comparison")
    (tmp_path / "compare-ihc-2.svg").write_text("an earlier plot")
    assert compare("--ranks", devices=[device("cpu"), device("wrong")]) == 1
    said = capsys.readouterr().err
    assert "not the same work" in said
    assert "trajectory_hash is '01230' in cpu" in said
    assert "'ffff' in wrong" in said
    assert [file.name for file in tmp_path.iterdir()] == ["compare-ihc.jsonl"]


def test_a_result_that_the_scorer_contradicts_enters_no_ratio_and_fails(compare, tmp_path, capsys):
    for _ in ("run", "taken from the records"):
        assert compare("--ranks", devices=[device("cpu"), device("unscored")]) == 1
        assert "error: unscored (device 0): the NumPy scorer did not confirm" in capsys.readouterr().err
        assert "| unscored | 0: " not in (tmp_path / "compare-ihc.md").read_text()
        assert "failed with exit code" not in (tmp_path / "compare-ihc.md").read_text()


def test_nothing_confirmed_is_an_error_and_no_report(compare, tmp_path, capsys):
    assert compare("--ranks", devices=[device("unscored")]) == 1
    assert "confirmed none of them" in capsys.readouterr().err
    assert not (tmp_path / "compare-ihc.md").exists()


def test_nothing_that_runs_is_an_error(compare, capsys):
    assert compare("--ranks", devices=[device("silent")]) == 1
    assert "nothing ran" in capsys.readouterr().err


def test_only_the_named_backends_run(compare):
    commands = []
    devices = [device("cpu"), device("threads"), device("python")]
    compare("--backends", "threads", "python", devices=devices, commands=commands)
    assert [configuration.backend for configuration in commands] == ["threads", "python"]


def test_several_seeds_are_one_row_with_the_repetitions_of_all(compare, tmp_path, capsys):
    assert compare("--seeds", "3,5", "--start", "philox", "--ranks", devices=[device("cpu"), device("threads")]) == 0
    printed = capsys.readouterr().out
    assert "best 10 of 2 seeds" in printed
    assert len([line for line in printed.splitlines() if line.startswith("cpu ")]) == 1
    assert "| cpu | 6 |" in (tmp_path / "compare-ihc.md").read_text()


def test_an_instance_that_is_missing_does_not_keep_the_others_from_running(tmp_path, capsys):
    commands = []
    house = stub_house(device("cpu"), commands=commands)
    named = ["--instance", "uniform:8:seed=1", "nowhere", "uniform:9:seed=1"]
    arguments = [*named, "--climbers", "16", "--ranks", "--repeats", "1", "--out", str(tmp_path)]
    assert main(["ihc", *arguments], house) == 2
    said = capsys.readouterr()
    (error,) = said.err.splitlines()
    assert error.startswith("error: nowhere: found no such instance")
    assert len(commands) == 2
    report = (tmp_path / "compare-ihc.md").read_text()
    assert "uniform:8:seed=1" in report
    assert "uniform:9:seed=1" in report


def test_each_seed_that_generates_an_instance_has_a_section(tmp_path, monkeypatch):
    ran = []

    def command(contest, configuration):
        ran.append((contest.task.problem.name, contest.seeds, contest.arguments[-2:]))
        return ["true"]

    house = stub_house(device("cpu"))
    house = type(house)(house.survey, command)
    arguments = ["--items", "5", "--capacity", "50", "--seeds", "1,4", "--ranks", "--out", str(tmp_path)]
    assert main(["knapsack", *arguments], house) == 1
    assert ran == [
        ("paper:5:50:seed=1", (1,), ("--seed", "1")),
        ("paper:5:50:seed=4", (4,), ("--seed", "4")),
    ]


def test_an_instance_that_nobody_described_has_its_reason(compare, tmp_path):
    described = "It does not say why uniform:8:seed=1:side=10000 was chosen."
    assert compare("--ranks", devices=[device("cpu")]) == 0
    assert described in (tmp_path / "compare-ihc.md").read_text()
    house = stub_house(device("cpu"))
    assert main(["ihc", "--ranks", "--repeats", "1", "--out", str(tmp_path / "own")], house) == 0
    assert (
        "Why this one: the one that this workload is compared on if nothing is asked of it"
        in (tmp_path / "own" / "compare-ihc.md").read_text()
    )
