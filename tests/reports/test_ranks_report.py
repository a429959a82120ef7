"""The gain of further ranks: rates of one rank and of several, with equal and with growing work."""

import pytest
from msgspec.structs import replace

from core.errors import UserError
from reports.pages import ranks
from reports.records.files import UnequalWorkError, append

GPU = {"backend": "cuda", "details": {"device_name": "Test GPU"}}


@pytest.fixture
def gpus(make_measured):
    """Make a run of ranks with a GPU each, with these seconds of a repetition."""

    def make(seconds=1.0, count=1, share=0.0, near=(0.99, 1.0, 1.0, 1.0, 1.0, 1.01), **changes):
        run = make_measured([seconds * one for one in near], ranks=count, **(GPU | changes))
        return replace(run, repetitions=tuple(replace(one, communication_share=share) for one in run.repetitions))

    return make


@pytest.fixture
def works(gpus):
    """Equal work on 1, 2 and 4 ranks, and work that grows on 2."""
    grown = {"parameters": {"climbers": 4000}, "hash": "ffff"}
    return [gpus(), gpus(0.5, 2, 0.05), gpus(0.4, 4, 0.25, near=(0.9, 1, 1, 1, 1, 1.1)), gpus(0.52, 2, 0.01, **grown)]


def test_equal_and_growing_work_have_a_table_each(works, gpus, is_golden):
    alone = gpus(9.0, 2, parameters={"climbers": 7})  # no run on one rank
    found = ranks.rank_rates([*works, alone])
    assert [(one.kind, list(one.rates.index)) for one in found] == [(ranks.STRONG, [1, 2, 4]), (ranks.WEAK, [1, 2])]
    assert found[0].rates.loc[4, "gain"] == pytest.approx(2.5)
    assert len(ranks.rank_table(found).headings) <= 8
    is_golden(ranks.render(found, "ranks.svg", "a command"), "ranks.md")


def test_the_interval_of_a_gain_is_between_the_extremes_of_both_rates(works):
    rates = ranks.rank_rates(works)[0].rates
    low, high = rates.loc[2, ["gain_low", "gain_high"]]
    assert (low, high) == (pytest.approx(2 * 0.99 / 1.01), pytest.approx(2 * 1.01 / 0.99))


def test_ranks_that_found_something_else_or_nothing_confirmed_are_no_comparison(gpus):
    with pytest.raises(UnequalWorkError):
        ranks.rank_rates([gpus(), gpus(0.5, 2, hash="fedcba9876543210")])
    assert ranks.rank_rates([gpus(), gpus(0.5, 2, verified=False)]) == []


def test_another_device_algorithm_or_host_is_no_base(gpus):
    others = [{"backend": "opencl"}, {"execution": {"mapping": "published"}}, {"environment": {"host": "b"}}]
    assert all(ranks.rank_rates([gpus(), gpus(0.5, 2, **other)]) == [] for other in others)


def test_works_of_several_backends_are_told_apart_and_the_picture_can_be_read(works, gpus, tmp_path, legible):
    pytest.importorskip("matplotlib")
    opencl = {"backend": "opencl", "device_kind": "gpu"}
    found = ranks.rank_rates([*works, gpus(1.1, **opencl), gpus(0.6, 2, **opencl)])
    page, picture = ranks.write(found, tmp_path)
    assert "| ihc, kroA100, opencl |" in page.read_text()
    assert "ihc, kroA100, cuda, grows" in picture.read_text()
    assert legible == ["ranks"]


def test_the_command_writes_the_page_or_an_error(works, gpus, tmp_path, reports):
    for path, records in (("runs", works), ("alone", works[:1])):
        for record in records:
            append(tmp_path / path, record)
    assert reports("ranks", tmp_path / "runs", "--out", tmp_path)[0] == 0
    assert "| 2.00 |" in (tmp_path / "ranks.md").read_text()
    code, _, message = reports("ranks", tmp_path / "alone", "--out", tmp_path)
    assert code == 2 and "no problem has runs of one rank and of several" in message
    with pytest.raises(UserError):
        ranks.write(ranks.rank_rates(works), tmp_path / "runs")
    elsewhere = [gpus(environment={"host": "b"}), gpus(0.5, 2, environment={"host": "b"})]
    with pytest.raises(UserError, match="found records of several hosts"):
        ranks.write(ranks.rank_rates([*works, *elsewhere]), tmp_path)
