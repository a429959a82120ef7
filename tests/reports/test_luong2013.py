"""The tables of Luong et al. 2013: the figures against the paper's text and against each other, and ours on their lines."""

import hashlib
import itertools
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from reports import markdown
from reports.comparison import compare
from reports.literature import FOLDER, publication
from reports.paper_tables import tables_report
from reports.records import RecordError, Sample, UnequalWorkError, append

ROOT = Path(__file__).parents[2]
TEXT = "004_fbc700ce5a4d984c.txt"
PAIR = r"\d+(?:\.\d+)?×\d+(?:\.\d+)?"
SIDE_BY_SIDE = (2, 3, 4, 6, 7, 10, 11)


@pytest.fixture(scope="module")
def published():
    """The figures with their digits as printed."""
    return tomllib.loads((FOLDER / "luong2013.toml").read_text(), parse_float=Decimal)


@pytest.fixture(scope="module")
def paper(shared_data):
    path = shared_data.parent / "papers" / TEXT
    if not path.exists():
        pytest.skip(f"the paper's text is not beside the checkout: {path}")
    return path.read_text()


def table(published, number, neighbourhood=None):
    found = [t for t in published["tables"] if t["number"] == number and neighbourhood in (None, t["neighbourhood"])]
    assert len(found) == 1
    return found[0]


def column(table, machine, version):
    place = [(c["machine"], c["version"]) for c in table["columns"]].index((machine, version))
    return {row["instance"]: row["figures"][place] for row in table["rows"]}


# --- the data against the paper ---


def test_tables_2_to_11_are_whole(published):
    assert [t["number"] for t in published["tables"]] == [2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 11]
    for one in published["tables"]:
        assert {len(row["figures"]) for row in one["rows"]} == {len(one["columns"])}
        assert {c["machine"] for c in one["columns"]} <= set(published["machines"])
        assert one["section"].startswith("6.")


def test_every_figure_is_one_of_the_papers_text(published, paper):
    tables = paper[paper.index("TABLE 2\n") :]
    printed = re.findall(rf"(?m)^{PAIR}$", tables)
    ours = [
        "×".join(map(str, figure))
        for one in published["tables"]
        for row in one["rows"]
        for figure in row["figures"]
        if len(figure) == 2
    ]
    # Table 8 prints its figures in lines of their own too; nothing else in the text has this form.
    assert sorted(ours) == sorted(printed)


@pytest.mark.parametrize("number", SIDE_BY_SIDE)
def test_figures_stand_in_the_order_of_the_text(published, paper, number):
    after = paper[paper.index(f"TABLE {number}\n") :]
    one = table(published, number)
    # The text has the machines one after the other, and of each the lines with its two columns side by side.
    order = [
        "×".join(map(str, figure))
        for left in range(0, len(one["columns"]), 2)
        for row in one["rows"]
        for figure in row["figures"][left : left + 2]
        if figure
    ]
    assert re.findall(rf"(?m)^{PAIR}$", after)[: len(order)] == order


def test_figures_are_those_that_the_sections_quote(published):
    qap = column(table(published, 2), "e5620", "GPUTex")
    assert qap["tai100a"] == [Decimal("2.6"), Decimal("18.6")]  # "from x15.7 to x18.6"
    assert [column(table(published, 2), m, "GPUTex")["tai30a"][1] for m in ("t5800", "q6600", "e5450", "e5620")] == [
        *map(Decimal, ("1.8", "1.9", "2.0", "2.8"))  # "respectively x1.8, x1.9, x2.0 and x2.8"
    ]
    flips = table(published, 4)
    assert column(flips, "t5800", "GPUTex")["73-73"][1] == Decimal("3.6")  # "from x3.6 to x12.3"
    assert column(flips, "e5620", "GPUTex")["73-73"][1] == Decimal("12.3")
    assert column(flips, "e5620", "GPUTex")["1301-1317"][1] == Decimal("73.3")  # "from x11.7 to x73.3"
    weierstrass = [f[1] for row in table(published, 5)["rows"] for f in row["figures"] if len(f) == 2]
    assert (min(weierstrass), max(weierstrass)) == (Decimal("39.2"), Decimal("243.0"))  # "from x39.2 to x243"
    controlled = [f[1] for row in table(published, 7)["rows"] for f in row["figures"][1::2]]
    assert (min(controlled), max(controlled)) == (Decimal("1.3"), Decimal("19.9"))  # "between x1.3 and x19.9"
    reduced = table(published, 9, "flip2")
    assert column(reduced, "e5450", "GPUTexR")["73-73"][1] == Decimal("15.1")  # "x15.1 ... and x12.6"
    assert column(reduced, "e5450", "GPUTex")["73-73"][1] == Decimal("12.6")
    assert column(reduced, "e5450", "GPUTexR")["1301-1317"][1] == Decimal("53.7")  # "x53.7 against x49.5"
    cluster = [f[1] for row in table(published, 10)["rows"] for f in row["figures"][1::2]]
    assert (min(cluster), max(cluster)) == (Decimal("0.4"), Decimal("21.2"))  # "from x0.4 to x21.2"
    grid = [f[1] for row in table(published, 11)["rows"] for f in row["figures"][1::2]]
    assert (min(grid), max(grid)) == (Decimal("0.3"), Decimal("16.1"))  # "from x0.3 to x16.1"


def test_the_percentages_of_table_8_are_whole(published):
    for row in table(published, 8)["rows"]:
        for shares in row["percentages"]:
            assert not shares or abs(sum(shares) - 100) <= Decimal("0.2")


def test_the_same_columns_of_two_tables_are_equal(published):
    flips = table(published, 4)
    for number in (10, 11):
        for machine in published["machines"]:
            assert column(table(published, number), machine, "GPUTex") == column(flips, machine, "GPUTex")
    evaluated = column(table(published, 8), "e5450", "GPUTex, generation and evaluation on GPU")
    assert evaluated == column(flips, "e5450", "GPUTex")
    swaps, controlled = column(table(published, 6), "e5620", "GPUTex"), column(table(published, 7), "e5620", "GPUTex")
    assert swaps == controlled


def one_core(figure):
    """Shortest and longest time of one core that a figure's printed digits allow."""
    low, high = Decimal(1), Decimal(1)
    for value in map(Decimal, figure):
        half = Decimal(1).scaleb(value.as_tuple().exponent) / 2
        low, high = low * (value - half), high * (value + half)
    return low, high


def test_seconds_times_speedup_is_the_same_time_of_one_core_but_for_known_disagreements(published):
    times = defaultdict(list)
    for one in published["tables"]:
        for row in one["rows"]:
            for col, figure in zip(one["columns"], row["figures"], strict=True):
                work = (one["workload"], one["neighbourhood"], one["algorithm"], row["instance"], col["machine"])
                if figure:
                    times[work].append((one["number"], *one_core(figure)))
    found = set()
    for work, intervals in times.items():
        tables = {
            number
            for one, other in itertools.combinations(intervals, 2)
            if one[2] < other[1] or other[2] < one[1]
            for number in (one[0], other[0])
        }
        if tables:
            found.add((tuple(sorted(tables)), *work[-2:]))
    listed = {(tuple(row["tables"]), row["instance"], row["machine"]) for row in published["disagreements"]["rows"]}
    assert found == listed
    assert len(listed) == len(published["disagreements"]["rows"])
    assert sum(len(intervals) for intervals in times.values()) > 500


# --- our runs on the lines ---


@pytest.fixture
def make_run(make_record):
    """A function that makes a record of tabu search on QAP; `parameters` and `ways` replace single ones."""

    def make(instance="tai30a", times=(1.0, 1.0, 1.0), parameters=None, ways=None, **changes):
        plain = {"algorithm": "tabu", "neighbourhood": "exchange2", "iterations": 10_000, "walks": 1}
        usual = {
            "level": "iteration",
            "evaluation": "linear",
            "generate": "device",
            "select": "device",
            "tables": "global",
            "threads": "fixed",
        }
        digest = hashlib.sha256(instance.encode()).hexdigest()
        fields = {"workload": "qap", "instance": instance, "instance_sha256": digest, "hash_covers": "moves"}
        asked = {"parameters": plain | (parameters or {}), "ways": usual | (ways or {})}
        return make_record(times=times, **(fields | asked | changes))

    return make


def lines_of(report, number):
    (one,) = [t for t in report.tables if t.number == number]
    return one.lines


def ours_by_instance(report, number):
    """Our rows of a table under the instance on whose lines they stand."""
    found, instance = defaultdict(list), ""
    for line in lines_of(report, number):
        instance = line.instance or instance
        if line.ours:
            found[instance].append(line.ours)
    return found


def test_instances_of_one_file_stand_in_one_table_each_beside_the_published_figures(make_run):
    report = tables_report(
        [
            make_run("tai100a", (8.0, 8.0, 8.0)),
            make_run("tai30a", (2.0, 2.0, 2.0)),
            make_run("tai100a", (0.1, 0.1, 0.1), backend="cuda"),
        ]
    )
    assert [t.number for t in report.tables] == [2]
    lines = lines_of(report, 2)
    assert [line.instance for line in lines] == [
        *("tai30a", "tai35a", "tai40a", "tai50a", "tai60a", "tai80a", "tai100a", "")
    ]
    assert lines[0].figures == ("4.2×0.5", "1.3×1.8", "2.3×0.8", "1.0×1.9", "1.1×1.4", "0.8×2.0", "0.5×2.2", "0.4×2.8")
    assert lines[6].figures[-1] == "2.6×18.6"
    assert set(lines[7].figures) == {""}
    ours = ours_by_instance(report, 2)
    assert [row.speedup.value for row in ours["tai100a"]] == [1.0, pytest.approx(80)]
    assert [row.baseline_s for row in ours["tai30a"]] == [2.0]
    assert ours["tai35a"] == []


def test_repetitions_on_several_lines_are_one_row_with_an_interval(make_run):
    report = tables_report([make_run(times=[time]) for time in (1.0, 2.0, 6.0)])
    (row,) = ours_by_instance(report, 2)["tai30a"]
    assert (row.running.repetitions, row.running.median.value) == (3, 2.0)
    assert row.running.median.low == 1.0


def test_unequal_hashes_of_equal_work_are_refused(make_run):
    with pytest.raises(UnequalWorkError, match="trajectory_hash"):
        tables_report([make_run(), make_run(backend="cuda", trajectory_hash="ffff")])
    with pytest.raises(UnequalWorkError, match="trajectory_hash"):
        tables_report([make_run(), make_run(ways={"generate": "host"}, trajectory_hash="ffff")])


@pytest.mark.parametrize("change", [{"seed": 1}, {"parameters": {"iterations": 100}}, {"instance": "tai35a"}])
def test_other_work_may_have_another_hash_and_is_no_baseline(make_run, change):
    report = tables_report([make_run(), make_run(backend="cuda", trajectory_hash="ffff", **change)])
    rows = [line.ours for line in lines_of(report, 2) if line.ours]
    assert {row.record.backend: row.speedup is not None for row in rows} == {"cpu": True, "cuda": False}


def test_the_baseline_works_in_the_same_way_where_there_is_one(make_run):
    linear, kept = {"evaluation": "linear"}, {"evaluation": "kept", "tables": "shared"}
    slow, fast = make_run(times=[8.0], ways=linear), make_run(times=[4.0], ways=kept)
    gpu = make_run(times=[1.0], backend="cuda", ways=kept)
    both = ours_by_instance(tables_report([slow, fast, gpu]), 2)["tai30a"]
    assert [(row.speedup.value, row.baseline_s) for row in both] == [(1.0, 8.0), (1.0, 4.0), (4.0, 4.0)]
    assert both[2].labels == ()
    other = ours_by_instance(tables_report([slow, gpu]), 2)["tai30a"][1]
    assert other.speedup.value == 8.0
    assert other.labels == ("its baseline ran with evaluation = linear, tables = global",)


def test_ways_of_working_are_rows_of_a_plain_comparison(make_run):
    comparison = compare([make_run(), make_run(ways={"generate": "host"}, backend="cuda")])
    assert [row.record.ways["generate"] for row in comparison.rows] == ["device", "host"]
    assert comparison.rows[1].labels == ("its baseline ran with generate = device",)


def test_an_experiment_stands_in_its_own_table_with_what_it_varies(make_run):
    flips = {"neighbourhood": "flip2"}
    ppp = {"workload": "ppp", "instance": "73-73:seed=0"}
    report = tables_report(
        [
            make_run(**ppp, parameters=flips),
            make_run(**ppp, parameters=flips, backend="cuda"),
            make_run(**ppp, parameters=flips, ways={"generate": "host"}, backend="cuda"),
            make_run(**ppp, parameters=flips, ranks=4),
            make_run(**(ppp | {"instance": "81-81:seed=0"}), parameters=flips, backend="cuda"),
        ]
    )
    assert [t.number for t in report.tables] == [4, 8, 10]
    assert report.without_ours == (2, 3, 5, 6, 7, 9, 9)

    def shown(number):
        found = ours_by_instance(report, number).items()
        return {
            name: [(row.record.backend, row.record.ways["generate"], row.record.ranks) for row in rows]
            for name, rows in found
        }

    plain = [("cpu", "device", 1), ("cuda", "device", 1)]
    assert shown(4) == {"73-73": plain, "81-81": [("cuda", "device", 1)]}
    assert shown(8) == {"73-73": [*plain, ("cuda", "host", 1)]}
    assert shown(10) == {"73-73": [*plain, ("cpu", "device", 4)]}


PPP = {"workload": "ppp", "instance": "73-73"}
HOST = {"generate": "host", "select": "host"}


@pytest.mark.parametrize(
    ("number", "experiment", "fields", "neighbourhood"),
    [(7, {"threads": "tuned"}, {"workload": "tsp", "instance": "eil101"}, "exchange2"), (8, HOST, PPP, "flip2")],
)
def test_a_speedup_of_an_experiment_is_over_the_one_core_program_that_makes_none(
    make_run, number, experiment, fields, neighbourhood
):
    def run(seconds, ways=None, backend="cpu"):
        parameters = {"neighbourhood": neighbourhood}
        return make_run(times=[seconds], parameters=parameters, ways=ways, backend=backend, **fields)

    runs = [run(20.0, experiment), run(8.0), run(4.0, experiment, "cuda"), run(1.0, backend="cuda")]
    (rows,) = [rows for rows in ours_by_instance(tables_report(runs), number).values() if rows]
    shown = {(row.record.backend, row.record.ways == runs[0].ways): row for row in rows}
    ratios = {place: (row.speedup.value, row.baseline_s, row.labels) for place, row in shown.items()}
    assert ratios == {
        ("cpu", True): (0.4, 8.0, ()),
        ("cpu", False): (1.0, 8.0, ()),
        ("cuda", True): (2.0, 8.0, ()),
        ("cuda", False): (8.0, 8.0, ()),
    }
    alone = ours_by_instance(tables_report([runs[0], runs[2]]), number)
    (rows,) = [rows for rows in alone.values() if rows]
    said = ", ".join(f"{name} = {value}" for name, value in sorted(experiment.items()))
    assert rows[1].labels == (f"its baseline ran with {said}",)


def test_both_halves_of_tables_7_and_8_are_over_one_time_of_one_core(published):
    """What `plain` rests on: the paper's speed-ups with and without an experiment have one baseline."""
    for number, columns in ((7, (6, 7)), (8, (1, 2))):
        rows = [row for row in table(published, number)["rows"] if all(len(row["figures"][c]) == 2 for c in columns)]
        agree = 0
        for row in rows:
            (low, high), (least, most) = (one_core(row["figures"][column]) for column in columns)
            agree += low <= most and least <= high
        assert agree >= len(rows) - 2 > 3  # those of 0.2 and 0.8 s, and 3047 s, are among the disagreements
    assert published["plain"] == {"generate": "device", "select": "device", "threads": "fixed"}


@pytest.mark.parametrize("neighbourhood", ["flip1", "flip2"])
@pytest.mark.parametrize(
    ("walks", "level", "note"),
    [
        (1, "iteration", "1 climb, not 100: times do not compare with the paper's"),
        (20, "algorithm", "20 climbs, not 100: times do not compare with the paper's"),
        (100, "algorithm", "its 100 climbs ran side by side, the paper's one after the other"),
    ],
)
def test_table_9_is_of_a_hundred_climbs(make_run, neighbourhood, walks, level, note):
    parameters = {"algorithm": "hill", "neighbourhood": neighbourhood, "walks": walks}
    run = make_run(**PPP, parameters=parameters, ways={"level": level}, details={"iterations": 12})
    (report,) = tables_report([run]).tables
    (line,) = [line for line in report.lines if line.ours]
    assert (report.number, line.instance, line.notes) == (9, "73-73", (note,))


def test_no_run_of_ours_stands_in_table_11_and_the_report_says_why(make_run):
    run = make_run(**PPP, parameters={"neighbourhood": "flip2"}, ranks=4)
    report = tables_report([run])
    assert [one.number for one in report.tables] == [10]
    assert [number for number, _ in report.never_ours] == [11]
    assert 11 not in report.without_ours


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"parameters": {"walks": 64}}, "64 walks, not 1"),
        ({"details": {"iterations": 312}}, "312 iterations, not 10,000"),
        ({"parameters": {"walks": 8, "iterations": 7}}, "8 walks, not 1; 7 iterations, not 10,000"),
    ],
)
def test_what_ran_other_work_than_the_papers_says_so(make_run, changes, note):
    (line,) = [line for line in lines_of(tables_report([make_run(**changes)]), 2) if line.ours]
    assert line.notes == (f"{note}: times do not compare with the paper's",)
    (plain,) = [line for line in lines_of(tables_report([make_run(details={"iterations": 10_000})]), 2) if line.ours]
    assert plain.notes == ()


def test_other_points_of_the_weierstrass_function_are_said(make_run):
    def notes(**parameters):
        asked = {"neighbourhood": "crowns", "points": 10_000, "dtype": "float32"} | parameters
        run = make_run("weierstrass:10", workload="weierstrass", parameters=asked)
        (line,) = [line for line in lines_of(tables_report([run]), 5) if line.ours]
        return line.notes

    assert notes() == ()
    assert notes(points=100, dtype="float64") == (
        "points = 100, not 10000; dtype = float64, not float32: times do not compare with the paper's",
    )


def test_other_iterations_and_another_instance_name_are_said(make_run):
    run = make_run(
        "73-73:seed=5",
        workload="ppp",
        parameters={"neighbourhood": "flip1", "iterations": 500},
        environment={"cores": 2},
    )
    (line,) = [line for line in lines_of(tables_report([run]), 3) if line.ours]
    assert line.instance == "73-73"
    assert line.notes == ("73-73:seed=5", "500 iterations, not 10,000: times do not compare with the paper's")


def test_instances_that_the_paper_has_not_follow_in_the_order_of_their_numbers(make_run):
    report = tables_report([make_run("tai256c"), make_run("tai12a"), make_run("tai40a")])
    lines = lines_of(report, 2)
    assert [line.instance for line in lines[7:]] == ["tai12a", "tai256c"]
    assert all(set(line.figures) == {""} for line in lines[7:])


def test_weierstrass_runs_have_lines_of_their_own_named_by_dimension(make_run):
    runs = [
        make_run(f"weierstrass:{n}", workload="weierstrass", parameters={"neighbourhood": "crowns"})
        for n in (100, 10, 2)
    ]
    lines = lines_of(tables_report(runs), 5)
    assert [line.instance for line in lines] == [
        *map(str, range(1, 11)),
        *("weierstrass:2", "weierstrass:10", "weierstrass:100"),
    ]
    assert [line.ours is None for line in lines] == [True] * 10 + [False] * 3
    assert "prints no dimension" in markdown.render_tables(tables_report(runs))
    assert lines[9].figures[-2:] == ("20166", "83×243.0")


def test_what_the_paper_does_not_measure_has_a_table_of_its_own(make_run):
    report = tables_report(
        [make_run(), make_run(parameters={"neighbourhood": ["exchange2", "exchange3"], "algorithm": "vns"})]
    )
    assert [t.number for t in report.tables] == [2, None]
    assert report.tables[1].title == "qap, neighbourhood exchange2, exchange3, algorithm vns"
    assert [line.instance for line in report.tables[1].lines] == ["tai30a"]


def test_a_run_that_the_scorer_did_not_confirm_is_listed_and_not_shown(make_run):
    wrong = make_run("tai35a", scored=False, best_cost=1)
    report = tables_report([make_run(), wrong])
    assert report.unconfirmed == (wrong,)
    assert ours_by_instance(report, 2)["tai35a"] == []
    assert "did not confirm its best cost 1 |" in markdown.render_tables(report)
    with pytest.raises(RecordError, match="confirmed none"):
        tables_report([wrong])


def test_a_record_without_neighbourhood_is_refused_by_its_place(make_record):
    with pytest.raises(RecordError, match=r"a\.jsonl:3: expected the parameters neighbourhood and algorithm"):
        tables_report([make_record(workload="qap", origin="a.jsonl:3")])


# --- the report ---


def markdown_tables(text):
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    return [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]


def test_the_report_has_the_papers_layout_with_ours_beside(make_run):
    records = [
        make_run(times=[2.0, 2.1, 2.2]),
        make_run(
            backend="cuda",
            samples=tuple(Sample(0.0, 0.1, 0.4, time) for time in (0.5, 0.5, 0.5)),
            details={"device_name": "a | b"},
            environment={"cpu": "Other CPU", "cores": 8, "hosts": 1},
        ),
        make_run("73-73:seed=0", workload="ppp", parameters={"neighbourhood": "flip2"}, ways={"generate": "host"}),
    ]
    text = markdown.render_tables(tables_report(records))
    found = markdown_tables(text)
    assert len(found) == 3  # table 2, table 8, and the figures that do not agree
    for rows in found:
        assert len({len(row) for row in rows}) == 1, rows
    heading, _, first, second, third, *_ = ([cell.strip() for cell in row] for row in found[0])
    assert heading[:3] == ["instance", "GeForce 8600M GT, 32 cores: GPU", "GeForce 8600M GT, 32 cores: GPUTex"]
    assert first[:2] == ["tai30a", "4.2×0.5"]
    assert first[9:13] == ["cpu", "Test CPU", "", "3"]
    assert first[13] == "2.10 s [2.00 s, 2.20 s]"
    assert first[16] == "1.00x over 2.10 s"
    assert second[9:11] == ["cuda", "a \\| b"]
    assert second[14:16] == ["20 %", "80 %"]
    assert second[16].startswith("4.20x [")
    assert second[17] == "machine B; its baseline ran on machine A"
    assert third[9] == "not run"
    assert "0.2×3.2 (4.8 / 73.7 / 21.5 %)" in text
    assert "All of ours in this table: algorithm = tabu, evaluation = linear" in text
    assert "Machine B: Other CPU, 8 cores" in text
    assert "Tables of the paper without a run of ours: 3, 4, 5, 6, 7, 9, 10." in text
    assert "Table 11 has no run of ours: its machines stand at two, five and seven sites of a grid" in text


def test_a_comparison_of_such_a_workload_has_no_published_figure_of_another_kind(make_run, report_of):
    assert publication("qap") is None
    assert "Beside the published figures" not in report_of([make_run()])


def reports(*arguments):
    command = [sys.executable, "-m", "reports", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_report_is_made_from_a_shell(tmp_path, make_run):
    append(tmp_path / "a.jsonl", make_run())
    append(tmp_path / "b.jsonl", make_run("tai35a", backend="cuda"))
    done = reports("tables", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "out" / "luong2013.md")]
    assert "| tai35a |" in (tmp_path / "out" / "luong2013.md").read_text()


def test_a_workload_without_published_tables_ends_with_one_line_and_exit_code_2(tmp_path, make_record):
    append(tmp_path / "a.jsonl", make_record())
    done = reports("tables", tmp_path / "a.jsonl", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr == "error: no published tables for the workload 'ihc': use `python -m reports compare`\n"
    assert not (tmp_path / "out").exists()
