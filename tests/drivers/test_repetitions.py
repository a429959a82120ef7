"""What is the same for the repetitions of every workload: their times over ranks, and the line's words."""

import argparse
from types import SimpleNamespace

import pytest

from drivers.repetitions import Repetitions, Times, over_ranks, turn
from reports.schema import Sample


def device(index, kind="gpu", driver="550.54"):
    return SimpleNamespace(index=index, kind=kind, driver=driver)


class Nothing(Repetitions):
    """Repetitions of no work."""

    workload = "nothing"
    hash_covers = "answer"
    units = 1

    def run(self, advance):
        return "found"


def repetitions(gathered):
    """Repetitions on the first of several ranks; `gathered` makes what all of them spent from what it spent."""
    timings = SimpleNamespace(compile_s=0.0, transfer_s=0.0, kernel_s=0.0)
    search = SimpleNamespace(backend=SimpleNamespace(timings=timings))
    ranks = SimpleNamespace(rank=0, size=2, barrier=lambda: None, gather=gathered)
    return Nothing(argparse.Namespace(progress=False), ranks, SimpleNamespace(name="none"), search)


def test_the_slowest_rank_is_the_one_that_ran_longest_and_not_a_difference_of_maxima():
    _, times = repetitions(lambda own: [(5.0, 0.1, 0.8, 6.0), (0.0, 0.2, 1.5, 2.0)]).measure()
    assert times.running_s == 2.0
    assert times.compile_s == 5.0
    assert (times.transfer_s, times.kernel_s) == (0.2, 1.5)
    assert times.total_s == 7.0  # 5 s until all were compiled, then 2 s until the last was done


def test_parts_of_a_time_are_parts_of_one_ranks_time():
    """The longest transfer and the longest kernel may be two ranks', and together longer than either ran."""
    times = over_ranks([Times(0.0, 0.9, 0.1, 1.0), Times(0.0, 0.1, 1.0, 1.2)])
    assert times.transfer_s + times.kernel_s <= times.running_s == 1.2


@pytest.mark.parametrize("spent", [(0.0, 0.0, 0.0, 0.0), (2.0, 0.5, 1.0, 4.0)])
def test_the_times_of_one_rank_are_its_own(spent):
    assert over_ranks([Times(*spent)]) == spent
    assert Sample(*over_ranks([Times(*spent)])).running_s == spent[3] - spent[0]


def test_a_rank_that_is_not_the_first_keeps_its_own_times():
    outcome, times = repetitions(lambda own: None).measure()
    assert outcome == "found"
    assert times.compile_s == 0.0 and times.total_s == times.running_s > 0.0


@pytest.mark.parametrize(("local_ranks", "hosts"), [([0], 1), ([0, 1, 2], 1), ([0, 1, 0, 1, 0], 3), (None, 1)])
def test_a_run_over_several_hosts_says_so(monkeypatch, local_ranks, hosts):
    """Their cores together decide what is oversubscribed, and beside which published number of cores a run stands."""
    several = repetitions(lambda own: local_ranks)
    several.ranks.local_rank, several.ranks.bcast = 0, lambda done: done
    several.options.repeats, several.options.record = 0, None
    several.repeat()
    several.search.backend.name, several.options.seed, several.options.device = "cpu", 0, "0"
    several.instance.sha256 = "ab" * 32
    monkeypatch.setattr(Nothing, "parameters", {})
    monkeypatch.setattr(Nothing, "ways", {})
    assert several.identified()["environment"]["hosts"] == hosts


def test_ranks_of_a_host_take_turns_over_the_devices_of_the_chosen_ones_kind():
    devices = [device("0"), device("1", "cores"), device("2"), device("3")]
    assert [turn(devices, "0", rank) for rank in range(5)] == ["0", "2", "3", "0", "2"]
    assert [turn(devices, "3", rank) for rank in range(3)] == ["3", "0", "2"]
    assert [turn(devices, "1", rank) for rank in range(3)] == ["1", "1", "1"]


def test_two_drivers_of_one_processor_are_not_two_processors():
    devices = [device("0", "cores", "PoCL 3.0"), device("1", "cores", "Intel 2025")]
    assert [turn(devices, "1", rank) for rank in range(3)] == ["1", "1", "1"]


@pytest.mark.parametrize("named", ["7", "H200"])
def test_what_is_no_index_of_a_device_is_left_to_the_registry(named):
    assert turn([device("0"), device("1")], named, 1) == named


@pytest.mark.parametrize(
    ("digest", "said"), [(0xBEEF, "hash 000000000000beef of the answer"), ("0123456789abcdef", "hash 0123456789abcdef")]
)
def test_a_hash_is_printed_with_what_it_is_made_of(digest, said):
    assert repetitions(lambda own: None).hashed(digest).startswith(said)
