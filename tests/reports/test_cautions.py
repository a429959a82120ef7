"""Cautions of a report, each with its figure."""

import pytest
from msgspec.structs import replace

from reports.comparison.cautions import BASELINE_PREFIX, cautions, doubts, is_short, ratio_doubts
from reports.comparison.speedups import compare
from reports.records.schema import Repetition

SIX = [1.0 - 1e-6 * number for number in range(6)]


@pytest.fixture
def warned(make_record):
    """Cautions of records, without the remark on few repetitions."""

    def find(*records, nearby=()):
        said = cautions(compare(records), nearby=nearby)
        return {(one.text, label): figure for one in said for label, figure in one.figures.items()}

    return find


def said_of(cautions, begin):
    return {label: figure for (text, label), figure in cautions.items() if text.startswith(begin)}


def under(started_at="2026-11-22T10:00:00Z", **conditions):
    return {"started_at": started_at, "conditions": conditions}


SHORTEST = "spread above 10 % of the median (from the shortest to the longest time)"
INTERVAL = "spread above 10 % of the median (the 95 % interval)"
SLOW = "clock more than 10 % below its GPU's highest"
LOAD = "load of other programs"
SAID = {
    "a quiet run of enough repetitions": ({"times": SIX, "sampled": under(load_1min=0.3, cpu_mhz_mean=3000.0)}, "", ""),
    "an interval": ({"times": [1.0, 1.0, 1.0, 1.5, 1.5, 1.5, 1.5]}, INTERVAL, "33 %"),
    "one outlier does not move the median": ({"times": [1.0] * 9 + [1.5]}, "", ""),
    "few repetitions": ({"times": [1.0, 1.0, 1.2]}, SHORTEST, "20 %"),
    "few that are near": ({"times": [1.0, 1.0, 1.05]}, "spread", ""),
    "few are said": ({"times": [1.0] * 5}, "fewer than 6 repetitions", "5"),
    "a slow GPU": (
        {"sampled": under(gpu_mhz=1500.0, gpu_mhz_max=1980.0), "backend": "cuda"},
        SLOW,
        "1,500 of 1,980 MHz",
    ),
    "load that half of the cores explain": ({"sampled": under(load_1min=1.9)}, LOAD, ""),
    "load of others": ({"sampled": under(load_1min=2.1)}, LOAD, "2.10 (1 ours, 2 cores)"),
}


@pytest.mark.parametrize(("run", "begin", "figure"), SAID.values(), ids=SAID)
def test_one_run_has_the_cautions_that_it_needs(make_record, warned, run, begin, figure):
    said = said_of(warned(make_record(**run)), begin)
    assert said == ({run.get("backend", "cpu"): figure} if figure else {})


@pytest.mark.parametrize(
    ("backend", "kind", "ranks", "time", "figure"),
    [
        ("threads", "cores", 1, 0.4, "2.50x on 2"),
        ("threads", "cores", 1, 0.5, None),
        ("cpu", "core", 2, 0.4, "2.50x on 2"),
        ("cpu", "core", 64, 0.4, "2.50x on 2"),
        ("cuda", "gpu", 1, 0.001, None),
    ],
)
def test_more_speedup_than_cores_is_suspicious_but_not_on_a_gpu(
    make_record, warned, backend, kind, ranks, time, figure
):
    run = make_record(backend=backend, device_kind=kind, ranks=ranks, times=[time] * 6)
    texts = said_of(warned(make_record(times=SIX), run), "speed-up above the number of cores")
    assert list(texts.values()) == ([figure] if figure else [])


@pytest.mark.parametrize(("minutes", "said"), [(2, False), (4, True)])
def test_a_run_of_ours_shortly_before_explains_the_load(make_record, warned, minutes, said):
    record = make_record(SIX, under("2026-11-22T10:10:00Z", load_1min=2.5))
    before = make_record(SIX, under(f"2026-11-22T10:0{10 - minutes}:00Z"), backend="threads")
    assert bool(said_of(warned(record, nearby=[before]), "load of other programs")) == said


def test_what_only_some_repetitions_met_is_counted(make_record, warned):
    conditions = (
        {"throttled": True, "throttled_by": ["temperature", "power limit"]},
        {"throttled": False, "resume_count": 2},
        {"lost_ranks": [1]},
    )
    samples = tuple(Repetition(0.0, 0.0, 1.0, 1.0, conditions=condition) for condition in conditions)
    cautions = warned(make_record(backend="cuda", repetitions=samples))
    throttled = {"cuda": "in 1 of 3 repetitions (power limit, temperature)"}
    assert said_of(cautions, "the GPU's clock was throttled") == throttled
    assert said_of(cautions, "resumed from a checkpoint") == {"cuda": "1 of 3 repetitions"}
    assert said_of(cautions, "ranks were killed") == {"cuda": "1 of 3 repetitions"}


def test_a_clock_below_another_rows_on_the_same_machine_is_said(make_record, warned):
    fast = make_record(SIX, under(cpu_mhz_mean=3000.0))
    slow = make_record(SIX, under(cpu_mhz_mean=2600.0), backend="threads")
    assert said_of(warned(fast, slow), "clock more than 10 %") == {"threads": "2,600 of 3,000 MHz"}
    elsewhere = replace(slow, environment={**slow.environment, "host": "other"})
    assert said_of(warned(fast, elsewhere), "clock more than 10 %") == {}


def test_fewer_than_six_repetitions_are_said_once_where_every_row_has_as_many(make_record):
    runs = [make_record(), make_record(backend="threads")]
    (few,) = cautions(compare(runs))
    assert str(few).endswith("less than 95 %: every row 1")
    assert few.everywhere


def test_notes_of_rows_have_marks_too(make_record):
    marked = cautions(compare([make_record(SIX, ranks=3)]))
    assert [(one.mark, one.text) for one in marked] == [("a", "oversubscribed: 3 ranks on 2 cores")]


def test_a_ratio_says_what_is_doubtful_of_the_time_that_it_is_over(make_record, warned):
    busy = make_record([20.0, 30.0, 35.0] * 2, under(load_1min=3.0))
    gpu = make_record(times=[0.02] * 6, backend="cuda")
    cautions = warned(busy, gpu)
    assert said_of(cautions, "its baseline: spread above 10 %") == {"cuda": "50 %"}
    (load,) = said_of(cautions, "its baseline: load of other programs").values()
    assert load == "3.00 (1 ours, 2 cores)"
    assert said_of(cautions, "spread above 10 %") == {"cpu": "50 %"}
    row = compare([busy, gpu]).rows[1]
    assert not any("load" in text for text in ratio_doubts(row))
    assert any("load" in text for text in ratio_doubts(row, [busy, gpu]))
    assert all(text.startswith(BASELINE_PREFIX) for text in ratio_doubts(row)) and ratio_doubts(row)
    assert set(doubts(row, [busy, gpu])) <= set(ratio_doubts(row, [busy, gpu]))


@pytest.mark.parametrize(("elsewhere", "marked"), [(17.5, True), (28.0, False)])
def test_an_interval_that_excludes_what_is_known_elsewhere_is_marked(make_record, warned, elsewhere, marked):
    known = {"other_medians": [{"seconds": elsewhere, "where": "a quiet host"}]}
    core = make_record(times=[29.0, 30.0, 30.5, 27.5], details=known)
    gpu = make_record(times=[0.02] * 6, backend="cuda")
    cautions = warned(core, gpu)
    text = "the interval excludes the median of a quiet host"
    assert said_of(cautions, text) == ({"cpu": "17.5 s"} if marked else {})
    assert said_of(cautions, f"its baseline: {text}") == ({"cuda": "17.5 s"} if marked else {})


def test_less_than_a_second_of_one_core_is_short(make_record):
    rows = [compare([make_record(times=[time]), make_record(times=[0.1], backend="cuda")]).rows for time in (0.9, 1.0)]
    assert [[is_short(row) for row in of] for of in rows] == [[True, True], [False, False]]
