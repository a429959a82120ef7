"""Cells of an exhibit: which run is in them, its measures, and ratios of equal work."""

import pytest
from msgspec.structs import replace

from reports.papers.cells import exhibit_frame, gpu_name, runs_of
from reports.papers.measures import MEASURES
from reports.papers.paper import Column
from reports.records.files import UnequalWorkError
from reports.records.schema import Repetition
from tests.reports.made_up_hills import GPU, HOST, LENGTHS, PAPER, TABLE, climbs, hills


def cells_of(records, exhibit=TABLE):
    frame = exhibit_frame(PAPER, exhibit, runs_of(PAPER, records))
    return {(row, column): text for row, column, text in zip(frame["row"], frame["column"], frame["text"], strict=True)}


def started(record, day):
    starts = (f"2026-11-{day}T10:00:{second:02}Z" for second in range(60))
    repetitions = tuple(replace(one, started_at=at) for one, at in zip(record.repetitions, starts, strict=False))
    return replace(record, repetitions=repetitions)


def test_seconds_are_those_of_the_papers_amount_and_ratios_those_of_rates(make_measured):
    cells = cells_of(hills(make_measured))
    assert (cells["small", "core"], cells["small", "cores"], cells["large", "core"]) == ("50.0", "25.0", "1,000")
    assert cells["large", "gain"] == "40.0", "the ratio of two narrow rates is narrow"
    assert (cells["small", "gpu"], cells["small", "gain"]) == ("12.5 ±8 %", "4.00 ±8 %")
    assert (cells["small", "paper"], cells["small", "paper_gain"], cells["large", "paper"]) == ("3.0", "2.00", "400")
    assert cells["small", "paper_gpu"] == "1.50", "digits as printed"
    assert cells["large", "over_paper"] == "16.0", "published seconds over ours"
    assert ("large", "cores") not in cells and ("large", "over_native") not in cells


def test_a_device_of_the_next_kind_stands_in(make_measured):
    records = [climbs(make_measured, "small", 1.0), climbs(make_measured, "small", 0.5, backend="threads")]
    assert cells_of(records)["small", "gain"].startswith("2.00")
    assert cells_of([*records, climbs(make_measured, "small", 0.1, **GPU)])["small", "gain"].startswith("10.0")


def test_a_row_has_the_backend_and_the_work_of_most_runs_so_that_a_ratio_is_that_of_its_seconds(make_measured):
    longer = climbs(make_measured, "small", 0.2, climbers=20_000, **GPU)
    others = [climbs(make_measured, "small", 0.1, **(GPU | {"backend": "opencl"})), longer]
    cells = cells_of([*hills(make_measured), *(started(one, 25) for one in others)])
    assert (cells["small", "gpu"], cells["small", "gain"]) == ("12.5 ±8 %", "4.00 ±8 %")


def test_a_run_over_itself_is_one_without_an_interval(make_measured):
    exhibit = replace(TABLE, columns=(*TABLE.columns, Column("itself", series="core", over="core")))
    assert cells_of([climbs(make_measured, "small", 1.0, wide=9.0)], exhibit)["small", "itself"] == "1.00"


@pytest.mark.parametrize(
    "later",
    [
        {"verified": False, "environment": HOST | {"commit": "later"}},
        {"seconds": 3.0, "environment": HOST | {"host": "another"}, "day": 20},
        {"seconds": 3.0, "climbers": 10},
        {"seconds": 3.0, "day": 20, "environment": HOST | {"commit": "older"}},
    ],
    ids=["unconfirmed", "on another host before", "of a smaller proof", "of an earlier version"],
)
def test_of_several_records_the_newest_confirmed_one_of_the_largest_proof_counts(make_measured, later):
    changes = {"seconds": 5.0, "day": 22, **later}
    day, seconds = changes.pop("day"), changes.pop("seconds")
    other = started(climbs(make_measured, "small", seconds, **changes), day)
    mine = started(climbs(make_measured, "small", 1.0), 21)
    assert cells_of([other, mine])["small", "core"] == cells_of([mine, other])["small", "core"] == "50.0"


def test_the_host_of_the_newest_record_is_that_of_the_page(make_measured):
    there = started(climbs(make_measured, "small", 3.0, environment=HOST | {"host": "two"}), 25)
    cells = cells_of([started(one, 21) for one in hills(make_measured)] + [there])
    assert cells["small", "core"] == "150" and ("large", "core") not in cells


@pytest.mark.parametrize("other", [{"cpu_model": "another"}, {"cores": 64}])
def test_two_hosts_of_one_name_are_two_hosts(make_measured, other):
    there = started(climbs(make_measured, "small", 0.1, environment=HOST | other, **GPU), 20)
    assert ("small", "gain") not in cells_of([started(one, 21) for one in hills(make_measured)[:1]] + [there])


def test_an_interrupted_measurement_and_a_proof_alone_have_no_cell(make_measured):
    whole = climbs(make_measured, "small", 1.0)
    for some in (whole.repetitions[:1], whole.repetitions[:6]):
        assert ("small", "core") not in cells_of([whole.with_repetitions(some, True)])
    again = tuple(replace(one, turn=1, total_s=9 * one.total_s) for one in whole.repetitions[1:4])
    assert cells_of([whole.with_repetitions((*whole.repetitions, *again), True)])["small", "core"] == "50.0"


def test_a_cell_of_a_wide_interval_has_its_ends(make_measured):
    """Six repetitions between a quarter and twice of the median."""
    wide = climbs(make_measured, "small", 1.0)
    seconds = dict(enumerate((1.0, 3.9, 4.0, 4.0, 4.1, 8.4), start=1))
    uneven = [replace(one, total_s=seconds.get(place, one.total_s)) for place, one in enumerate(wide.repetitions)]
    frame = exhibit_frame(PAPER, TABLE, runs_of(PAPER, [wide.with_repetitions(tuple(uneven), True)]))
    cell = frame[frame["column"] == "core"].iloc[0]
    assert (cell["text"], cell["figure"], cell["value"]) == ("12.5 to 105", "12.5 to 105", pytest.approx(50.0))


def test_unequal_work_is_refused_and_other_work_has_no_ratio(make_measured):
    core, gpu = climbs(make_measured, "small", 1.0), climbs(make_measured, "small", 0.1, **GPU)
    with pytest.raises(UnequalWorkError, match="hash is "):
        cells_of([core, replace(gpu, hash="0" * 16)])
    other = replace(gpu, parameters={"climbers": 1999}, hash="0" * 16)
    assert ("small", "gain") not in cells_of([core, other])
    both = cells_of([core, other, gpu, replace(core, parameters={"climbers": 4000}, hash="1" * 16)])
    assert both["small", "gain"].startswith("10.0"), "a ratio is over the base of the same amount"


def test_texts_are_cells_too(make_measured):
    solvers = [{"name": "concorde", "solve_s": 0.25}, {"name": "LKH", "solve_s": 0.1}]
    record = climbs(make_measured, "small", 1.0, details={"reference_solvers": solvers})
    cells = cells_of([record], LENGTHS)
    assert cells["small", "paper"] == "not printed" and ("large", "paper") not in cells
    assert (cells["small", "length"], cells["small", "gap"], cells["small", "concorde"]) == ("21,315", "0.16", "0.250")
    exhibit = replace(LENGTHS, columns=(replace(LENGTHS.column("concorde"), measure="milliseconds"),))
    assert cells_of([record], exhibit)["small", "concorde"] == "250"
    later = started(climbs(make_measured, "small", 1.0, environment=HOST | {"commit": "later"}), 30)
    (cell,) = exhibit_frame(PAPER, exhibit, runs_of(PAPER, [record, later])).itertuples()
    assert (cell.text, cell.run.record.details, cell.repetitions) == ("250", record.details, None), "of the run with it"


def measured(record, name, exhibit=TABLE):
    found = MEASURES[name].of(runs_of(PAPER, [record])[0], exhibit)
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", 50.0),
        ("milliseconds", 50_000.0),
        ("rate", 2000.0),
        ("cost", 21_315.0),
        ("mean_cost", 21_315.0),
        ("index", 17.0),
        ("nodes", 2e9),
        ("steps", 103.3),
        ("optimum", 21_282.0),
        ("start_gap", 100.0),
        ("kernel", 100.0),
        ("transfers", 0.0),
        ("process", 0.0),
        ("streamed", 4096.0),
        ("load_efficiency", 80.0),
        ("least_load_efficiency", 5.0),
        ("least_warp_efficiency", None),
        ("ipc", 1.25),
        ("communication", None),
        ("warp_efficiency", None),
        ("charged", None),
        ("construction_ms", 2000.0),
        ("update_part", 20.0),
        ("deposit_part", None),
    ],
)
def test_a_measure_is_a_number_of_a_run(make_measured, name, value):
    kernels = [
        {"kernel": "a", "launches": 1, "load_efficiency": [0.1, 0.5, 1.0], "ipc": [1, 2, 3], "seconds": [1, 2, 9]},
        {"kernel": "b", "launches": 3, "load_efficiency": [0.05, 0.9, 1.0], "ipc": [1, 1, 3], "seconds": [0, 0.5, 1]},
        {"kernel": "clear", "launches": 9, "ipc": [5, 5, 5]},
    ]
    details = {"steps_per_climb": 103.3, "start_cost": 42_564, "streamed_bytes": 4096, "profile": {"kernels": kernels}}
    record = climbs(make_measured, "small", 1.0, details=details)
    exhibit = replace(TABLE, phases={"construction": ("a",), "update": ("b", "none"), "deposit": ("none",)})
    assert measured(record, name, exhibit) == (None if value is None else pytest.approx(value))


def test_a_tuned_run_is_charged_by_how_much_its_first_run_is_longer(make_measured):
    asked = {"execution": {"mapping": "published", "shape": "tuned"}, "details": {"tuning_s": 0.05}}
    assert measured(climbs(make_measured, "small", 0.1, **asked), "charged") == pytest.approx(5.0 + 0.15)


def test_whole_runs_have_the_seconds_of_a_run_unless_a_limit_ended_another_search(make_measured, make_record):
    def seconds(made, limit):
        exhibit = replace(TABLE, amount={"iterations": 1000})
        times = tuple(Repetition(0, 0, 3.0, 3.0, kind=kind) for kind in ("proof", *["rate"] * 6))
        asked = {"parameters": {"iterations": limit}, "details": {"iterations": made}}
        return measured(make_record(repetitions=times, work_unit="runs", **asked), "seconds", exhibit)

    assert seconds(700, 1000) == seconds(1000, 1000) == seconds(70, 100) == pytest.approx(3.0)
    assert seconds(100, 100) is None


def test_seeds_of_a_run_are_one_run(make_measured):
    seeds = [climbs(make_measured, "small", 1.0, seed=seed, best_cost=21_300 + seed) for seed in range(3)]
    (run,) = runs_of(PAPER, seeds)
    assert MEASURES["mean_cost"].of(run, TABLE).value == 21_301 and MEASURES["cost"].of(run, TABLE).value == 21_300
    assert run.rate["repetitions"] == 18


@pytest.mark.parametrize(
    ("name", "short"),
    [("NVIDIA H100 80GB HBM3", "H100"), ("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-16GB"), ("NVIDIA H200", "H200")],
)
def test_names_of_gpus_are_short(name, short):
    assert gpu_name(name) == short
