"""The cluster model's program: calibration by made-up records with known parameters, and refusals of unusable ones."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.model.interconnects import find_interconnects
from cluster.model.run_time import Speed, Work, iteration
from drivers.cluster_programs import model, pages, published_tables
from reports.comparison import calibration
from reports.comparison.calibration import CalibrationRun, calibrate
from reports.papers.files import load as load_paper
from reports.records.files import Record, Repetition, append, load

DRIVER = model
GALLERY = Path(__file__).parents[2] / "reports/gallery"
GAMMA, SERIAL = 2e-9, 3e-5
ROWS = {"73-73": (73, 2628), "401-417": (401, 86_736), "1301-1317": (1301, 866_586)}
ITERATIONS = 100


def core_s(instance):
    """Seconds of an iteration of the made-up machine."""
    rows, neighbours = ROWS[instance]
    return SERIAL + GAMMA * rows * neighbours


def make_timed_run(instance, seconds, ranks=1, kind="core", **changes):
    """A record of runs with ``seconds`` seconds an iteration."""
    backend = {"core": "cpu", "gpu": "cuda"}[kind]
    spread = [0.999 * seconds, seconds, 1.001 * seconds]
    fields = {
        "workload": "ppp",
        "instance": f"{instance}:seed=0",
        "instance_sha256": f"{ROWS[instance][1]:064x}",
        "parameters": {"neighbourhood": "flip2", "walks": 1, "iterations": ITERATIONS},
        "execution": {"mapping": "native"},
        "seed": 0,
        "backend": backend,
        "device": "0",
        "device_kind": kind,
        "ranks": ranks,
        "repetitions": tuple(Repetition(0.0, 0.0, ITERATIONS * one, ITERATIONS * one) for one in spread),
        "best_cost": 1,
        "best_index": 0,
        "evaluations": ITERATIONS * ROWS[instance][1],
        "evaluation_unit": "neighbours",
        "hash": "0123456789abcdef",
        "hash_scope": "moves",
        "environment": {
            "commit": "0",
            "python": "3",
            "os": "Linux",
            "cpu_model": "Test CPU",
            "cores": 64,
            "host_count": 1,
        },
        "verified": True,
        "details": {"iterations": ITERATIONS, "device_name": "Test"},
    }
    return Record.checked(**(fields | changes))


def truth(instance, ranks, network):
    rows, neighbours = ROWS[instance]
    speed = Speed(GAMMA * rows, SERIAL, calibration.SYNCHRONISATION_S)
    return iteration(Work("neighbourhood", neighbours), speed, network, ranks).total_s


MYRI = find_interconnects("myri10g")[0]


@pytest.fixture
def cores():
    return [make_timed_run(instance, core_s(instance)) for instance in ROWS]


@pytest.fixture
def file(tmp_path):
    def write(records, name="runs.jsonl"):
        for record in records:
            append(tmp_path / name, record)
        return tmp_path / name

    return write


# --- calibration ---


def test_several_walks_are_shared_as_walks():
    several = {"neighbourhood": "flip2", "walks": 8, "iterations": ITERATIONS}
    run = CalibrationRun(make_timed_run("401-417", 0.02, parameters=several, details={"iterations": 8 * ITERATIONS}))
    assert (run.work.way, run.work.shares, run.work.iterations) == ("walks", 8, ITERATIONS)


@pytest.mark.parametrize(
    ("workload", "way"),
    [("ihc", "walks"), ("aco", "ants"), ("exact", "subtrees"), ("lcs", "strips"), ("knapsack", "halves")],
)
def test_records_of_every_way_of_sharing_are_understood(workload, way):
    records = [one for path in sorted(GALLERY.glob("*.jsonl")) for one in load(path)]
    record = next(one for one in records if one.workload == workload and one.evaluations)
    work = calibration.work_of(record)
    assert work.way == way and work.units > 0
    network = find_interconnects("ethernet")[0]
    parts = iteration(work, Speed(1e-9), network, 2)
    assert parts.total_s > 0 and parts.compute_s < iteration(work, Speed(1e-9), network, 1).compute_s


def test_the_serial_part_is_found_from_runs_of_several_ranks(cores):
    several = [make_timed_run("73-73", truth("73-73", ranks, MYRI), ranks) for ranks in (2, 8, 32)]
    assert calibrate([*cores, *several], "core", MYRI).unshared_s == pytest.approx(SERIAL, rel=0.05)
    assert pages.WorkloadCalibration([*cores, *several], MYRI).core.unshared_s == pytest.approx(SERIAL, rel=0.05)
    unknown = pages.WorkloadCalibration([*cores, *several], None)
    assert unknown.core.unshared_s == 0 and "no runs on a network measured by `check`" in unknown.core.why


CROWDED = replace(MYRI, crowds=((8, 4.0),))


@pytest.mark.parametrize(
    ("network", "several", "why"),
    [
        (MYRI, [make_timed_run("1301-1317", truth("1301-1317", 2, MYRI) * 1.01, 2)], "not distinguishable from zero"),
        (
            CROWDED,
            [make_timed_run(name, 1.2 * truth(name, 8, CROWDED), 8) for name in ROWS],
            "no runs on several ranks to fit it to",
        ),
        (
            MYRI,
            [make_timed_run("1301-1317", truth("1301-1317", n, MYRI) + 100 * core_s("73-73"), n) for n in (8, 16)],
            "not a constant",
        ),
    ],
    ids=["noise", "ranks that share cores", "more than half of the smallest instance"],
)
def test_what_may_be_something_else_is_no_serial_part(cores, network, several, why):
    model = calibrate([*cores, *several], "core", network)
    assert model.unshared_s == 0 and why in model.why


def test_what_a_meeting_of_gpus_takes_is_found_also_where_it_is_most_of_the_time():
    network, meeting_s = find_interconnects("nvlink")[0], 15e-6
    alone = {"73-73": 8e-6, "401-417": 22e-6, "1301-1317": 154e-6}
    works = {name: calibration.work_of(make_timed_run(name, alone_s)) for name, alone_s in alone.items()}
    speeds = {name: Speed(alone_s / works[name].units, 0.0, meeting_s) for name, alone_s in alone.items()}
    records = [
        make_timed_run(name, iteration(works[name], speeds[name], network, ranks).total_s, ranks, kind="gpu")
        for name in alone
        for ranks in (1, 2, 4)
    ]
    model = calibrate(records, "gpu", network)
    assert model.unshared_s == pytest.approx(meeting_s, rel=0.01)
    assert all(abs(run.error.value) < 0.01 for run in pages.validate_runs(records, records, network))


def test_an_own_problem_is_a_local_search():
    assert calibration.work_of(make_timed_run("73-73", 0.02, workload="warehouses")).way == "neighbourhood"


def test_sizes_between_recorded_ones_are_read_off_in_logarithms(cores):
    calibrated = calibrate(cores, "core", MYRI)
    sizes = [run.size for run in calibrated.runs]
    assert calibrated.alone_s(sizes[1]) == pytest.approx(core_s("401-417"))
    between = (sizes[0] * sizes[1]) ** 0.5
    assert calibrated.alone_s(between) == pytest.approx((core_s("73-73") * core_s("401-417")) ** 0.5)
    assert calibrated.alone_s(2 * sizes[-1]) == pytest.approx(2 * core_s("1301-1317"))


# --- the report ---


def test_every_network_has_a_column_and_tables_10_and_11_stand_beside_the_published(drive, file, cores, tmp_path):
    records = [*cores, *(make_timed_run(instance, 1e-4, kind="gpu") for instance in ROWS)]
    code, out, err = drive("--records", file(records), "--ranks", "1..64", "--out", tmp_path / "report")
    assert code == 0, err
    assert out == (tmp_path / "report/cluster-model.md").read_text()
    assert "| ranks | Myri-10G | gigabit Ethernet | Grid'5000, 2 sites |" in out
    assert "## Table 10, modelled and published" in out and "## Table 11, modelled" in out
    assert "15257×2.6" in out and "2405×10.3" in out
    alone, cow = core_s("1301-1317"), truth("1301-1317", 8, MYRI)
    row = next(line for line in out.splitlines() if line.startswith("| 1301-1317 |") and "15257" in line)
    assert f"×{alone / cow:.2f} |" in row, "the speed-up is over one of our cores"


def test_the_gpu_is_beaten_from_where_it_takes_longer(drive, file, cores):
    slow = [make_timed_run(instance, core_s(instance) / 7.5, kind="gpu") for instance in ROWS]
    code, out, _ = drive("--records", file([*cores, *slow]), "--network", "myri10g", "--ranks", "1..64")
    assert code == 0
    turns = [line for line in out.splitlines() if line.startswith("| Myri-10G | 64 ranks or more")]
    assert [line.rstrip(" |").rpartition("| ")[2] for line in turns] == ["16 ranks", "8 ranks", "8 ranks"]
    table = out[out.index("## Sizes") : out.index("## Table 10")]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert rows[0][0] == "8" and rows[0][1].startswith("from "), "four ranks beat it nowhere"
    assert rows[1] == ["16", "all"]


def test_energy_and_price_are_shown_when_watts_and_prices_are_given(drive, file, cores):
    records = file([*cores, make_timed_run("401-417", 1e-3, kind="gpu")])
    arguments = ("--network", "myri10g", "--instance", "401-417", "--watts", 300, 700, "--price", 1, 3.6)
    code, out, _ = drive("--records", records, "--iterations", 1000, *arguments)
    assert code == 0
    assert "| this GPU | 1.00 s | 0.700 kJ | 0.001 |" in out
    assert "| Myri-10G, 128 ranks on 16 nodes | 571 ms | 2.74 kJ | 0.002539 |" in out


def test_a_size_that_nobody_recorded_is_scaled_and_named(drive, file, cores):
    code, out, _ = drive("--records", file(cores), "--network", "ethernet", "--instance", "201-217")
    assert code == 0
    assert "## 201-217" in out and "23,436 neighbours" in out
    code, out, _ = drive("--records", file(cores[:1], "small.jsonl"), "--network", "ethernet")
    assert "that one core has recorded: 81-81, 101-117" in out


def test_the_papers_own_machines_are_modelled_without_records(drive):
    code, out, _ = drive("--published")
    assert code == 0
    assert "eight cores of one host, without a network, were 1.74 times as fast as one of these" in out
    for table in ("10", "11"):
        for column in load_paper("luong2013").chosen("table", table)[0].columns:
            assert (column.heading in out) == (column.heading != "GPUTex")


def test_clusters_of_the_paper_have_the_cores_that_their_headings_say():
    for cluster in published_tables.clusters():
        assert f"{cluster.ranks} cores" in cluster.heading
        assert cluster.network.places(cluster.ranks).site[-1] + 1 == cluster.network.sites


# --- validation ---


def test_a_machine_is_predicted_if_it_is_as_modelled_and_told_if_it_is_not(drive, file, cores):
    several = [make_timed_run(row, truth(row, ranks, MYRI), ranks) for row in ROWS for ranks in (2, 8, 32)]
    wrong = make_timed_run("401-417", 2 * truth("401-417", 8, MYRI), 8)
    for name, runs, options, expected_code, said in (
        ("as modelled", several, ("--within", 2), 0, "9 of 9 runs are at most 2 % off"),
        ("other", [wrong], (), 0, "0 of 1 runs are at most 15 % off"),
        ("other", [], ("--within", 15), 1, "-50"),
    ):
        records = file([*cores, *runs] if runs else [], name)
        code, out, err = drive("--records", records, "--validate", records, "--network", "myri10g", *options)
        assert code == expected_code, out + err
        assert said in out


def test_a_check_of_a_cluster_is_a_network(drive, file, cores, tmp_path):
    from cluster.measure.measurement_file import ClusterMeasurement, Link, RankSpeed, Reduction, write_measurement

    def rank(number):
        place = (f"host{number}", "a core", "cpu", 1, 2, 1e6, "neighbours", "ppp 201-217")
        return RankSpeed(number, *place, 1e6, 0.0, {})

    check = ClusterMeasurement("2026-11-22T23:00:00Z", "Open MPI", (Link(0, 1, False, 7e-5, 1e-8),),
                     (Reduction(2, 2, 8, 8e-5, 7e-5, 9e-5, 100),), (), (rank(0), rank(1)))  # fmt: skip
    write_measurement(check, tmp_path / "check.json")
    code, out, err = drive("--records", file(cores), "--network", tmp_path / "check.json", "--ranks", 1, 2)
    assert code == 0, err
    assert "as measured (check.json, 2 ranks on 2 hosts)" in out and "70.0 µs" in out


# --- what is refused ---


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--network infiniband", "network 'infiniband': expected one of myri10g"),
        ("--ranks many", "found 'many', expected a number of ranks"),
        ("--workload qap", "no record of qap in the native mapping, only of heldkarp, ppp"),
        ("--workload heldkarp", "no model of how ranks share heldkarp"),
        ("--watts 300 -5", "--watts"),
        ("--price nothing 1", "expected a positive number"),
        ("--instance kroA100", "kroA100: found no record and no size in the name"),
        ("--validate {records}", "expected one --network"),
        ("--validate {records} --network ethernet", "found no run on several ranks"),
        ("--out {records}", "runs.jsonl: cannot write the report"),
        ("--records {folder}/gpu.jsonl", "no run of ppp on one core, only on cuda"),
        ("--records {folder}/broken.jsonl", "broken.jsonl:1"),
    ],
)
def test_what_does_not_fit_is_one_line_and_exit_code_2(drive, file, cores, capsys, tmp_path, arguments, expected):
    records = file([*cores, make_timed_run("73-73", 1e-4, workload="heldkarp", evaluation_unit="transitions")])
    file([make_timed_run("73-73", 1e-4, kind="gpu")], "gpu.jsonl")
    (tmp_path / "broken.jsonl").write_text(json.dumps({"schema": 3}) + "\n")
    try:
        code, _, err = drive("--records", records, *arguments.format(records=records, folder=tmp_path).split())
    except SystemExit as stop:  # of argparse
        code, err = stop.code, capsys.readouterr().err
    assert code == 2
    assert expected in err
    assert "Traceback" not in err


def test_no_records_at_all_are_refused(drive):
    code, _, err = drive()
    assert code == 2 and "--records" in err
