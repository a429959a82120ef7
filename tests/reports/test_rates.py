"""Rates of records, their ratios, and the page and terminal of a comparison."""

from math import nan

import pytest
from msgspec.structs import replace

from reports.pages import comparison
from reports.pages.comparison import busy_sentence, lines, proof_sentence, rate_table, verdict
from reports.plots.rates import show_rates
from reports.rates import NotRun, drift, rate_sections
from reports.records.files import RecordError, UnequalWorkError
from reports.records.schema import Repetition

MADE_BY = "onekernel compare ihc --instance kroA100 --climbers 2000"
NOT_RUN = [NotRun("cuda", "", 1, "no NVIDIA GPU here (the driver: missing)")]


def one(records, *others):
    (section,) = rate_sections([records, *others] if others else records)
    return section


@pytest.fixture
def two_cores(make_measured):
    """Runs of a machine with two cores, as `compare` orders them."""
    near = [0.99, 0.995, 1.0, 1.0, 1.005, 1.01]

    def run(rate, wide=1.0, **changes):
        return make_measured([8000 / rate * (1 + wide * (one - 1)) for one in near], **changes)

    return [
        run(7660, joules=41.8),
        run(15_040, backend="threads", joules=29.0, first_call_s=0.6),
        run(14_390, backend="joblib", joules=31.0, first_call_s=0.9),
        run(15_625, backend="opencl", joules=28.0, first_call_s=3.1),
        run(14_930, wide=3.0, ranks=2, joules=30.2, first_call_s=2.4),
    ]


def test_the_terminal_shows_proof_verdict_and_table(two_cores, is_golden):
    shown = [*lines(rate_sections(two_cores, NOT_RUN), MADE_BY)]
    assert len(shown) <= 16 and max(map(len, shown)) <= 80
    is_golden("\n".join(shown) + "\n", "compare-ihc.txt")


def test_the_page_has_a_verdict_a_table_a_picture_and_the_command(two_cores, tmp_path, is_golden, legible):
    pytest.importorskip("matplotlib")
    files = comparison.write(rate_sections(two_cores, NOT_RUN), tmp_path / "out", "ihc", MADE_BY)
    assert [file.name for file in files] == ["compare-ihc.md", "compare-ihc-1.svg"]
    is_golden(files[0].read_text(encoding="utf-8"), "compare-ihc.md")
    assert legible == ["compare-ihc-1"]
    comparison.remove(tmp_path / "out", "ihc")
    assert [*(tmp_path / "out").iterdir()] == []


@pytest.mark.parametrize(("seconds", "joules"), [(0.3, 4.0 / 8000), (0.1, nan)])
def test_joules_of_short_repetitions_count_together_if_they_span_ten_updates(make_measured, seconds, joules):
    """NVML's counter changes every 0.1 s: six repetitions of 0.3 s span 18 updates, of 0.1 s only six."""
    section = one([make_measured([seconds] * 6, backend="cuda", joules=4.0, source="gpu_nvml")])
    assert section.rates["joules"].tolist() == [pytest.approx(joules, nan_ok=True)]


def test_joules_that_a_repetition_lacks_are_unknown(make_measured):
    whole = make_measured(joules=4.0)
    first, *others = whole.repetitions[1:]
    lacking = (whole.repetitions[0], replace(first, energy_j=None), *others)
    assert one([whole.with_repetitions(lacking, True)]).rates["joules"].isna().all()


def test_a_rate_is_the_median_of_warm_repetitions_and_a_ratio_is_one_of_rates(make_measured):
    core = make_measured([1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    section = one(core, make_measured([0.5] * 6, backend="threads"))
    rates = section.rates
    assert rates.loc["one core", "rate"] == pytest.approx((8000 / 1.2 + 8000 / 1.3) / 2)
    assert (rates.loc["one core", "low"], rates.loc["one core", "high"]) == (8000 / 1.5, 8000)
    assert rates.loc["threads", "over_one_core"] == 16_000 / rates.loc["one core", "rate"]
    assert rates.loc["one core", "first_call_s"] == pytest.approx(1.9), "start and compilation, in no rate"


def test_the_last_two_measurements_count(make_measured):
    core = make_measured([9.0] * 6, [1.0] * 6, [1.2] * 6)
    section = one(core, make_measured([9.0] * 6, [0.5] * 6, [0.4] * 6, backend="threads"))
    assert section.rates["repetitions"].to_dict() == {"one core": 12, "threads": 12}
    assert section.rates.loc["one core", "low"] == 8000 / 1.2 and section.rates.loc["threads", "rate"] == 18_000
    assert drift(core) == pytest.approx(8 / 9)
    uneven = one([make_measured([1.0] * 6, [2.0] * 30)])
    assert uneven.rates["rate"].item() == 6000, "the longer turn does not decide"
    assert drift(make_measured()) == 0.0


def test_an_interrupted_measurement_is_not_run_and_no_proof_is_warm(make_measured):
    whole, other = make_measured(), make_measured(backend="threads")
    section = one([whole, other.with_repetitions(other.repetitions[:6], True)])
    assert [*section.rates.index] == ["one core"]
    assert [str(case) for case in section.not_run] == [
        "threads (device 0): the measurement of its rate was interrupted"
    ]
    with pytest.raises(RecordError, match="no records to compare: the measurement of its rate was interrupted"):
        rate_sections([whole.with_repetitions(whole.repetitions[:1], True)])


def test_a_fixed_amount_has_a_rate_without_its_first_cold_repetition(make_record):
    times = [5.0, 1.0, 1.0]
    fixed = tuple(Repetition(0.0, 0.0, time, time, work=50) for time in times)
    assert one([make_record(repetitions=fixed, work_unit="climbs")]).rates["rate"].tolist() == [50]
    assert one([make_record(times=[4.0])]).rates["rate"].tolist() == [0.25], "runs, if nothing else was recorded"


def test_a_program_that_counts_runs_is_compared_by_the_others_unit(make_measured, make_record):
    other = make_record(times=[0.5], backend="C", device_kind="core", parameters={"climbers": 2000})
    other = make_measured(repetitions=other.repetitions, work_unit="runs", backend="C", device_kind="core")
    rates = one(make_measured(), other).rates["rate"]
    assert rates.to_dict() == {"one core (cpu)": 8000, "one core (C)": 4000}


def test_a_page_of_a_fixed_amount_says_so_and_one_of_several_instances_names_them(make_record, make_measured):
    said = "warm repetitions of exactly this amount"
    assert said in comparison.render(rate_sections([make_record()]))
    several = [make_measured(instance=name, instance_sha256=sha * 32) for name, sha in (("one", "ab"), ("two", "cd"))]
    text = comparison.render(rate_sections(several))
    assert said not in text and [line for line in text.splitlines() if line.startswith("## ")] == ["## one", "## two"]


def test_a_published_mapping_is_divided_by_the_published_mapping_on_one_core(make_measured):
    def run(mapping, seconds, **changes):
        return make_measured([seconds] * 6, execution={"mapping": mapping}, **changes)

    runs = [run("native", 1.0), run("published", 4.0), run("published", 2.0, backend="threads")]
    rates = one([*runs, run("native", 0.1, backend="cuda")]).rates
    core, published = "one core (mapping native)", "one core (mapping published)"
    assert [*rates.index] == [core, published, "threads", "cuda"]
    assert rates["over_one_core"].tolist() == [1.0, 1.0, 2.0, pytest.approx(10.0)]


def test_a_setting_tells_rows_of_one_device_apart_and_is_no_obstacle_to_a_ratio(make_measured):
    runs = [make_measured(execution={"scan": scan}) for scan in ("full", "pruned")]
    assert [*one(runs).rates.index] == ["one core (scan full)", "one core (scan pruned)"]


def test_unequal_work_is_refused_and_work_that_grows_with_the_ranks_is_not(make_measured):
    core = make_measured()
    with pytest.raises(UnequalWorkError, match="hash is"):
        rate_sections([core, make_measured(backend="threads", hash="ffff")])
    other = {"parameters": {"climbers": 4000}, "hash": "ffff"}
    with pytest.raises(UnequalWorkError, match="parameters is"):
        rate_sections([core, make_measured(backend="threads", **other)])
    assert one(core, make_measured([0.5] * 6, ranks=2, **other)).rates.loc["2 ranks", "over_one_core"] == 2


def test_what_cannot_be_compared_is_refused(make_measured):
    with pytest.raises(RecordError, match="found records of ihc, lcs: expected those of one workload"):
        rate_sections([make_measured(), make_measured(workload="lcs")])
    with pytest.raises(RecordError, match="no records"):
        rate_sections([])
    wrong = make_measured(backend="threads", verified=False, hash="ffff")
    with pytest.raises(RecordError, match="confirmed none of them"):
        rate_sections([wrong])
    assert [row.wrong for row in one(make_measured(), wrong).not_run] == [True]


def test_hosts_are_sections_of_their_own(make_measured):
    runs = [make_measured(environment={"host": name, "cpu_model": "x", "cores": 2}) for name in "ab"]
    sections = rate_sections([*runs, make_measured(backend="cuda", environment=runs[1].environment)])
    assert [[*section.rates.index] for section in sections] == [["one core"], ["one core", "cuda"]]


def test_of_several_versions_the_last_counts(make_measured, make_record):
    machine = make_record().environment
    runs = [make_measured([time] * 6, environment=machine | {"commit": str(time)}) for time in (1.0, 2.0)]
    assert one(runs).rates["rate"].tolist() == [4000]


def test_several_seeds_are_one_row_with_the_first_call_of_the_first_one(make_measured):
    def run(backend, seed):
        own = {"seed": seed, "best_cost": 21282 + seed, "hash": f"{seed:04x}", "first_call_s": 1.0 + 10 * seed}
        return make_measured([1.0 + seed] * 6, backend=backend, **own)

    section = one([run(backend, seed) for backend in ("cpu", "threads") for seed in range(3)])
    assert section.rates["first_call_s"].tolist() == [pytest.approx(1.0)] * 2
    assert section.rates["repetitions"].to_dict() == {"one core": 18, "threads": 18}
    assert proof_sentence(section).endswith("2,000 climbs; 3 seeds proved equal: length 21,282 to 21,284")


@pytest.mark.parametrize(("others", "said"), [(0.2, ""), (1.3, "Busy host: other programs kept 1.3 of 2 cores busy.")])
def test_a_busy_host_is_said_once_at_the_top(make_measured, others, said):
    sections = rate_sections([make_measured(), make_measured(backend="threads", others=others)])
    assert busy_sentence(sections) == said
    text = comparison.render(sections)
    assert text.count("Busy") == bool(said)
    assert not said or text.splitlines()[2] == f"**{said}**"
    assert [*lines(sections)][0].startswith("Busy") == bool(said)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([{}], "Nothing is faster than one core: 8,000 climbs/s."),
        ([{}, {"backend": "threads", "time": 2.0}], "Nothing is faster than one core: 8,000 climbs/s."),
        ([{}, {"backend": "threads", "time": 0.5}], "threads (2 cores) is 2.00 times as fast as one core."),
        (
            [{}, {"backend": "threads", "time": 0.5}, {"backend": "cuda", "time": 0.01}],
            "cuda is 100 times as fast as one core, and 50.0 times as fast as all cores.",
        ),
        ([{}, {"ranks": 2, "time": 0.999}], "2 ranks are not surely faster than one core."),
        ([{"backend": "cuda"}], "cuda is the fastest: 8,000 climbs/s. There is no run on one core to compare with."),
        (
            [{"backend": "cuda", "details": {"simulated": True}}],
            "All runs are simulated, so no rate is that of a device.",
        ),
    ],
)
def test_the_verdict_names_the_fastest_and_its_ratios(make_measured, runs, said):
    def run(time=1.0, **changes):
        return make_measured([time * near for near in (0.99, 0.99, 1.0, 1.0, 1.01, 1.01)], **changes)

    assert verdict(one([run(**changes) for changes in runs])) == said


def test_a_width_is_printed_only_above_two_per_cent(make_measured):
    times = [0.98, 0.985, 1.0, 1.0, 1.015, 1.02], [0.9, 0.95, 1.0, 1.0, 1.05, 1.1]
    for near, said in zip(times, (False, True), strict=True):
        cells = rate_table(one([make_measured(near)])).rows[0]
        assert ("±" in cells[1]) == said or near[0] == 0.98


def test_no_table_has_more_than_seven_columns_and_no_line_more_than_eighty(make_measured):
    gpu = {"backend": "cuda", "device_kind": "gpu"}
    runs = [make_measured(joules=3.0), make_measured(backend="threads"), make_measured(**gpu, ranks=64)]
    section = one(runs)
    assert len(rate_table(section).headings) <= 7
    assert [*section.rates["kind"]] == ["one core", "all cores", "ranks"]
    shown = [*lines([section])]
    assert max(map(len, shown)) <= 80 and any(line.startswith("64 ranks of cuda") for line in shown)


def test_reasons_are_short(make_measured):
    (section,) = rate_sections([make_measured()], [NotRun("cuda", "0", 4, "word " * 100), *NOT_RUN])
    last = " ".join([*lines([section])][-2:])
    assert "not run: cuda, 4 ranks (word" in last and "cuda (no NVIDIA GPU here)" in last


def test_bars_are_drawn_into_the_users_axes(two_cores):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = show_rates(one(two_cores))
    assert len(axes.patches) == 5 and [text.get_text() for text in axes.get_legend().get_texts()] == [
        "one core",
        "all cores",
        "ranks",
    ]
    pyplot.close(axes.figure)


def test_no_name_leads_to_another_folder():
    assert comparison.report_name("../a b\0/é") == "compare-..-a-b-é"
