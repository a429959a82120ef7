"""The benefit of further ranks: paired runs, their ratio, and the fraction of communication."""

import pytest
from msgspec.structs import replace

from core.errors import UserError
from reports.pages import ranks
from reports.records.files import UnequalWorkError, append
from reports.records.schema import Repetition


@pytest.fixture
def pair(make_record):
    shares = {1.0: 0.5, 1.25: 0.1, 4.0: 0.2}
    samples = tuple(Repetition(0.0, 0.0, time, time, communication_share=share) for time, share in shares.items())
    return [make_record((3.0, 1.9, 2.0)), make_record(ranks=2, repetitions=samples)]


def test_a_work_of_one_rank_and_two_is_a_row_of_medians(pair, make_record, is_golden):
    other = make_record((9.0,), parameters={"climbers": 7}, ranks=2)  # no run on one rank alone
    gains = ranks.rank_gains([*pair, other])
    assert len(gains) == 1
    assert gains[0].speedup.value == pytest.approx(2.0 / 1.25)
    is_golden(ranks.render(gains, "a command"), "ranks.md")
    unconfirmed = ranks.rank_gains([pair[0], replace(pair[1], verified=False)])
    assert "No independent check confirmed the results of: ihc." in ranks.render(unconfirmed)


def test_ranks_that_found_something_else_are_no_comparison(pair, make_record):
    wrong = make_record((1.0,), ranks=3, hash="fedcba9876543210")
    with pytest.raises(UnequalWorkError, match="hash fedcba9876543210 of 3 ranks, 0123456789abcdef of one"):
        ranks.rank_gains([*pair, wrong])


def test_the_command_writes_the_report_or_says_that_there_is_none(pair, tmp_path, reports):
    for path, record in (("runs", pair[0]), ("runs", pair[1]), ("alone", pair[0])):
        append(tmp_path / path, record)
    assert reports("ranks", tmp_path / "runs", "--out", tmp_path)[0] == 0
    assert "1.60x" in (tmp_path / "ranks.md").read_text()
    code, _, message = reports("ranks", tmp_path / "alone", "--out", tmp_path)
    assert code == 2 and "no problem has runs of one rank and of several" in message
    with pytest.raises(UserError):
        ranks.write(ranks.rank_gains(pair), tmp_path / "runs")
