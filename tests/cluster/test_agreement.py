"""Ranks that were not started alike are told so, by the first fact that differs."""

import pytest

from cluster import Solo, agree
from cluster.agreement import first_difference

ALIKE = {"program": "climb", "--seed": "1"}


@pytest.mark.parametrize(
    ("everyone", "told"),
    [
        ([ALIKE] * 3, ""),
        ([ALIKE, ALIKE | {"--seed": "2"}], "--seed: found 1 on rank 0 and 2 on rank 1, expected the same"),
        (
            [ALIKE, {"program": "drive", "--seed": "2"}],
            "program: found climb on rank 0 and drive on rank 1, expected the same",
        ),
        (
            [ALIKE | {"--seed": "3"}] + [ALIKE] * 6,
            "--seed: found 3 on rank 0 and 1 on ranks 1, 2, 3, 4 and 2 more, expected the same",
        ),
        (
            [ALIKE, ALIKE, ALIKE | {"--help": "given"}],
            "--help: found not given on ranks 0, 1 and given on rank 2, expected the same",
        ),
    ],
    ids=["none", "an option", "the first of two", "many ranks", "a fact that others have not"],
)
def test_the_first_difference_is_named_with_both_values_and_their_ranks(everyone, told):
    assert first_difference(everyone) == told


def test_a_process_alone_agrees_with_itself():
    agree(Solo(), ALIKE)
