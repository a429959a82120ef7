"""Ways to do a work decide its speed alone: they set runs apart, and never keep equal hashes from being compared."""

import pytest

from reports import markdown
from reports.comparison import Likeness, compare
from reports.records import UnequalWorkError, append, completed, merge, require_equal_work
from reports.table import print_table

FULL, PRUNED = {"scan": "full"}, {"scan": "pruned"}


def test_a_pruned_and_a_full_scan_of_equal_hashes_are_compared_though_one_evaluates_fewer_moves(make_record):
    full = make_record(ways=FULL, times=[4.0])
    pruned = make_record(ways=PRUNED, evaluations=5, times=[1.0], backend="cuda")
    rows = compare([full, pruned]).rows
    assert rows[1].speedup.value == 4.0
    assert rows[1].labels == ("its baseline ran with scan = full",)


def test_runs_of_equal_ways_must_have_evaluated_as_often(make_record):
    others = [make_record(ways=PRUNED, evaluations=count, backend=name) for count, name in ((5, "cuda"), (6, "opencl"))]
    require_equal_work([make_record(ways=FULL), others[0]])
    with pytest.raises(UnequalWorkError, match=r"evaluations is 5 in cuda .* but 6 in opencl"):
        require_equal_work([make_record(ways=FULL), *others])


@pytest.mark.parametrize("change", [{"trajectory_hash": "ffff"}, {"hash_covers": "answer"}, {"best_cost": 1}])
def test_other_ways_do_not_excuse_another_result(make_record, change):
    with pytest.raises(UnequalWorkError, match=next(iter(change))):
        compare([make_record(ways=FULL), make_record(ways=PRUNED, **change)])


def test_a_run_in_another_way_is_a_run_of_its_own(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    full, pruned = make_record(ways=FULL), make_record(ways=PRUNED, evaluations=5)
    for record in (full, pruned, full):
        append(path, record)
    assert [len(completed(path, record.identity).samples) for record in (full, pruned)] == [2, 1]
    assert len(merge([full, pruned, full])) == 2


def test_the_baseline_is_the_most_alike_and_of_equally_alike_ones_the_fastest(make_record):
    def baseline_of(*one_core, likeness=None):
        row = make_record(backend="cuda", ways={"scan": "full", "order": 1}, times=[1.0])
        cores = [
            make_record(ways={"scan": scan, "order": order}, times=[time], device=str(k))
            for k, (scan, order, time) in enumerate(one_core)
        ]
        return compare([*cores, row], likeness=likeness).rows[-1].baseline_s

    assert baseline_of(("pruned", 1, 2.0), ("full", 1, 4.0)) == 4.0
    assert baseline_of(("pruned", 1, 3.0), ("full", 2, 2.0)) == 2.0
    assert baseline_of(("pruned", 1, 3.0), ("full", 2, 2.0), likeness=Likeness(first=("order",))) == 3.0
    assert baseline_of(("full", 1, 4.0), ("pruned", 1, 2.0), likeness=Likeness(plain={"scan": "pruned"})) == 2.0


def test_a_one_core_run_that_makes_an_experiment_is_measured_by_the_plain_one(make_record):
    plain, slow = make_record(ways=FULL, times=[2.0]), make_record(ways={"scan": "host"}, times=[8.0])
    rows = compare([slow, plain], likeness=Likeness(plain=FULL)).rows
    assert [(row.speedup.value, row.baseline_s) for row in rows] == [(0.25, 2.0), (1.0, 2.0)]


def test_reports_show_the_ways_and_what_each_evaluated(make_record, capsys):
    details = {"evaluations_per_step": "those that it looks at"}
    comparison = compare([make_record(ways=FULL), make_record(ways=PRUNED, evaluations=5, details=details)])
    text = markdown.render(comparison)
    assert "| 1 | scan = full | 1 |" in text and "| 1 | scan = pruned | 1 |" in text
    assert "- Evaluations (scan = full): 2,000,000,000 per repetition." in text
    assert "- Evaluations (scan = pruned): 5 per repetition. Counted: those that it looks at." in text
    print_table(comparison)
    printed = capsys.readouterr().out
    assert "scan = pruned" in printed and "ways of all" not in printed
    assert "equal work: hash 0123456789abcdef of all climbs, best 21282 by index 17" in printed


def test_reports_say_once_what_all_rows_share(make_record, capsys):
    ways = {"level": "iteration", "threads": "fixed"}
    comparison = compare([make_record(ways=ways), make_record(ways=ways | {"threads": "tuned"}, backend="cuda")])
    text = markdown.render(comparison)
    assert "- Ways, which decide the speed alone, in every row: level = iteration.\n" in text
    assert "| 1 | threads = tuned | 1 |" in text
    assert "- Evaluations: 2,000,000,000 per repetition." in text
    print_table(comparison)
    assert "ways of all: level = iteration\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("covers", "said"),
    [("moves", "all moves"), ("climbs", "all climbs"), ("tours", "all tours"), ("answer", "the answer")],
)
def test_a_report_says_what_equal_hashes_prove(make_record, covers, said):
    text = markdown.render(compare([make_record(hash_covers=covers)]))
    proven = "Equal answers" if covers == "answer" else "Equal work"
    assert f"- **{proven}**: all 1 rows have the hash `0123456789abcdef` of {said}; best cost" in text
    assert text.startswith(f"# ihc on kroA100: the same {'answer' if covers == 'answer' else 'work'} on every device\n")
