"""Ranks with different arguments are refused, with the first fact that differs."""

import pytest

from cluster import Solo, require_equal_arguments, require_equal_content
from cluster.mpi.consistency import first_difference
from core.errors import UserError

ALIKE = {"program": "climb", "--seed": "1"}


@pytest.mark.parametrize(
    ("everyone", "message"),
    [
        ([ALIKE] * 3, ""),
        ([ALIKE, ALIKE | {"--seed": "2"}], "--seed: found 1 on rank 0 and 2 on rank 1"),
        ([ALIKE, {"program": "drive", "--seed": "2"}], "program: found climb on rank 0 and drive on rank 1"),
        ([{"--seed": "3"}] + [{"--seed": "1"}] * 6, "--seed: found 3 on rank 0 and 1 on ranks 1, 2, 3, 4 and 2 more"),
        ([ALIKE, ALIKE, ALIKE | {"--help": "given"}], "--help: found not given on ranks 0, 1 and given on rank 2"),
    ],
    ids=["none", "an option", "the first of two", "many ranks", "a fact that others have not"],
)
def test_the_first_difference_is_named_with_both_values_and_their_ranks(everyone, message):
    assert first_difference(everyone) == (message and f"{message}, expected the same")


def test_a_process_alone_agrees_with_itself():
    require_equal_arguments(Solo(), ALIKE)
    require_equal_content(Solo(), "sources", "/here", lambda: pytest.fail("nobody else reads"))


class One:
    """One of several ranks. A gathering returns what it reads at the places of the others."""

    def __init__(self, rank, places, contents):
        self.rank, self.size = rank, len(places)
        self.found = [[(place.partition(":")[0], place.partition(":")[2]) for place in places], contents]

    def host(self):
        return self.found[0][self.rank][0]

    def gather(self, item):
        items = self.found.pop(0)
        assert items[self.rank] == item
        return items if self.rank == 0 else None

    def bcast(self, item):
        return item

    def on_all(self, act):
        return act()


def read_by(rank, places, contents):
    read = []
    me = One(rank, places, contents)
    require_equal_content(me, "sources", places[rank].partition(":")[2], lambda: read.append(rank) or contents[rank])
    return read


def test_nobody_reads_what_all_ranks_would_read_at_one_place():
    assert read_by(0, ["host:/a"] * 3, []) == []


def test_one_rank_reads_for_all_at_its_place_and_unlike_contents_are_told_with_all_their_ranks():
    places = ["one:/a", "one:/a", "two:/a", "one:/b", "two:/a"]
    assert read_by(0, places, ["x", "", "x", "x", ""]) == [0]
    with pytest.raises(UserError, match="^sources: found x on ranks 0, 1, 3 and y on ranks 2, 4, expected the same$"):
        read_by(0, places, ["x", "", "y", "x", ""])
