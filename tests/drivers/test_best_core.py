"""The best one-core algorithm of a problem: one more run of a comparison, beside it and in no ratio."""

from pathlib import Path

import pytest

from drivers.compare import main
from drivers.experiments.best_core import best_core_case, instance_words
from drivers.experiments.plan import plan_work
from drivers.experiments.presets.compare import with_defaults
from drivers.workload.registry import all_workloads, get_workload
from reports.rates import BEST_CORE
from reports.records.files import load, merge
from tests.drivers.made_up_runs import device, made_up_suite

CASES = {
    "ihc": ("--instance uniform:9:seed=1 --climbers 5 --scan full", "tsp --algorithm 3opt --walks 1 --target 40"),
    "aco": ("--instance uniform:9:seed=1 --ants 4 --iterations 2", "tsp --algorithm 3opt --walks 1 --target 40"),
    "tsp": ("--instance uniform:9:seed=1 --algorithm tabu", "tsp --algorithm 3opt --walks 1 --target 40"),
    "exact": ("--instance uniform:9:seed=1 --bound edges --count", "exact --bound one-tree"),
    "heldkarp": ("--instance uniform:9:seed=1 --mapping published", "exact --bound one-tree"),
    "knapsack": ("--items 20 --capacity 500 --mapping published", "knapsack --method core"),
    "lcs": ("--instance random:50 --mapping published", "lcs --mapping native"),
}


def planned(workload, arguments, **more):
    words = with_defaults(get_workload(workload), arguments)
    return plan_work(get_workload(workload), words, [0], 1, Path("r.jsonl"), peers=False, **more)[0]


@pytest.mark.parametrize("workload", CASES)
def test_it_has_the_instance_of_the_comparison_and_its_own_algorithm(workload):
    given, expected = (words.split() for words in CASES[workload])
    case = planned(workload, given)
    best = best_core_case(case, 40)
    program, *own = expected
    name = best.task.options.best_core_of[1]
    assert best.workload is get_workload(program)
    assert best.task.problem.sha256 == case.task.problem.sha256
    assert [*best.arguments] == [*instance_words(case), *own, "--best-core-of", workload, name]
    assert best.measure == 0.6 and best.configuration == case.configuration


@pytest.mark.parametrize(
    ("workload", "arguments"),
    [
        ("qap", "--instance tai12a"),
        ("exact", "--instance uniform:9:seed=1 --bound one-tree"),
        ("tsp", "--instance uniform:9:seed=1 --algorithm 3opt --walks 1 --target 40"),
        ("knapsack", "--items 20 --capacity 500 --method core"),
    ],
)
def test_there_is_none_without_a_better_algorithm_for_the_problem(workload, arguments):
    assert best_core_case(planned(workload, arguments.split()), 40) is None


def test_every_declared_algorithm_has_a_name_a_program_and_options_of_it():
    declared = [workload for workload in all_workloads() if workload.best_core]
    assert {one.name for one in declared} == {*CASES}
    for name, program, *words in (one.best_core for one in declared):
        assert name and {word.split("=")[0] for word in words if word.startswith("--")} <= {
            f"--{option}" for option in get_workload(program).options.declared_by_name()
        }


@pytest.fixture
def climbs(tmp_path, undrawn):
    def compare(*arguments, backends=("cpu", "threads")):
        started = []
        fixed = [
            "ihc",
            "--instance",
            "uniform:9:seed=1",
            "--climbers",
            "5",
            "--busy",
            "--ranks",
            "--out",
            str(tmp_path),
        ]
        with made_up_suite(*map(device, backends), started=started, best_core=True):
            code = main([*fixed, *arguments])
        return code, [one.workload.name for one in started]

    return compare


def test_a_comparison_runs_it_once_and_prints_its_time_without_a_ratio(climbs, tmp_path, capsys):
    assert climbs() == (0, ["ihc", "ihc", "ihc", "tsp"])
    sentence = "Best one-core algorithm: iterated 3-opt reaches 7 in 2.0 s."
    assert sentence in capsys.readouterr().out
    page = (tmp_path / "compare-ihc.md").read_text()
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| ")]
    assert sentence in page and rows == ["| run", "| one core", "| threads"]
    best = [record for record in merge(load(tmp_path / "compare-ihc.jsonl")) if BEST_CORE in record.details]
    assert [(one.workload, one.details["options"]["target"]) for one in best] == [("tsp", 7)]
    assert climbs() == (0, [])


@pytest.mark.parametrize(
    ("arguments", "backends"), [(["--weak", "--ranks", "2", "--oversubscribe"], ("cpu",)), ([], ("threads",))]
)
def test_weak_scaling_and_comparisons_without_one_core_run_none(climbs, arguments, backends):
    assert "tsp" not in climbs(*arguments, backends=backends)[1]
