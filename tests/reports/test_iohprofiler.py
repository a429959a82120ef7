"""Runs in IOHprofiler's format, read back as its readers do."""

import json

import pytest

from core.errors import UserError
from reports.records import iohprofiler
from reports.records.files import append
from reports.records.schema import Repetition

HISTORY = [[0, 0, 0.0, 30000], [1, 4850, 0.5, 25000], [2, 9700, 1.0, 22000]]


@pytest.fixture
def run(make_record):
    def make(seed=0, history=HISTORY, repetitions=1, **changes):
        rows = None if history is None else [[*row[:3], row[3] + seed] for row in history]
        samples = (Repetition(0.0, 0.0, 1.0, 1.0, history=rows),) * repetitions
        fields = {"evaluations": 9700, "best_cost": 22000 + seed, "seed": seed, "details": {"cities": 100}}
        return make_record(repetitions=samples, **(fields | changes))

    return make


def read(folder):
    """Algorithm, function, dimension and the runs' courses, split where iohinspector does: at evaluation 1."""
    by_key = {}
    for path in sorted(folder.glob("**/*.json")):
        content = json.loads(path.read_text())
        assert {"version", "suite", "function_id", "maximization", "attributes"} <= set(content)
        for scenario in content["scenarios"]:
            lines = (path.parent / scenario["path"]).read_text().splitlines()
            assert lines[0] == " ".join(content["attributes"]) == "evaluations raw_y"
            courses = []
            for evaluations, cost in (line.split(" ") for line in lines if line != lines[0]):
                if evaluations == "1":
                    courses.append([])
                courses[-1].append((int(evaluations), float(cost)))
            assert lines.count(lines[0]) == len(courses)
            for described, course in zip(scenario["runs"], courses, strict=True):
                assert described["evals"] == course[-1][0] and set(described["best"]) == {"evals", "y", "x"}
                assert (described["best"]["evals"], described["best"]["y"]) in course
            key = content["algorithm"]["name"], content["function_name"], scenario["dimension"]
            by_key[key] = courses
    return by_key


def test_a_history_is_the_best_cost_over_evaluations(tmp_path, run):
    files, notes = iohprofiler.write([run()], tmp_path)
    assert [file.relative_to(tmp_path).as_posix() for file in files] == ["ihc/IOHprofiler_f1_kroA100.json"]
    assert (tmp_path / "ihc/data_f1_kroA100/IOHprofiler_f1_DIM100.dat").exists()
    assert read(tmp_path) == {("ihc", "ihc kroA100", 100): [[(1, 30000), (4850, 25000), (9700, 22000)]]}
    assert notes == []


def test_seeds_are_the_runs_of_an_algorithm_and_repetitions_are_not(tmp_path, run):
    iohprofiler.write([run(seed=0, repetitions=3), run(seed=1), run(seed=0)], tmp_path)
    (courses,) = read(tmp_path).values()
    assert [course[-1] for course in courses] == [(9700, 22000), (9700, 22001)]
    described = json.loads((tmp_path / "ihc/IOHprofiler_f1_kroA100.json").read_text())
    assert [one["seed"] for one in described["scenarios"][0]["runs"]] == [0, 1]


def test_what_sets_algorithms_apart_names_them_and_instances_are_functions(tmp_path, run):
    runs = [run(), run(parameters={"climbers": 7}), run(instance="a/b", instance_sha256="cd" * 32)]
    iohprofiler.write(runs, tmp_path)
    assert sorted(read(tmp_path)) == [
        ("ihc climbers=100", "ihc a/b", 100),
        ("ihc climbers=100", "ihc kroA100", 100),
        ("ihc climbers=7", "ihc kroA100", 100),
    ]
    assert sorted(path.name for path in tmp_path.glob("*")) == ["ihc_climbers=100", "ihc_climbers=7"]
    assert (tmp_path / "ihc_climbers=100/IOHprofiler_f2_a_b.json").exists()


def test_algorithms_whose_names_no_file_system_tells_apart_have_folders_of_their_own(tmp_path, run):
    iohprofiler.write([run(parameters={"start": name}) for name in ("a b", "a_b", "a/b")], tmp_path)
    assert len(list(tmp_path.glob("*/*.json"))) == len(read(tmp_path)) == 3


def test_without_a_history_the_start_and_the_end_are_written_and_said(tmp_path, run):
    _, notes = iohprofiler.write([run(history=None, details={"start_cost": 40000})], tmp_path)
    assert list(read(tmp_path).values()) == [[[(1, 40000), (9700, 22000)]]]
    (note,) = notes
    assert note.startswith("ihc on kroA100, seed 0, cpu (device 0): no history was recorded; its start and its end")


def test_a_run_of_which_nothing_is_known_is_left_out_and_said(tmp_path, run):
    _, notes = iohprofiler.write([run(), run(seed=1, history=None)], tmp_path)
    assert len(read(tmp_path)["ihc", "ihc kroA100", 100]) == 1
    assert notes[0].startswith("ihc on kroA100, seed 1,")
    assert notes[0].endswith("left out, since its start is not known either")
    with pytest.raises(UserError, match=r"^ihc on kroA100, seed 1, .* left out"):
        iohprofiler.write([run(seed=1, history=None)], tmp_path / "none")
    with pytest.raises(UserError, match="none of 2 runs has a history or a known start"):
        iohprofiler.write([run(seed=1, history=None), run(seed=2, history=None)], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_history_that_begins_late_or_ends_early_is_completed(tmp_path, run):
    iohprofiler.write([run(history=[[1, 500, 0.1, 29000], [2, 500, 0.2, 28000]])], tmp_path)
    assert list(read(tmp_path).values()) == [[[(1, 29000), (500, 28000), (9700, 22000)]]]


def test_values_are_maximised(tmp_path, run):
    history = [[0, 0, 0.0, 5], [1, 10, 0.1, 9]]
    largest = {"details": {"maximises": True}, "best_cost": 9}
    iohprofiler.write([run(history=history, evaluations=10, **largest)], tmp_path)
    described = json.loads(next(tmp_path.glob("*/*.json")).read_text())
    assert described["maximization"] is True
    assert described["scenarios"][0]["runs"][0]["best"]["y"] == 9


def test_files_are_named_on_standard_output_and_missing_histories_on_standard_error(tmp_path, run, reports):
    append(tmp_path / "a.jsonl", run())
    append(tmp_path / "a.jsonl", run(seed=1, history=None))
    code, said, message = reports("ioh", tmp_path / "a.jsonl", "--out", tmp_path / "out")
    assert (code, said) == (0, f"{tmp_path}/out/ihc/IOHprofiler_f1_kroA100.json\n")
    assert message.startswith("note: ihc on kroA100, seed 1,") and message.count("\n") == 1


def test_runs_of_unequal_results_are_refused(tmp_path, run):
    with pytest.raises(UserError, match="unequal work cannot be compared: best_cost is 22000"):
        iohprofiler.write([run(), run(best_cost=1)], tmp_path)
