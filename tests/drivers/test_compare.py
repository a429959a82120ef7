"""Exit codes and files of a comparison, also of weak scaling, with a stub in place of the driver."""

import pytest

from drivers.compare import main
from drivers.experiments.case import Case
from drivers.experiments.options import workload_options
from reports.records.files import load
from tests.drivers.made_up_runs import device, made_up_suite, run_of

INSTANCE_OF_8 = "uniform:8:seed=1:side=10000"


def test_every_usable_backend_and_the_ranks_are_run_and_reported(compare, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("reports.records.environment.cores", lambda: 3)
    monkeypatch.setattr("drivers.experiments.configurations.present_cores", lambda: 3)
    missing = device("cuda", usable=False, reason="no driver")
    devices = [device("threads"), device("cpu"), missing, device("python")]
    assert compare("--ranks", "2", "4", "--oversubscribe", devices=devices) == 0
    report = (tmp_path / "compare-ihc.md").read_text()
    printed = capsys.readouterr().out
    for text in (report, printed):
        assert "no driver" in text
        assert "python" not in text, "the reference interpreter is no device to compare"
        assert "2.00" in text  # threads, and two ranks
        assert "4 ranks are 4.00 times as fast as one core." in text
    assert all(len(line) <= 80 for line in printed.splitlines() if str(tmp_path) not in line)
    left = {file.name for file in tmp_path.iterdir()}
    assert {"compare-ihc.md", "compare-ihc.jsonl", "compare-ihc-1.svg"} <= left
    ran = [(record.backend, record.ranks) for record in load(tmp_path / "compare-ihc.jsonl")]
    assert ran == [("cpu", 1), ("threads", 1), ("cpu", 2), ("cpu", 4)]


def test_which_of_how_many_runs_is_on_and_the_time_left_are_shown(compare, tmp_path, capsys):
    compare("--ranks", devices=[device("cpu"), device("threads")])
    lines = capsys.readouterr().out.splitlines()
    first, second = [line for line in lines if line.startswith("[")]
    assert first == f"[1/2] ihc, {INSTANCE_OF_8} on cpu (device 0: stub device) ..."
    assert second.startswith("[2/2] ihc, uniform")
    ended = [line for line in lines if line.startswith("    best 7, hash 01230 of all climbs (")]
    assert [line.endswith(" s left)") for line in ended] == [True, False]
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    assert "the default for" not in (tmp_path / "compare-ihc.md").read_text(), "it was asked for"


def test_backends_that_fail_are_named_and_the_others_are_still_reported(compare, tmp_path, capsys):
    devices = [device(name) for name in ("cpu", "joblib", "late", "silent", "unequal", "threads")]
    assert compare("--ranks", devices=devices) == 1
    report, said = (tmp_path / "compare-ihc.md").read_text(), capsys.readouterr()
    assert "failed with exit code 1: error: no shared memory" in report
    assert "error: failed after its last repetition" in report
    assert "unequal work" in report  # repetitions of one backend that differ
    assert "| threads |" in report
    assert "wrote no record" in said.out
    assert "worker processes died" in said.err


def test_unequal_hashes_end_in_an_error_and_no_report(compare, tmp_path, capsys):
    (tmp_path / "compare-ihc.md").write_text("an earlier comparison")
    (tmp_path / "compare-ihc-2.svg").write_text("an earlier plot")
    assert compare("--ranks", devices=[device("cpu"), device("wrong")]) == 1
    said = capsys.readouterr().err
    assert "unequal work" in said
    assert "hash is '01230' in cpu" in said
    assert "'ffff' in wrong" in said
    assert [file.name for file in tmp_path.iterdir()] == ["compare-ihc.jsonl"]


def test_a_result_that_the_scorer_contradicts_enters_no_ratio_and_fails(compare, tmp_path, capsys):
    for _ in ("run", "taken from the records"):
        assert compare("--ranks", devices=[device("cpu"), device("unscored")]) == 1
        assert "error: unscored (device 0): the NumPy scorer did not confirm" in capsys.readouterr().err
        assert "| unscored | 0: " not in (tmp_path / "compare-ihc.md").read_text()
        assert "failed with exit code" not in (tmp_path / "compare-ihc.md").read_text()


def test_nothing_confirmed_and_nothing_that_runs_are_errors_and_no_report(compare, tmp_path, capsys):
    for backend, error in (("unscored", "confirmed none of them"), ("silent", "nothing ran")):
        assert compare("--ranks", devices=[device(backend)]) == 1
        assert error in capsys.readouterr().err
        assert not (tmp_path / "compare-ihc.md").exists()


def test_several_seeds_are_one_row_with_the_repetitions_of_all(compare, tmp_path, capsys):
    assert compare("--seeds", "3,5", "--start", "philox", "--ranks", devices=[device("cpu"), device("threads")]) == 0
    printed = capsys.readouterr().out
    assert "best 10 of 2 seeds" in printed
    assert len([line for line in printed.splitlines() if line.startswith("one core ")]) == 1
    assert "2 seeds proved equal" in printed


def test_an_instance_that_is_missing_does_not_keep_the_others_from_running(compare, tmp_path, capsys):
    started = []
    named = ["--instance", "uniform:8:seed=1", "nowhere", "uniform:9:seed=1"]
    assert compare(*named, "--ranks", devices=[device("cpu")], started=started) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert error.startswith("error: nowhere: found no such instance")
    assert len(started) == 2
    report = (tmp_path / "compare-ihc.md").read_text()
    assert "uniform:8:seed=1" in report and "uniform:9:seed=1" in report


def test_each_seed_that_generates_an_instance_has_a_section(tmp_path, undrawn):
    arguments = [
        "--items",
        "5",
        "--capacity",
        "50",
        "--seeds",
        "1,4",
        "--repeats",
        "1",
        "--ranks",
        "--out",
        str(tmp_path),
    ]
    with made_up_suite(device("cpu")):
        assert main(["knapsack", *arguments]) == 0
    ran = [(record.instance, record.seed) for record in load(tmp_path / "compare-knapsack.jsonl")]
    assert ran == [("paper:5:50:seed=1", 1), ("paper:5:50:seed=4", 4)]


def test_the_instance_that_nobody_asked_for_has_its_reason(tmp_path, undrawn):
    with made_up_suite(device("cpu")):
        assert main(["ihc", "--ranks", "--repeats", "1", "--out", str(tmp_path)]) == 0
    reason = "Problem: the default for comparisons of this workload."
    assert reason in (tmp_path / "compare-ihc.md").read_text()


INSTANCE = "uniform:20:seed=1"


@pytest.fixture
def weak(tmp_path, monkeypatch, undrawn):
    """Compare with `--weak` on one and all cores; return exit code, and backend, ranks and options of the runs."""
    monkeypatch.setattr("drivers.experiments.configurations.mpi_obstacle", lambda: None)

    def run(*arguments):
        placed, real = [], Case.command

        def command(case):
            placed.append((case.configuration.backend, case.configuration.ranks, real(case)))
            options = workload_options(case.workload, case.arguments)
            return run_of(
                case,
                parameters=options.deciding("work"),
                hash=f"{getattr(options, case.workload.scaled):04x}",
                details={"options": options.asked()},
            )

        fixed = ["--weak", "--repeats", "3", "--oversubscribe", "--out", str(tmp_path)]
        with made_up_suite(device("cpu"), device("threads"), command=command):
            return main([*arguments, *fixed]), placed

    return run


def value(arguments, flag):
    return arguments[len(arguments) - arguments[::-1].index(flag)]


def test_the_work_grows_with_the_ranks_and_is_recorded_as_such(weak, tmp_path):
    arguments = ("ihc", "--instance", INSTANCE, "--climbers", "50", "--ranks")
    code, runs = weak(*arguments, "1", "2")
    assert code == 0
    assert [(backend, ranks, value(own, "--climbers")) for backend, ranks, own in runs] == [
        ("cpu", 1, "50"),
        ("threads", 1, "50"),
        ("cpu", 2, "100"),
    ]
    assert weak(*arguments, "1", "2") == (0, [])
    assert [(ranks, value(own, "--climbers")) for _, ranks, own in weak(*arguments, "2", "4")[1]] == [(4, "200")]
    records = load(tmp_path / "compare-ihc-weak.jsonl")
    assert [(record.ranks, record.parameters["climbers"]) for record in records] == [
        (1, 50),
        (1, 50),
        (2, 100),
        (4, 200),
    ]
    assert (tmp_path / "compare-ihc-weak.md").exists()


def test_what_is_left_open_grows_from_what_one_rank_does(weak):
    for instance, walks in (([], 64), (["--instance", "31-31:seed=1"], 1)):
        _, runs = weak("ppp", *instance, "--ranks", "3")
        assert all(value(own, "--level") == "algorithm" for _, _, own in runs)
        grown = [(ranks, int(value(own, "--walks"))) for _, ranks, own in runs]
        assert grown == [(1, walks), (1, walks), (3, 3 * walks)]
