"""What O'Connell and Mumford 2014 state in numbers against their text, and our runs beside it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from reports import markdown
from reports.literature import FOLDER, publication
from reports.paper_tables import tables_report
from reports.records import RecordError, UnequalWorkError, append

ROOT = Path(__file__).parents[2]
TEXT = "002_1c141bdda1f149ba.txt"
PROBLEMS = ("lcs", "knapsack", "heldkarp")


@pytest.fixture(scope="module")
def published():
    return tomllib.loads((FOLDER / "oconnell2014.toml").read_text())


@pytest.fixture(scope="module")
def paper(shared_data):
    """The text in one line, its hyphenated words joined."""
    path = shared_data.parent / "papers" / TEXT
    if not path.exists():
        pytest.skip(f"the paper's text is not beside the checkout: {path}")
    return " ".join(re.sub(r"-\s*\n", "", path.read_text()).split())


@pytest.fixture
def make_run(make_record):
    """A record of a driver of dynamic programming; keywords replace fields, those of `parameters` the parameters."""

    def make(workload="lcs", instance="random:1000", best_cost=650, times=(0.5, 0.5, 0.5), **changes):
        ways = {"tiling": "auto", "device_memory": None, "spill": None}
        ways |= {name: changes.pop(name) for name in list(changes) if name in ways}
        parameters = {"trace": changes.pop("trace", True)}
        parameters |= {name: changes.pop(name) for name in list(changes) if name == "k"}
        details = {"cells": 1_000_000, "method": "bits", "streamed_bytes": 3 << 20} | changes.pop("details", {})
        fields = {
            "workload": workload,
            "instance": instance,
            "instance_sha256": f"{sum(map(ord, instance)):064x}",
            "parameters": parameters,
            "ways": ways,
            "hash_covers": "answer",
            "best_cost": best_cost,
            "best_index": 0,
            "evaluations": 1_000_000,
            "trajectory_hash": "aaaa" if parameters["trace"] else "bbbb",
            "details": details,
        }
        return make_record(times=times, **(fields | changes))

    return make


def problem_of(report, workload):
    return next(problem for problem in report.problems if problem.published["workload"] == workload)


def markdown_tables(text):
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    tables = [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]
    return [[[cell.strip() for cell in row] for row in table] for table in tables]


# --- the data against the paper ---


def test_every_quote_is_a_piece_of_the_text(published, paper):
    quotes = [
        *published["machine"]["quotes"],
        *(quote for table in published["tables"] for quote in table["quotes"]),
        *(bound["quote"] for bound in published["profile"]["bounds"]),
        *(row["quote"] for row in published["disagreements"]),
    ]
    assert len(quotes) > 20
    assert [quote for quote in quotes if quote not in paper] == []


def test_the_bounds_are_the_numbers_of_their_quotes(published):
    for bound in published["profile"]["bounds"]:
        quoted = [float(part) * (0.01 if per_cent else 1) for part, per_cent in numbers(bound["quote"])]
        said = [float(part) * (0.01 if per_cent else 1) for part, per_cent in numbers(bound["says"])]
        assert quoted == said == [bound["least"]]


def numbers(text):
    return [(value, bool(unit)) for value, unit in re.findall(r"(\d+(?:\.\d+)?)( ?%)?", text)]


def test_the_machine_is_that_of_its_quotes(published):
    machine = published["machine"]
    said = " ".join(machine["quotes"])
    for value in ("gpu", "cpu", "compilers"):
        assert machine[value] in said
    for value in (
        machine["cores"],
        f"{machine['clock_mhz']}Mhz",
        f"{machine['memory_gb']}GB",
        f"{machine['cpu_ghz']}GHz",
    ):
        assert str(value) in said
    assert f"{machine['cpu_memory_gb']}GB of system memory" in said


def test_the_instances_are_those_of_the_text_and_of_the_suites_catalogue(published):
    rows = published["instances"]["rows"]
    assert ", ".join(row["instance"] for row in rows) in published["tables"][2]["quotes"]
    catalogue = [line.split("\t") for line in (ROOT / "core" / "problems" / "tsplib.tsv").read_text().splitlines()]
    cities = {name: int(columns[1]) for name, *columns in catalogue if len(columns) > 1 and columns[1].isdigit()}
    assert {row["instance"]: row["cities"] for row in rows}.items() <= cities.items()


def test_no_machine_holds_what_the_paper_says_it_computed(published, make_run):
    report = tables_report([make_run()])
    for one in report.too_large:
        stored = (one.cities - 1) * 2 ** (one.cities - 2) * 2
        assert 10**one.power_of_ten <= stored < 10 ** (one.power_of_ten + 1)
    assert report.too_large[0].power_of_ten > 80


def test_all_three_workloads_find_the_publication():
    assert [publication(workload, "tables")["name"] for workload in PROBLEMS] == ["oconnell2014"] * 3
    assert publication("lcs", "timing") is None


# --- our runs ---


def test_every_problem_has_a_table_and_a_line_says_what_was_measured(make_run):
    report = tables_report([make_run(times=[0.5] * 3), make_run("knapsack", "small", times=[0.25] * 3)])
    assert [problem.published["workload"] for problem in report.problems] == list(PROBLEMS)
    assert [len(problem.lines) for problem in report.problems] == [1, 1, 0]
    (line,) = problem_of(report, "lcs").lines
    assert (line.cells, line.method, line.streamed_bytes) == (1_000_000, "bits", 3 << 20)
    assert line.rate == pytest.approx(1_000_000 / 0.5 / 1e9)
    assert line.run.speedup.value == 1.0


def test_a_speedup_is_over_one_core_whatever_the_tiling(make_run):
    report = tables_report(
        [
            make_run(times=[4.0] * 3),
            make_run(backend="cuda", times=[0.5] * 3, tiling="none", details={"method": "waves"}),
        ]
    )
    lines = {line.run.record.backend: line for line in problem_of(report, "lcs").lines}
    assert lines["cuda"].run.speedup.value == 8.0 and lines["cuda"].run.baseline_s == 4.0
    assert lines["cuda"].run.labels == ("its baseline ran with tiling = auto",)
    assert lines["cuda"].parameters == "tiling = none"


def test_the_trace_is_measured_against_the_same_run_without(make_run):
    report = tables_report(
        [
            make_run(times=[6.0] * 3, device_memory=4096),
            make_run(times=[4.0] * 3, trace=False, details={"streamed_bytes": 0}),
            make_run(times=[1.0] * 3, trace=False, backend="threads"),
            make_run(times=[2.0] * 3, trace=False, tiling="none", ranks=2),
        ]
    )
    ratios = {
        (line.run.record.backend, line.run.record.ranks, line.run.record.parameters["trace"]): line.traced
        for line in problem_of(report, "lcs").lines
    }
    assert ratios.pop(("cpu", 1, True)).value == 1.5
    assert list(ratios.values()) == [None] * 3


def test_a_traced_run_alone_has_no_ratio(make_run):
    report = tables_report([make_run(), make_run(trace=False, tiling="none")])
    assert all(line.traced is None for line in problem_of(report, "lcs").lines)


def test_runs_that_found_different_results_are_refused(make_run):
    with pytest.raises(UnequalWorkError, match="best_cost is 650 in cpu .* but 651 in threads"):
        tables_report([make_run(), make_run(best_cost=651, backend="threads", tiling="none")])


def test_a_trace_in_linear_space_may_find_another_subsequence(make_run):
    linear = make_run(backend="threads", trajectory_hash="cccc", details={"method": "linear space"})
    report = tables_report([make_run(), linear, make_run(trace=False, times=[0.25] * 3, backend="threads")])
    kept, other, _ = problem_of(report, "lcs").lines
    assert (kept.method, other.method, other.run.baseline_s) == ("bits", "linear space", None)
    assert other.traced.value == 2.0
    with pytest.raises(UnequalWorkError, match="trajectory_hash is 'aaaa' in cpu .* but 'cccc' in threads"):
        tables_report([make_run(), make_run(backend="threads", trajectory_hash="cccc")])


def test_runs_that_take_other_numbers_of_cells_to_the_same_result_are_compared(make_run):
    """Without a number of cells in the details, as Held-Karp's transitions, it is that of the evaluations."""
    runs = [
        make_run("heldkarp", tiling=tiling, evaluations=cells, backend=backend, times=[seconds] * 3)
        for tiling, cells, backend, seconds in (("auto", 100, "threads", 1.0), ("none", 220, "cpu", 4.0))
    ]
    for run in runs:
        del run.details["cells"]
    lines = problem_of(tables_report(runs), "heldkarp").lines
    assert [(line.cells, line.run.speedup.value) for line in lines] == [(100, 4.0), (220, 1.0)]


def test_a_run_without_a_table_has_no_rate(make_run):
    (line,) = problem_of(tables_report([make_run("knapsack", details={"cells": 0, "method": "bb"})]), "knapsack").lines
    assert (line.cells, line.rate, line.method) == (0, None, "bb")


def test_a_record_that_does_not_say_whether_it_traced_is_refused_by_its_place(make_record):
    with pytest.raises(RecordError, match=r"a\.jsonl:3: expected the parameter trace, true or false, found None"):
        tables_report([make_record(workload="knapsack", origin="a.jsonl:3")])


def test_a_profile_that_is_no_list_of_kernels_is_refused_by_its_place(make_run):
    with pytest.raises(RecordError, match=r"a\.jsonl:3: expected a list of kernels in details\.profile"):
        tables_report([make_run(details={"profile": {"kernels": 7}}, origin="a.jsonl:3")])


# --- the report ---


def test_the_report_has_our_runs_the_papers_bounds_and_what_the_profiler_counted(make_run):
    profile = {
        "arguments": "python -m drivers.lcs half:3000:seed=1",
        "kernels": [
            {
                "kernel": "tiles",
                "launches": 1200,
                "load_efficiency": [0.5, 0.875, 1.0],
                "warp_efficiency": [1.0, 1.0, 1.0],
                "ipc": [0.25, 1.5, 2.0],
            },
            {"kernel": "a|b", "launches": 1, "load_efficiency": None, "warp_efficiency": [0.5] * 3, "ipc": [0.1] * 3},
        ],
    }
    kept_nothing = {"streamed_bytes": None}
    runs = [
        make_run(times=[6.0] * 6),
        make_run(times=[4.0] * 6, trace=False, details={"streamed_bytes": 0}),
        make_run(backend="cuda", times=[0.5] * 6, details={"device_name": "a | b", "profile": profile}),
        make_run("heldkarp", "gr17", 2085, details={"method": None, "proved": True, "optimum": 2085, **kept_nothing}),
        make_run(
            "heldkarp", "a280", 2600, k=8, details={"method": None, "proved": False, "optimum": 2579, **kept_nothing}
        ),
        make_run("heldkarp", "gr21", 2707, scored=False),
    ]
    text = markdown.render_tables(tables_report(runs))
    ours, tours, profiled, too_large, unconfirmed, disagreements = markdown_tables(text)
    for table in (ours, tours, profiled, too_large, unconfirmed, disagreements):
        assert len({len(row) for row in table}) == 1, table
    assert ours[2][:5] == ["random:1000", "1,000,000", "650", "bits", "cpu"]
    assert ours[2][7:] == [
        "6",
        "6.00 s [6.00 s, 6.00 s]",
        "0.0002",
        "3.00 MiB",
        "1.50x [1.50, 1.50]",
        "1.00x over 6.00 s",
        "",
    ]
    assert {row[10] for row in ours[2:]} == {"3.00 MiB", "0 B"}
    assert [(row[0], row[2], row[3], row[10]) for row in tours[2:]] == [
        ("a280", "2600 (0.81 % above)", "restricted, optimal over its neighbourhood", ""),
        ("gr17", "2085 (the optimum)", "exact", ""),
    ]
    assert "## 0-1 knapsack (equation 4)" in text and "Not run here." in text
    assert profiled[2] == [
        *("longest common subsequence", "the paper's, strings of 3,000 characters", "", ""),
        *("average above 75 %, least at least 60 %", "average nearly 80 % or more, least 100 % in all runs"),
        "average at least 0.5",
    ]
    assert profiled[3][1:] == [
        *("cuda (a \\| b), python -m drivers.lcs half:3000:seed=1", "`tiles`", "1,200"),
        *("50.0 / 87.5 / 100.0 %", "100.0 / 100.0 / 100.0 %", "0.25 / 1.50 / 2.00"),
    ]
    assert profiled[4][2:5] == ["`a\\|b`", "1", "no launch has it"]
    assert [row[0] for row in profiled[5:]] == ["0-1 knapsack", "travelling salesman"]
    assert profiled[5][5] == "average nearly 80 % or more"
    assert too_large[2] == ["a280", "280", "10^86"]
    assert unconfirmed[2][0] == "gr21"
    assert disagreements[2][0] == "II.C, equation 2"


def test_a_report_without_a_profile_says_so(make_run):
    assert "No run of ours was made with `--profile`." in markdown.render_tables(tables_report([make_run()]))


def test_the_report_is_made_from_a_shell(tmp_path, make_run):
    append(tmp_path / "a.jsonl", make_run())
    append(tmp_path / "a.jsonl", make_run("knapsack", "small"))
    command = [sys.executable, "-m", "reports", "tables", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "out" / "oconnell2014.md")]
    assert "| small | 1,000,000 |" in (tmp_path / "out" / "oconnell2014.md").read_text()
