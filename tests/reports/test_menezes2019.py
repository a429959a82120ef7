"""Tables I and II of Menezes et al. 2019: the figures against the paper's text, and our runs in their cells."""

import hashlib
import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from reports import markdown
from reports.literature import FOLDER, publication
from reports.paper_tables import tables_report
from reports.records import RecordError, UnequalWorkError, append

ROOT = Path(__file__).parents[2]
TEXT = "001_399ad9021ef1e452.txt"
STRATEGIES = ("coarse", "fine", "fine-deposit")
SIZES = (1024, 2048, 4096, 8192)


@pytest.fixture(scope="module")
def published():
    """The figures with their digits as printed."""
    return tomllib.loads((FOLDER / "menezes2019.toml").read_text(), parse_float=Decimal)


@pytest.fixture(scope="module")
def paper(shared_data):
    path = shared_data.parent / "papers" / TEXT
    if not path.exists():
        pytest.skip(f"the paper's text is not beside the checkout: {path}")
    return path.read_text()


def by_place(published):
    """Seconds by instance, strategy and colony size."""
    return {
        (row["instance"], strategy, ants): seconds
        for row in published["tables"]["rows"]
        for strategy in STRATEGIES
        for ants, seconds in zip(SIZES, row[strategy], strict=True)
    }


def rows_of_the_text(paper, heading):
    """The tab-separated lines of a table of the paper's text, up to the first line that is none."""
    lines = paper[paper.index(heading) :].split("\n")
    first = next(i for i, line in enumerate(lines) if "\t" in line)
    last = next(i for i in range(first, len(lines)) if "\t" not in lines[i])
    return [line.strip().split("\t") for line in lines[first:last]]


# --- the data against the paper ---


def test_both_tables_are_those_of_the_text_digit_by_digit(published, paper):
    instances = [[str(value) for value in row.values()] for row in published["instances"]["rows"]]
    assert instances == rows_of_the_text(paper, "TABLE I  \n")[1:] and len(instances) == 9
    times = [
        [row["instance"], *(str(seconds) for strategy in STRATEGIES for seconds in row[strategy])]
        for row in published["tables"]["rows"]
    ]
    assert times == [
        row for row in rows_of_the_text(paper, "TABLE II  \n") if row[0] in {line[0] for line in instances}
    ]
    assert len(times) == 9


def test_columns_are_those_of_the_text(published, paper):
    names, sizes = rows_of_the_text(paper, "TABLE II  \n")[:2]
    assert [name for name in names if name][-3:] == [
        "Coarse Grain",
        "Fine Grain",
        "Fine Grain + Parallel Pheromone Deposit",
    ]
    assert tuple(published["strategies"]) == STRATEGIES
    assert [int(size) for size in sizes if size.isdigit()] == [*SIZES] * 3
    assert tuple(published["tables"]["ants"]) == SIZES


def test_the_optima_are_those_of_the_suites_catalogue(published):
    catalogue = {}
    for line in (ROOT / "core" / "problems" / "tsplib.tsv").read_text().splitlines():
        name, *values = line.split("\t")
        catalogue[name] = values
    for row in published["instances"]["rows"]:
        assert catalogue[row["instance"]][1:3] == [str(row["cities"]), str(row["optimum"])]


def test_quoted_ratios_are_those_of_table_2_and_of_the_text(published, paper):
    seconds = by_place(published)
    assert len(published["quotes"]) == 4
    for quote in published["quotes"]:
        name, ants = quote["instance"], quote["ants"]
        ratio = seconds[name, "coarse", ants] / seconds[name, quote["strategy"], ants]
        assert round(ratio, 2) == quote["ratio"]
        assert f"{quote['ratio']}x" in paper


def test_what_the_text_says_of_its_figures_holds_in_table_2(published):
    seconds = by_place(published)
    for row in published["tables"]["rows"]:
        name = row["instance"]
        ratios = [seconds[name, "coarse", ants] / seconds[name, "fine", ants] for ants in SIZES]
        assert ratios == sorted(ratios, reverse=True)  # "the difference between both decreases when the colony grows"
        saved = [seconds[name, "fine", ants] - seconds[name, "fine-deposit", ants] for ants in SIZES]
        assert all(one < other for one, other in pairwise(saved))  # "a progressive grow of the difference"


def test_disagreements_are_as_listed(published):
    seconds = by_place(published)
    abstract, similar, conclusion = (row["table"] for row in published["disagreements"])
    cells = [(row["instance"], ants) for row in published["tables"]["rows"] for ants in SIZES]
    fastest = [min(STRATEGIES, key=lambda strategy: seconds[name, strategy, ants]) for name, ants in cells]
    assert fastest == ["fine-deposit"] * 36 and "all 36 cells" in abstract
    pairs = [(seconds["dj38", "coarse", ants], seconds["dj38", "fine", ants]) for ants in SIZES]
    assert "{} s and {} s".format(*pairs[0]) in similar
    assert [coarse / fine < Decimal("1.1") for coarse, fine in pairs] == [False, False, True, True]
    ahead = [(name, ants) for name, ants in cells if seconds[name, "coarse", ants] < seconds[name, "fine", ants]]
    assert {ants for _, ants in ahead} == {8192} and "8,192 ants" in conclusion
    assert [name for name, _ in ahead] == ["lu980", "pcb442", "pr1002", "rat783"]
    assert "lu980, pcb442, pr1002 and rat783" in conclusion


def test_the_share_of_the_serial_update_is_as_noted(published):
    seconds = by_place(published)
    shares = {
        (name, ants): 100 * (1 - seconds[name, "fine-deposit", ants] / seconds[name, "fine", ants])
        for name, _, ants in seconds
    }
    least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    said = [f"{shares[name, ants]:.0f} % ({name}, {ants:,} ants)" for name, ants in (least, most)]
    assert " to ".join(said) in published["tables"]["note"]


# --- our runs in the cells ---


@pytest.fixture
def make_run(make_record):
    """A function that makes a record of Ant System; keywords of `parameters` replace single parameters."""

    def make(strategy="coarse", ants=1024, times=(1.0, 1.0, 1.0), instance="dj38", parameters=None, **changes):
        asked = {
            "ants": ants,
            "iterations": 20,
            "alpha": 1.0,
            "beta": 2.0,
            "rho": 0.1,
            "variant": "as",
            "candidates": 0,
            "local_search": "none",
            "best_every": 1,
            "stagnation": 0,
            "smoothing": 0.5,
            "colonies": 1,
            "exchange": 0,
        } | (parameters or {})
        strategy = asked.pop("strategy", strategy)
        digest = hashlib.sha256(instance.encode()).hexdigest()
        fields = {
            "workload": "aco",
            "instance": instance,
            "instance_sha256": digest,
            "best_cost": 6700,
            "ways": {"strategy": strategy},
            "hash_covers": "tours",
            "evaluations": ants * 38 * 38 * asked["iterations"],
            "details": {"cities": 38, "optimum": 6656},
        }
        return make_record(times=times, parameters=asked, **(fields | changes))

    return make


def cell(table, strategy, ants, line=0):
    return table.lines[line].cells[STRATEGIES.index(strategy) * 4 + SIZES.index(ants)]


def test_a_ratio_is_coarses_median_over_the_strategys_beside_the_papers(make_run):
    report = tables_report(
        [
            make_run("coarse", times=(6.0, 6.2, 6.4)),
            make_run("fine", times=(3.0, 3.1, 3.2)),
            make_run("fine-deposit", times=(1.0, 1.0, 1.0)),
        ]
    )
    (table,) = report.devices
    assert [line.instance for line in table.lines] == ["dj38"]
    coarse, fine, deposit = (cell(table, strategy, 1024) for strategy in STRATEGIES)
    assert coarse.ratio is None and coarse.ours.ratio is None
    assert fine.ours.ratio.value == pytest.approx(2.0)
    assert fine.ours.ratio.low < 2 < fine.ours.ratio.high
    assert round(fine.ratio, 2) == 1.58
    assert deposit.ours.ratio.value == pytest.approx(6.2)
    assert deposit.ratio == pytest.approx(4.822 / 0.674)
    assert coarse.ours.iteration.value == pytest.approx(6.2 / 20)
    assert (coarse.ours.iteration.low, coarse.ours.iteration.high) == pytest.approx((6.0 / 20, 6.4 / 20))
    assert [it.fastest for it in (coarse, fine, deposit)] == [False, False, True]


def test_a_ratio_needs_the_same_device_ants_iterations_and_seed(make_run):
    apart = [
        make_run("fine", ants=2048),
        make_run("fine", parameters={"iterations": 10}),
        make_run("fine", seed=1),
        make_run("fine", backend="cuda"),
        make_run("fine", ranks=2),
        make_run("fine", parameters={"rho": 0.5}),
        make_run("fine", environment={"cpu": "other"}),
        make_run("fine", instance="a280"),
    ]
    for run in apart:
        found = [
            one for one in tables_report([make_run("coarse"), run]).runs if one.row.record.identity == run.identity
        ]
        assert [one.ratio for one in found] == [None]


def test_unequal_hashes_of_two_strategies_are_refused(make_run):
    with pytest.raises(UnequalWorkError, match="trajectory_hash"):
        tables_report([make_run("coarse"), make_run("fine", trajectory_hash="ffff")])
    with pytest.raises(UnequalWorkError, match="trajectory_hash"):
        tables_report([make_run("coarse"), make_run("coarse", backend="cuda", trajectory_hash="ffff")])
    tables_report([make_run("coarse"), make_run("fine", ants=2048, trajectory_hash="ffff")])


def test_every_device_machine_and_number_of_ranks_has_a_table(make_run):
    report = tables_report(
        [
            make_run(),
            make_run(backend="cuda"),
            make_run(backend="cuda", device="1"),
            make_run(ranks=4),
            make_run(environment={"cpu": "Other", "cores": 2}),
            make_run("fine"),
        ]
    )
    assert [(table.first.name, table.first.machine) for table in report.devices] == [
        ("cpu", "A"),
        ("cuda", "A"),
        ("cuda 1", "A"),
        ("cpu, 4 ranks", "A"),
        ("cpu", "B"),
    ]
    assert report.devices[0].missing == ("lu980", "qa194", "a280", "d198", "lin318", "pcb442", "pr1002", "rat783")
    assert len(report.runs) == 6


def test_lines_are_in_the_papers_order_and_by_iterations(make_run):
    runs = [make_run(instance=name) for name in ("rat783", "dj38", "a280")]
    (table,) = tables_report([*runs, make_run(parameters={"iterations": 500})]).devices
    assert [(line.instance, line.iterations) for line in table.lines] == [
        ("dj38", 20),
        ("dj38", 500),
        ("a280", 20),
        ("rat783", 20),
    ]
    assert "iterations" not in table.common and table.common["rho"] == 0.1


def test_tallies_count_only_where_all_strategies_ran(make_run):
    runs = [
        *(make_run(s, 1024, [t]) for s, t in zip(STRATEGIES, (3.0, 2.0, 1.0), strict=True)),
        *(make_run(s, 8192, [t], "lu980") for s, t in zip(STRATEGIES, (3.0, 1.0, 2.0), strict=True)),
        make_run("coarse", 2048, [1.0]),
        make_run("fine", 2048, [2.0]),
    ]
    (table,) = tables_report(runs).devices
    assert table.complete == 2
    assert table.tallies == (("coarse", 0, 0, 0, 0), ("fine", 1, 0, 2, 1), ("fine-deposit", 1, 2, 2, 2))
    assert not any(cell(table, strategy, 2048).fastest for strategy in STRATEGIES)


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"variant": "mmas"}},
        {"parameters": {"candidates": 20}},
        {"parameters": {"local_search": "2opt"}},
        {"parameters": {"colonies": 2, "variant": "mmas"}},
        {"ants": 1000},
        {"instance": "eil51"},
    ],
)
def test_what_the_paper_does_not_measure_has_a_table_of_its_own(make_run, change):
    report = tables_report([make_run(), make_run(**change)])
    assert len(report.devices) == 1
    (own,) = report.own
    assert own.variant == change.get("parameters", {}).get("variant", "as")
    assert len(own.lines) == 1 and len(report.runs) == 2
    assert report.instances[0].best == report.devices[0].first.record


def test_own_lines_say_what_sets_them_apart_from_small_to_large(make_run):
    runs = [
        make_run("fine", 50, instance="eil76", details={"cities": 76}),
        make_run("fine", 50, instance="eil51", details={"cities": 51}),
        make_run("coarse", 10, instance="eil51", details={"cities": 51}),
    ]
    (own,) = tables_report(runs).own
    assert [(line.ours.row.record.instance, line.parameters) for line in own.lines] == [
        ("eil51", "ants = 10, strategy = coarse"),
        ("eil51", "ants = 50, strategy = fine"),
        ("eil76", "ants = 50, strategy = fine"),
    ]
    assert own.common["iterations"] == 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "medium"}, "expected a strategy among coarse, fine, fine-deposit, found 'medium'"),
        ({"iterations": 0}, "expected iterations of at least 1, found 0"),
        ({"ants": "many"}, "expected ants of at least 1, found 'many'"),
    ],
)
def test_parameters_that_no_cell_can_hold_are_refused_by_their_place(make_run, change, message):
    run = make_run(parameters=change, origin="a.jsonl:3")
    with pytest.raises(RecordError, match=f"a.jsonl:3: {message}"):
        tables_report([run])


def test_a_record_without_strategy_is_refused_by_its_place(make_record):
    with pytest.raises(RecordError, match=r"a\.jsonl:3: expected the parameter strategy, found \['climbers'\]"):
        tables_report([make_record(workload="aco", origin="a.jsonl:3")])


def test_a_run_that_the_scorer_did_not_confirm_is_listed_and_not_shown(make_run):
    wrong = make_run("fine", scored=False, best_cost=1)
    report = tables_report([make_run(), wrong])
    assert report.unconfirmed == (wrong,)
    assert cell(report.devices[0], "fine", 1024).ours is None
    assert report.instances[0].best.best_cost == 6700
    assert "did not confirm its best cost 1 |" in markdown.render_tables(report)


# --- the report ---


def markdown_tables(text):
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    tables = [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]
    return [[[cell.strip() for cell in row] for row in table] for table in tables]


def test_the_report_has_the_papers_layout_with_ours_in_its_cells(make_run):
    text = markdown.render_tables(
        tables_report(
            [
                make_run("coarse", times=[2.0] * 6, best_cost=6656),
                make_run("fine", times=[1.0] * 6, best_cost=6656),
                make_run(
                    "fine-deposit",
                    times=[0.5] * 3,
                    best_cost=6656,
                    details={"phase_seconds": {"construct": 3, "deposit": 1}},
                ),
                make_run("fine", times=[0.1] * 3, backend="cuda", best_cost=6656, details={"device_name": "a | b"}),
                make_run("fine", 64, parameters={"variant": "mmas"}, best_cost=6700),
            ]
        )
    )
    instances, printed, cpu, cuda, own, against = markdown_tables(text)
    for table in (instances, printed, cpu, cuda, own, against):
        assert len({len(row) for row in table}) == 1, table
    assert instances[2] == ["dj38", "38", "6656", "6656", "the optimum", "1,024 ants, 20 iterations"]
    assert instances[3] == ["lu980", "980", "11340", "not run", "", ""]
    assert printed[0][1] == "coarse, 1,024 ants" and printed[0][-1] == "fine-deposit, 8,192 ants"
    assert printed[3][:2] == ["lu980", "770.712"] and printed[3][5] == "285.056 (2.70x)"
    assert [row[:2] for row in cpu[2:]] == [["dj38", "20"]]
    assert cpu[2][2] == "100 ms [100 ms, 100 ms]<br>0.0148 G/s<br>n = 6"
    assert cpu[2][3] == "not run"
    assert cpu[2][6].startswith("2.00x [2.00, 2.00], K20 1.58x<br>50.0 ms [")
    assert cpu[2][7] == "not run, K20 1.26x"
    assert "<br>**25.0 ms [25.0 ms, 25.0 ms]**<br>0.0591 G/s, pheromone 25.0 %<br>n = 3" in cpu[2][10]
    assert cuda[2][6].startswith("no coarse run, K20 1.58x<br>5.00 ms [5.00 ms, 5.00 ms]<br>")
    assert "10.0x [10.0, 10.0] over 50.0 ms on one core" in cuda[2][6]
    assert own[2][0] == "dj38" and own[2][-2] == "0.66 % above"
    assert [row[0] for row in against[2:]] == ["abstract", "V-A", "VII"]
    assert "## Table II on cuda (a | b)" in text
    assert "- fine-deposit is the fastest in 1 (1), faster than coarse in 1 (1)." in text
    assert "Not run here: lu980, qa194" in text


def test_repetitions_are_said_once_where_they_are_the_same(make_run):
    text = markdown.render_tables(tables_report([make_run("coarse"), make_run("fine")]))
    assert "Repetitions: 3 in every cell." in text and "n = 3" not in text


def test_a_baseline_of_another_strategy_is_said_in_the_cell(make_run):
    text = markdown.render_tables(tables_report([make_run("coarse"), make_run("fine", backend="cuda")]))
    assert "on one core<br>its baseline ran with strategy = coarse |" in text


def reports(*arguments):
    command = [sys.executable, "-m", "reports", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_report_is_made_from_a_shell(tmp_path, make_run):
    for run in (make_run("coarse"), make_run("fine"), make_run(instance="a280")):
        append(tmp_path / "a.jsonl", run)
    done = reports("tables", tmp_path / "a.jsonl", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "out" / "menezes2019.md")]
    assert "| a280 | 20 |" in (tmp_path / "out" / "menezes2019.md").read_text()


def test_records_of_one_work_have_a_plain_comparison(make_run, report_of):
    assert publication("aco") is None
    text = report_of([make_run("fine"), make_run("fine", times=[0.5], backend="cuda")])
    assert "# aco on dj38" in text and "38 cities" in text and "the optimum 6,656" in text


def test_a_comparison_of_several_works_names_the_report_that_takes_them(tmp_path, make_run):
    append(tmp_path / "a.jsonl", make_run("coarse", 1024))
    append(tmp_path / "a.jsonl", make_run("fine", 2048))
    done = reports("compare", tmp_path / "a.jsonl", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "parameters is {'ants': 1024} in cpu" in done.stderr
    assert done.stderr.endswith(
        "but {'ants': 2048} in cpu (device 0) at "
        f"{tmp_path}/a.jsonl:2; for records of several works: `python -m reports tables`\n"
    )
    append(tmp_path / "b.jsonl", make_run("fine"))
    append(tmp_path / "b.jsonl", make_run("fine", backend="cuda", trajectory_hash="ffff"))
    refused = reports("compare", tmp_path / "b.jsonl", "--out", tmp_path / "out")
    assert "trajectory_hash" in refused.stderr and "tables" not in refused.stderr
