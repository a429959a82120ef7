"""Batches of items that ranks take: every item once, slow and fast ranks done at the same time, nothing left behind."""

import heapq
import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.run import batches as module
from core.run.batches import Batches
from core.run.partition import parts_by_speed


class Shared:
    """A word shared by all ranks of a process; the first reset counts."""

    def __init__(self):
        self.value, self.is_new = 0, True

    def add(self, summand):
        self.value += summand
        return self.value - summand

    def reset(self, value):
        self.value = value if self.is_new else self.value
        self.is_new = False

    def close(self):
        pass


class Job:
    """Ranks that take batches at virtual times, each with its speed."""

    def __init__(self, monkeypatch, size):
        self.size, self.now = size, 0.0
        self.words = [Shared(), Shared()]
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)

    def ranks(self):
        counted, speeds = self.words
        counter = SimpleNamespace(take=counted.add, taken=lambda: counted.add(0), close=lambda: None)
        shared = {"counter": lambda: counter, "word": lambda: speeds, "barrier": lambda: None}
        return SimpleNamespace(rank=0, size=self.size, survives=False, **shared)

    def run(self, items, ranks):
        """Let ranks with (seconds per item, options) share the items; return the last end and each rank's items."""
        iterators = [iter(Batches(self.ranks(), items, **options)) for _, options in ranks]
        queue = [(0.0, rank) for rank in range(self.size)]
        batches, ends = [], [0.0] * self.size
        while queue:
            self.now, rank = heapq.heappop(queue)
            batch = next(iterators[rank], None)
            if batch is not None:
                batches.append((*batch, rank))
                ends[rank] = self.now + ranks[rank][0](batch[1] - batch[0])
                heapq.heappush(queue, (ends[rank], rank))
        return max(ends), batches


def at(speed):
    return lambda count: count / speed


def each_once(parts, items):
    parts = sorted(parts)
    return [begin for begin, _, _ in parts] == [0, *(end for _, end, _ in parts[:-1])] and parts[-1][1] == items


SPEEDS = [(1,), (1, 1, 1, 1, 1, 1, 1), (3, 1), (1, 1000), (4, 4, 1), (1000, 10, 1), (1, 1.1)]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("speeds", SPEEDS, ids=str)
def test_ranks_of_any_speeds_do_nine_tenths_of_what_they_could(monkeypatch, speeds, known):
    items = 100_000
    ranks = [(at(50 * v), {"first": items, "speed": 50.0 * v} if known else {"first": 10}) for v in speeds]
    end, batches = Job(monkeypatch, len(speeds)).run(items, ranks)
    assert each_once(batches, items)
    assert end < items / sum(50 * v for v in speeds) / 0.9
    assert len(batches) < 30 * len(speeds)


def test_a_rank_that_would_be_last_takes_nothing(monkeypatch):
    quick, slow = {"first": 64, "least": 64, "speed": 1e6}, {"first": 1, "speed": 3.0}
    end, items = Job(monkeypatch, 2).run(10_000, [(at(1e6), quick), (at(3), slow)])
    assert {rank for _, _, rank in items} == {0}
    assert end == pytest.approx(0.01)


@pytest.mark.parametrize("wrong", [0.1, 10.0])
def test_a_wrong_guess_of_a_speed_is_found_out(monkeypatch, wrong):
    ranks = [(at(1000), {"first": 5000, "speed": 1000 * wrong}), (at(100), {"first": 5000, "speed": 100.0})]
    end, items = Job(monkeypatch, 2).run(100_000, ranks)
    assert each_once(items, 100_000)
    assert end < 100_000 / 1100 * 1.3


def test_batches_keep_their_bounds(monkeypatch):
    options = {"first": 20, "least": 8, "most": 50, "seconds": 0.03}
    _, batches = Job(monkeypatch, 2).run(5000, [(at(1000), options), (at(2000), options)])
    sizes = {rank: [end - begin for begin, end, who in batches if who == rank] for rank in (0, 1)}
    assert sizes[0][0] == sizes[1][0] == 20
    assert max(sizes[0]) == 30 and max(sizes[1]) == 50
    assert min(end - begin for begin, end, _ in batches if end < 5000) >= 8


@settings(max_examples=60)
@given(st.data())
def test_nothing_is_left_behind_however_speeds_change(data):
    """Speeds change at every batch, so any rank may seem the slowest."""
    size = data.draw(st.integers(1, 4))
    items = data.draw(st.integers(1, 300))
    drawn = st.floats(1e-3, 1e6)
    with pytest.MonkeyPatch.context() as patch:
        ranks = [
            (
                lambda count: count / data.draw(drawn),
                {"first": data.draw(st.integers(1, 50)), "least": data.draw(st.integers(1, 40)),
                 "speed": data.draw(st.one_of(st.just(0.0), drawn))},
            )
            for _ in range(size)
        ]  # fmt: skip
        end, taken = Job(patch, size).run(items, ranks)
    assert each_once(taken, items)
    assert math.isfinite(end)


@given(st.integers(0, 12), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_no_other_parts_by_speed_are_done_sooner(total, speeds):
    def end(parts):
        return max(Fraction(part, speed) for part, speed in zip(parts, speeds, strict=True))

    others = (one for one in itertools.product(range(total + 1), repeat=len(speeds)) if sum(one) == total)
    assert end(parts_by_speed(total, speeds)) == min(map(end, others))
