"""The report of searches over their seeds: its text, its files, and the command that makes it."""

import random
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from pandas import Series

from reports.comparison.algorithms import group_by_instance
from reports.pages import search_statistics
from reports.plots import targets
from reports.records.files import append
from reports.records.schema import Repetition
from reports.statistics.rank_tests import compare_pairs
from reports.statistics.targets import SeedFamily, choose_targets

WORKS = {"tabu": ({"tenure": 27}, 1.0), "ils": ({"strength": 3}, 2.5), "annealing": ({"cooling": 0.98}, 6.0)}
DETAILS = {"optimum": 1000, "instance_source": "Taillard's generator", "device_name": "Test CPU"}


@pytest.fixture(scope="module")
def searches(make_record):
    """Three algorithms on one core, one also on all cores: ten seeds with two repetitions each."""

    def run(algorithm, backend, seed):
        own, slowness = WORKS[algorithm]
        drawn = random.Random(f"{algorithm} {seed}")
        costs = [2000, 1500, 1300 + drawn.randrange(40), 1000 + 5 * drawn.randrange(int(8 * slowness))]
        factor = slowness * (1.0 if backend == "cpu" else 0.6)
        fields = {"workload": "qap", "instance": "tai30a", "evaluation_unit": "neighbours", "hash_scope": "moves"}
        fields |= {"parameters": {"algorithm": algorithm, **own, "iterations": 1000}, "evaluations": 400_000}
        fields |= {"seed": seed, "backend": backend, "best_cost": costs[-1], "hash": f"{seed:04x}"}
        samples = tuple(sample(costs, factor * (1 + 0.1 * number), drawn) for number in range(2))
        return make_record(**fields, details=DETAILS, repetitions=samples)

    places = ("tabu", "cpu"), ("tabu", "threads"), ("ils", "cpu"), ("annealing", "cpu")
    return [run(*place, seed) for place in places for seed in range(10)]


def sample(costs, factor, drawn):
    moments = sorted(drawn.uniform(0.01, 0.9) for _ in costs)
    rows = [
        [number, 100 * 8**number, factor * moment, cost]
        for number, (moment, cost) in enumerate(zip(moments, costs, strict=True))
    ]
    conditions = {"load_1min": 0.1, "cpu_mhz_mean": 3000.0}
    return Repetition(0.0, 0.0, factor, factor, started_at="2026-11-22T10:00:00Z", conditions=conditions, history=rows)


@pytest.fixture(scope="module")
def report(searches, tmp_path_factory):
    return search_statistics.write(group_by_instance(searches), tmp_path_factory.mktemp("statistics"))


def test_the_report_reads_as_it_did_and_has_its_pictures(report, is_golden):
    pictures = [f"statistics-1-{kind}.{form}" for kind in ("targets", "course") for form in ("svg", "png")]
    assert [file.name for file in report] == ["statistics.md", "statistics.tex", *pictures]
    for file in report[:2]:
        is_golden(file.read_text(encoding="utf-8"), file.name)
    assert all(f"]({name})" in report[0].read_text() for name in pictures if name.endswith("svg"))
    drawn = report[2].read_text()
    ElementTree.fromstring(drawn)
    assert all(label in drawn for label in ("tabu, cpu", "tabu, threads", "ils, cpu", "annealing, cpu"))


@pytest.mark.slow
def test_equal_records_give_equal_pages_and_legible_pictures(searches, report, tmp_path, legible):
    again = search_statistics.write(group_by_instance(searches), tmp_path)
    assert [path.read_bytes() for path in report[:2]] == [path.read_bytes() for path in again[:2]]
    assert len(legible) == 2


def test_several_instances_have_sections_and_a_target_may_be_asked_for(searches, make_record, tmp_path, reports):
    other = make_record(workload="qap", instance="b", instance_sha256="cd" * 32, parameters={"algorithm": "tabu"})
    for run in (*searches[20:30], other):
        append(tmp_path / "runs.jsonl", run)
    out = tmp_path / "out"
    out.mkdir()
    (out / "statistics-7-course.svg").touch()
    code, said, _ = reports("statistics", tmp_path / "runs.jsonl", "--target", "1100", "--out", out)
    assert (code, said.splitlines()[0]) == (0, str(out / "statistics.md"))
    text = (out / "statistics.md").read_text()
    assert "\n## tai30a\n" in text and "\n## b\n" in text
    assert "There is no pair of algorithms to compare." in text
    assert "- tabu, cpu: no history was recorded (`--history`), so times to targets are not known." in text
    assert "Target: the cost 1,100, as given by `--target`." in text and "| reached 1,100 [95 % CI] |" in text
    assert [str(path) for path in sorted(out.iterdir())] == sorted(said.splitlines()), "no picture of before is left"


def test_too_few_seeds_are_told():
    few, enough = ((Series(range(n), name="a"), Series(range(9, 9 + n), name="b")) for n in (3, 4))
    assert "is 0.100: no difference can be significant" in search_statistics.too_few(compare_pairs([few]))
    assert search_statistics.too_few(compare_pairs([enough])) == ""
    assert "for 2 tests is 0.0571" in search_statistics.too_few(compare_pairs([enough] * 2))


def test_a_course_has_the_median_and_the_quartiles_of_all_seeds(searches):
    family = SeedFamily.of("row", [run for run in searches if run.parameters["algorithm"] == "ils"])
    at, low, middle, high = targets.cost_bands(family, "evaluations")
    assert (at[0], at[-1]) == (100, 400_000)
    assert (low[0], middle[0], high[0]) == (2000, 2000, 2000)
    costs = [run.best_cost for run in family.runs]
    assert (low[-1], middle[-1], high[-1]) == tuple(np.quantile(costs, [0.25, 0.5, 0.75]))
    # After 1,000 evaluations all runs have made the second step, and none the third.
    assert middle[np.searchsorted(at, 1000)] == 1500


def test_a_course_begins_when_three_quarters_of_the_runs_know_a_cost(make_record):
    histories = [{"history": [[0, 0, seconds, 5]]} for seconds in (1.0, 1.0, 1.0, 1.0, 8.0)]
    runs = [make_record([9.0], history, seed=seed, best_cost=5) for seed, history in enumerate(histories)]
    family = SeedFamily.of("row", runs)
    at, _, middle, _ = targets.cost_bands(family, "seconds")
    assert at[0] == 1.0 and set(middle) == {5}


def test_at_most_eight_curves_are_drawn_and_the_slowest_are_left_out(searches):
    tabu = [run for run in searches if run.parameters["algorithm"] == "tabu" and run.backend == "cpu"]
    families = []
    for number in range(10):
        runs = [
            run.with_repetitions(tuple(slowed(timed, 10 - number) for timed in run.repetitions), verified=True)
            for run in tabu
        ]
        families.append(SeedFamily.of(f"row {number}", runs))
    shown, said = targets.shown_families(families, choose_targets(tabu))
    assert [family.label for family in shown] == [f"row {number}" for number in range(2, 10)]
    assert said.startswith("Of 10 rows the pictures show the 8 with the least expected time")
    assert said.endswith("2 are left out")
    assert targets.shown_families(families[:8], choose_targets(tabu)) == (families[:8], "")


def slowed(run, factor):
    rows = [[row[0], row[1], factor * row[2], row[3]] for row in run.history]
    return Repetition(0.0, 0.0, factor * run.total_s, factor * run.total_s, history=rows)


def test_a_distribution_ends_where_nothing_more_is_known(make_record, tmp_path):
    def run(seed, cost):
        return make_record([4.0], {"history": [[0, 0, 1.0, 9], [1, 5, 2.0, cost]]}, seed=seed, best_cost=cost)

    family = SeedFamily.of("row", [run(0, 5), run(1, 8)])
    svg, _ = targets.draw_distributions([family], choose_targets(family.runs), tmp_path, "x", "title", "")
    curve = re.findall(r'<path d="([^"]*)" clip-path="[^"]*" style="fill: none; stroke: #0072b2', svg.read_text())[0]
    ends = [float(x) for x in re.findall(r"[ML] ([\d.]+) ", curve)]
    # Half of the runs never reached the target: the axis ends 5 % after them, and the curve does not.
    assert ends[0] + (ends[-1] - ends[0]) * 2 / 4 == pytest.approx(ends[1], abs=0.1)


def test_without_a_success_or_a_history_nothing_is_drawn(make_record, tmp_path):
    family = SeedFamily.of("row", [make_record()])
    for draw in (targets.draw_distributions, targets.draw_courses):
        assert draw([family], choose_targets(family.runs), tmp_path, "x", "title", "moves") == []
    assert list(tmp_path.iterdir()) == []
