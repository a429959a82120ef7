"""The gain of further ranks: rates of one rank and of several, with equal and with growing work."""

import pytest
from msgspec.structs import replace

from core.errors import UserError
from reports.pages import ranks
from reports.records.files import UnequalWorkError, append

GPU = {"backend": "cuda", "details": {"device_name": "Test GPU"}, "evaluations": 1000}


@pytest.fixture
def gpus(make_measured):
    """Make a run of ranks with a GPU each, with these seconds of a repetition."""

    def make(seconds=1.0, count=1, share=0.0, near=(0.99, 1.0, 1.0, 1.0, 1.0, 1.01), proof=2000, **changes):
        run = make_measured([seconds * one for one in near], ranks=count, **(GPU | changes))
        shared = [replace(one, communication_share=share) for one in run.repetitions]
        return replace(run, repetitions=(replace(shared[0], work=proof), *shared[1:]))

    return make


@pytest.fixture
def works(gpus):
    """Equal work on 1, 2, 4 and 8 ranks, and work that grows, with other evaluations, on 2, 4 and 8."""
    strong = [gpus(), gpus(0.5, 2, 0.05), gpus(0.4, 4, 0.25, (0.9, 1, 1, 1, 1, 1.1)), gpus(0.25, 8, 0.5)]
    grown = [{"parameters": {"climbers": 2000 * k}, "hash": f"{k:04x}", "proof": 2000 * k} for k in (2, 4, 8)]
    weak = [gpus(0.52, 2, evaluations=1800, **grown[0]), gpus(0.3125, 4, evaluations=4000, **grown[1])]
    return [*strong, *weak, gpus(0.16, 8, evaluations=8000, **grown[2])]


@pytest.fixture
def walk(gpus):
    """Make a walk on one neighbourhood of this many neighbours, with these seconds of 8,000 iterations."""

    def make(seconds, neighbours, count=1, **changes):
        names = {"workload": "ppp", "instance": f"{neighbours}", "instance_sha256": f"{neighbours:064}"}
        parameters = {"walks": 1, "iterations": 2000, "tenure": neighbours // 6}
        fields = {**names, "parameters": parameters, "work_unit": "iterations", "evaluations": 2000 * neighbours}
        return gpus(seconds, count, 0.01, **(fields | changes))

    return make


def test_equal_and_growing_work_are_in_one_row(works, gpus, is_golden):
    (found,) = ranks.rank_rates([*works, gpus(9.0, 2, parameters={"climbers": 3000}, evaluations=2000)])  # 1.5 times
    assert [list(rates.index) for rates in (found.strong, found.weak)] == [[1, 2, 4, 8]] * 2
    assert (found.strong.loc[4, "gain"], found.weak.loc[4, "gain"]) == (pytest.approx(2.5), pytest.approx(3.2))
    assert len(ranks.rank_table([found]).headings) <= 8
    is_golden(ranks.render([found], "ranks.svg", "a command"), "ranks.md")


def test_tables_and_neighbourhoods_grow_too_and_are_compared_by_evaluations(gpus, walk):
    def table(evaluations, count=1):
        names = {"workload": "lcs", "instance_sha256": f"{evaluations:064}", "work_unit": "runs"}
        return gpus(1.0, count, **names, parameters={"trace": False}, evaluations=evaluations)

    (found,) = ranks.rank_rates([table(2000), table(3990, 2)])
    assert (list(found.strong.index), found.weak.loc[2, "gain"]) == ([1], pytest.approx(3990 / 2000))
    assert ranks.rank_rates([table(2000), table(3900, 2)]) == [], "not twice as much"
    (found,) = ranks.rank_rates([walk(1.0, 5000), walk(1.25, 10_000, 2)])
    assert found.weak.loc[2, "gain"] == pytest.approx(1.6)
    assert "| 80 % ±3 % |" in str(ranks.rank_table([found]))


def test_lines_name_missed_goals_and_the_iteration_from_which_ranks_pay(works, walk):
    walks = [walk(s * part, n, k) for s, n, gains in WALKS for k, part in zip((1, 2, 4), gains, strict=True)]
    page = ranks.render(ranks.rank_rates([*works, *walks]))
    assert "× 1.85 on 2 GPUs, missed by the whole interval: ppp 1, ppp 2 and ppp 3.\n" in page
    assert "ppp 3. At least half of the missing time is communication outside kernels: ihc kroA100.\n" in page
    assert "GPUs if an iteration takes long enough on one: 2 from 19.0 µs (ppp, 2) on and 4 from " in page
    short = ranks.shared_walks(ranks.rank_rates(walks[:2] + walks[3:4] + [walk(0.16, 2, 2)]))
    assert short[0].endswith("on one: none; those measured take 10.0 µs to 19.0 µs")


WALKS = ((0.08, 1, (1, 1.2, 1.5)), (0.152, 2, (1, 0.7, 1.1)), (1.6, 3, (1, 0.6, 0.4)))
"""Seconds of 8,000 iterations on one rank, neighbours, and the parts of this time that 1, 2 and 4 ranks take."""


def test_the_interval_of_a_gain_is_between_the_extremes_of_both_rates_and_may_hold_a_goal(works, monkeypatch):
    found = ranks.rank_rates(works)
    monkeypatch.setattr(ranks, "GOALS", {4: 2.6})
    assert ranks.missed_goals(found) == []
    low, high = found[0].strong.loc[2, ["gain_low", "gain_high"]]
    assert (low, high) == (pytest.approx(2 * 0.99 / 1.01), pytest.approx(2 * 1.01 / 0.99))


def test_a_busy_host_is_named_at_the_top(gpus):
    page = ranks.render(ranks.rank_rates([gpus(), gpus(0.5, 2, others=1.5)]))
    assert page.split("\n\n")[1] == "**Busy host: other programs kept 1.5 of 2 cores busy.**"


def test_ranks_that_found_something_else_or_nothing_confirmed_are_no_comparison(gpus):
    with pytest.raises(UnequalWorkError):
        ranks.rank_rates([gpus(), gpus(0.5, 2, hash="fedcba9876543210")])
    assert ranks.rank_rates([gpus(), gpus(0.5, 2, verified=False)]) == []


def test_another_device_algorithm_or_host_is_no_base(gpus):
    others = [{"backend": "opencl"}, {"execution": {"mapping": "published"}}, {"environment": {"host": "b"}}]
    assert all(ranks.rank_rates([gpus(), gpus(0.5, 2, **other)]) == [] for other in others)


def test_unequal_results_of_growing_work_on_two_backends_are_refused(works, gpus):
    with pytest.raises(UnequalWorkError):
        ranks.rank_rates([*works, replace(works[3], backend="opencl", hash="0123456789abcdef")])


def test_works_of_several_backends_are_told_apart_and_the_picture_can_be_read(works, gpus, walk, tmp_path, legible):
    pytest.importorskip("matplotlib")
    opencl = {"backend": "opencl", "device_kind": "gpu"}
    others = [gpus(1.1, **opencl), gpus(0.6, 2, 0.4, **opencl)]
    found = ranks.rank_rates([*works, walk(1.0, 3), walk(0.5, 3, 2), *others])
    page, picture = ranks.write(found, tmp_path)
    assert "| ihc, kroA100, opencl |" in page.read_text()
    assert "ihc, kroA100" in picture.read_text() and "opencl" not in picture.read_text()
    assert legible == ["ranks"]


def test_the_command_writes_the_page_or_an_error(works, gpus, tmp_path, reports):
    for path, records in (("runs", works), ("alone", works[:1])):
        for record in records:
            append(tmp_path / path, record)
    assert reports("ranks", tmp_path / "runs", "--out", tmp_path)[0] == 0
    assert "| 2.00 ±3 % |" in (tmp_path / "ranks.md").read_text()
    code, _, message = reports("ranks", tmp_path / "alone", "--out", tmp_path)
    assert code == 2 and "no problem has runs of one rank and of several" in message
    with pytest.raises(UserError):
        ranks.write(ranks.rank_rates(works), tmp_path / "runs")
    elsewhere = [gpus(environment={"host": "b"}), gpus(0.5, 2, environment={"host": "b"})]
    with pytest.raises(UserError, match="found records of several hosts"):
        ranks.write(ranks.rank_rates([*works, *elsewhere]), tmp_path)
