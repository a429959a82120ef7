"""Tables 5.1 to 5.4 of Xavier 2022: the figures against the thesis' text, and our proofs on their lines."""

import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from reports import markdown
from reports.literature import FOLDER
from reports.paper_tables import tables_report
from reports.records import RecordError, UnequalWorkError, append

ROOT = Path(__file__).parents[2]
TEXT = "003_ba087668a40c5435.txt"
PRINTED_15 = 15


@pytest.fixture(scope="module")
def published():
    return tomllib.loads((FOLDER / "xavier2022.toml").read_text())


@pytest.fixture(scope="module")
def paper(shared_data):
    path = shared_data.parent / "papers" / TEXT
    if not path.exists():
        pytest.skip(f"the thesis' text is not beside the checkout: {path}")
    return path.read_text()


@pytest.fixture
def make_run(make_record):
    """A record of an exact search; keywords replace fields, `bound` and others parameters, `nodes` and others details."""

    def make(instance="gr17", best_cost=2085, times=(0.5, 0.5, 0.5), **changes):
        ways = {"bound": "one-tree", "enumerate": None, "depth": None}
        ways |= {name: changes.pop(name) for name in list(changes) if name in ways}
        parameters = {"count": changes.pop("count", False)}
        details = {"cities": 17, "nodes": 1000, "nodes_per_second": 2000.0, "root_bound": 2080}
        details |= changes.pop("details", {})
        fields = {
            "workload": "exact",
            "instance": instance,
            "instance_sha256": f"{sum(map(ord, instance)):064x}",
            "parameters": parameters,
            "ways": ways,
            "hash_covers": "answer",
            "best_cost": best_cost,
            "best_index": 0,
            "evaluations": 0,
            "details": details,
        }
        return make_record(times=times, **(fields | changes))

    return make


def texts_of(paper):
    """The lines of the text's four tables, split at tabulators, in the text's order."""
    lines = paper.split("\n")
    for start in (i for i, line in enumerate(lines) if line.startswith("Input\t")):
        yield [line.split("\t") for line in lines[start + 1 : start + 1 + PRINTED_15]]


def interval(text):
    """The numbers that round to a printed one."""
    value = Decimal(text)
    half = Decimal(1).scaleb(value.as_tuple().exponent) / 2
    return max(Decimal(0), value - half), value + half


def follows(row):
    """Whether a printed speed-up can be the ratio of the two times that are printed with it."""
    (own_low, own_high), (peer_low, peer_high) = interval(row["solver"]), interval(row["peer"])
    low, high = interval(row["speedup"])
    most = peer_high / own_low if own_low else Decimal("Infinity")
    return low <= most and high >= peer_low / own_high


# --- the data against the thesis ---


def test_all_four_tables_are_those_of_the_text_digit_by_digit(published, paper):
    ours = [
        [
            [row["printed"], row.get("solver", ""), row["peer"], row.get("speedup", ""), str(row["optimum"])]
            for row in table["rows"]
        ]
        for table in published["tables"]
    ]
    assert ours == list(texts_of(paper))
    assert [len(rows) for rows in ours] == [PRINTED_15] * 4


def test_tables_name_the_machine_and_the_rival_of_their_captions(published, paper):
    for table in published["tables"]:
        machine = published["machines"][table["machine"]]
        caption = rf"Table {table['number']}:? Result.* with {table['peer'].upper()} on {machine['name']}\."
        assert re.search(caption, paper)
        assert machine["gpu"].split()[-1] in paper and machine["cpu"].split()[-1] in paper


def test_the_instances_are_those_of_every_table_and_of_the_suites_catalogue(published):
    catalogue = {}
    for line in (ROOT / "core" / "problems" / "tsplib.tsv").read_text().splitlines():
        name, *values = line.split("\t")
        catalogue[name] = values
    optima = [(row["instance"], row["optimum"]) for row in published["instances"]["rows"]]
    for table in published["tables"]:
        assert [(row["instance"], row["optimum"]) for row in table["rows"]] == optima
    for row in published["instances"]["rows"]:
        assert catalogue[row["instance"]][1:3] == [str(row["cities"]), str(row["optimum"])]


def test_speedups_follow_from_the_times_but_for_those_that_the_data_name(published):
    wrong = {
        table["number"]: [row["instance"] for row in table["rows"] if "speedup" in row and not follows(row)]
        for table in published["tables"]
    }
    assert wrong == {"5.1": [], "5.2": [], "5.3": ["eil7", "eil13", "burma14", "ulysses16", "gr17"], "5.4": []}
    assert ", ".join(wrong["5.3"][:-1]) + " and gr17" in published["disagreements"][0]["table"]


def test_the_times_of_lkh_are_the_same_on_both_machines(published):
    ithaca, austin = ([row["peer"] for row in table["rows"]] for table in published["tables"][2:])
    assert ithaca == austin


# --- our runs on its lines ---


def line_of(table, instance):
    return next(line for line in table.lines if line.instance == instance)


def test_a_run_stands_on_its_instances_line_beside_the_printed_times(make_run):
    report = tables_report([make_run()])
    (table,) = report.tables
    assert [line.instance for line in table.lines][:2] == ["eil7", "eil13"] and len(table.lines) == PRINTED_15
    line = line_of(table, "gr17")
    assert line.runs[0].running.median.value == 0.5
    assert dict(zip(report.headings, line.printed.figures, strict=True)) == {
        "thesis, Ithaca": "0.139",
        "thesis, Austin": "0.097",
        "Concorde, Ithaca": "0.014",
        "Concorde, Austin": "0.009",
        "LKH, Ithaca": "0.003",
        "LKH, Austin": "0.003",
    }
    assert all(other.runs == (None,) for other in table.lines if other.instance != "gr17")


def test_a_time_that_two_tables_print_has_the_digits_of_the_longer_one(make_run):
    report = tables_report([make_run()])
    p01 = next(one for one in report.printed if one.instance == "p01")
    assert p01.figures[report.headings.index("thesis, Ithaca")] == "0.0003"
    bays29 = next(one for one in report.printed if one.instance == "bays29")
    assert bays29.figures[:2] == ("", "")


def test_every_bound_has_a_table_and_every_device_a_column(make_run):
    runs = [
        make_run(bound="edges", times=[8.0] * 3),
        make_run(bound="edges", times=[2.0] * 3, backend="threads"),
        make_run(times=[0.5] * 3),
        make_run(bound="none", enumerate="permutations", times=[9.0] * 3),
        make_run(bound="edges", depth=4, times=[7.0] * 3),
    ]
    report = tables_report(runs)
    assert [table.title for table in report.tables] == [
        "bound one-tree",
        "bound edges",
        "bound none, permutations",
        "bound edges, depth 4",
    ]
    assert [run.name for run in report.tables[1].columns] == ["cpu", "threads"]
    edges = line_of(report.tables[1], "gr17")
    assert [run.running.median.value for run in edges.runs] == [8.0, 2.0]
    assert edges.runs[1].speedup.value == 4.0, "over the run on one core with the same bound"


def test_an_instance_that_was_searched_on_the_host_stands_in_the_default_bounds_table(make_run):
    host = make_run("eil7", 66, bound="host", times=[0.1] * 3)
    report = tables_report([host, make_run()])
    (table,) = report.tables
    assert table.title == "bound one-tree"
    assert line_of(table, "eil7").runs[0].record.ways["bound"] == "host"
    both = tables_report([make_run("eil7", 66, times=[0.2] * 3), host])
    assert line_of(both.tables[0], "eil7").runs[0].running.median.value == 0.2


def test_an_instance_of_ours_comes_after_the_theses_and_has_no_printed_times(make_run):
    report = tables_report([make_run("uniform:20:seed=1", 999, details={"cities": 20}), make_run("gr17", 2086)])
    lines = report.tables[0].lines
    assert [(line.instance, line.optimum, line.printed) for line in lines[PRINTED_15:]] == [
        ("gr17", 2086, None),
        ("uniform:20:seed=1", 999, None),
    ]


def test_runs_that_found_different_results_are_refused(make_run):
    with pytest.raises(UnequalWorkError, match="best_cost is 2085 in cpu .* but 2086 in threads"):
        tables_report([make_run(), make_run(bound="edges", best_cost=2086, backend="threads")])


def test_a_record_without_a_bound_is_refused_by_its_place(make_record):
    with pytest.raises(RecordError, match=r"a\.jsonl:3: expected the parameter bound, found \['climbers'\]"):
        tables_report([make_record(workload="exact", origin="a.jsonl:3")])


def test_peers_that_are_no_list_of_solvers_are_refused_by_their_place(make_run):
    with pytest.raises(RecordError, match=r"a\.jsonl:3: expected a list of solvers in details\.peers"):
        tables_report([make_run(details={"peers": {"concorde": 1}}, origin="a.jsonl:3")])


def test_a_run_that_somebody_spoke_against_is_listed_and_not_shown(make_run):
    wrong = make_run("gr21", 2708, scored=False)
    report = tables_report([make_run(), wrong])
    assert report.unconfirmed == (wrong,)
    assert line_of(report.tables[0], "gr21").runs == (None,)
    assert "| gr21 | cpu | 0 | 1 | the NumPy scorer did not confirm its best cost 2708 |" in markdown.render_tables(
        report
    )


# --- the report ---


def peer(name, **changes):
    """A solver as records of today hold it."""
    empty = {"cost": None, "solve_s": None, "start_s": None, "own_clock_s": None, "proved": False, "trouble": ""}
    return {"name": name, **empty, **changes}


def older_peer(name, **changes):
    empty = {"length": None, "solve_s": None, "start_s": None, "own_clock_s": None, "proves": False, "trouble": ""}
    return {"name": name, **empty, **changes}


def markdown_tables(text):
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    tables = [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]
    return [[[cell.strip() for cell in row] for row in table] for table in tables]


PEERS = [
    peer("concorde", cost=2085, solve_s=1.0, start_s=0.003, proved=True),
    peer("LKH", trouble="not found: build | it"),
    peer("elkai", cost=2090, solve_s=0.05, start_s=0.002),
]
OLDER_PEERS = [
    older_peer("concorde", length=2085, solve_s=1.0, start_s=0.003, proves=True),
    older_peer("LKH", trouble="not found: build | it"),
    older_peer("elkai", length=2090, solve_s=0.05, start_s=0.002),
]


TODAY = {"confirmed_by": ["the scorer", "the published optimum", "a second search"]}


@pytest.mark.parametrize(
    ("peers", "verified", "nodes"),
    [(PEERS, TODAY, 1000), (OLDER_PEERS, {"verified_by": "a second search"}, 0)],
    ids=["as recorded today", "older records"],
)
def test_the_report_has_our_times_the_theses_and_those_of_the_peers(make_run, peers, verified, nodes):
    details = {"peers": peers, "optimal_tours": 3, **verified}
    text = markdown.render_tables(
        tables_report(
            [
                make_run(times=[0.5] * 6, details=details, evaluations=nodes),
                make_run(times=[0.1] * 6, backend="cuda", details={"device_name": "a | b"}),
            ]
        )
    )
    ours, others, printed, against = markdown_tables(text)
    for table in (ours, others, printed, against):
        assert len({len(row) for row in table}) == 1, table
    assert ours[0][-1] == "ours: cuda (a \\| b)"
    assert ours[7][:5] == ["gr17", "17", "2085", "0.139", "0.097"]
    assert ours[7][-2] == (
        "500 ms [500 ms, 500 ms]<br>1,000 nodes, 2,000/s<br>bound at the root 2080<br>shortest tours: 3"
        "<br>verified by a second search<br>n = 6"
    )
    assert "<br>5.00x [5.00, 5.00] over 500 ms on one core<br>" in ours[7][-1]
    assert ours[2][-2:] == ["not run", "not run"]
    assert others[0] == ["instance", "ours", "median", "concorde", "LKH", "elkai"]
    assert others[2:] == [
        [
            *("gr17", "cpu, bound one-tree", "500 ms", "1.00 s (start-up 3.00 ms)<br>2.00x"),
            *("not found: build \\| it", "50.0 ms (start-up 2.00 ms)<br>0.100x<br>length 2090"),
        ]
    ]
    assert len(printed) == 2 + 4 * PRINTED_15
    assert printed[2] == ["5.1", "Ithaca", "Concorde", "eil7", "0.00001", "0.00015", "21.71"]
    assert printed[14] == ["5.1", "Ithaca", "Concorde", "bays29", "", "0.020", ""]
    assert against[2][0] == "table 5.3: LKH on Ithaca"


def test_a_report_without_peers_has_no_table_of_them(make_run):
    assert "Other solvers in the same run" not in markdown.render_tables(tables_report([make_run()]))


def test_the_report_is_made_from_a_shell(tmp_path, make_run):
    append(tmp_path / "a.jsonl", make_run())
    append(tmp_path / "a.jsonl", make_run("bays29", 2020))
    command = [sys.executable, "-m", "reports", "tables", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "out" / "xavier2022.md")]
    assert "| bays29 | 29 | 2020 |" in (tmp_path / "out" / "xavier2022.md").read_text()
