"""Binding of the ranks of a host to separate cores."""

import os
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.launch.resources import count_cores
from cluster.mpi.affinity import AffinityRequest, allowed_processors, assign_cores, format_cores
from core.errors import UserError

SIXTEEN = tuple((number,) for number in range(16))
HALVES = ((0, 4), (1, 5), (2, 6), (3, 7))
"""Four cores of two threads each, as Linux numbers them on most machines."""


def test_ranks_of_a_host_take_its_cores_in_turn():
    places = [
        AffinityRequest("a", SIXTEEN, 4),
        AffinityRequest("b", SIXTEEN, 8),
        AffinityRequest("a", SIXTEEN, 2),
        AffinityRequest("a", SIXTEEN, 4),
    ]
    assert assign_cores(places) == [[0, 1, 2, 3], [*range(8)], [4, 5], [6, 7, 8, 9]]


def test_ranks_have_whole_cores_as_long_as_there_are_enough():
    adjacent = ((0, 1), (2, 3), (4, 5), (6, 7))
    assert assign_cores([AffinityRequest("a", HALVES, 1)] * 4) == [[0], [1], [2], [3]]
    assert assign_cores([AffinityRequest("a", adjacent, 2)] * 2) == [[0, 2], [4, 6]]
    assert assign_cores([AffinityRequest("a", HALVES, 4)] * 2) == [[0, 4, 1, 5], [2, 6, 3, 7]], (
        "no core is that of two ranks"
    )


def test_two_threads_of_a_core_are_told_by_what_linux_says_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    for number, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    assert allowed_processors(tmp_path) == ((0, 2), (1, 3)) and count_cores(tmp_path) == 2
    assert allowed_processors(tmp_path / "nothing said") == ((0,), (1,), (2,), (3,))


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"), st.sampled_from([HALVES, ((8,), (10, 11), (14,)), SIXTEEN[12:]]), st.integers(1, 6)
        ),
        max_size=8,
    )
)
def test_nobody_has_anothers_core_or_too_few_or_one_he_may_not_use(drawn):
    places = [AffinityRequest(*one) for one in drawn]
    room = {(host, allowed): sum(map(len, allowed)) for host, allowed, _ in places}
    for host, allowed, wanted in places:
        room[host, allowed] -= wanted
    if min(room.values(), default=0) < 0:
        with pytest.raises(
            UserError, match=r"--pin-cores: found \d+ cores? for \d+ ranks? of a host that want \d+ together"
        ):
            assign_cores(places)
        return
    assigned = assign_cores(places)
    assert [len(one) for one in assigned] == [place.wanted for place in places]
    assert all(set(one) <= set(chain(*place.allowed)) for one, place in zip(assigned, places, strict=True))
    taken = [(place.host, core) for one, place in zip(assigned, places, strict=True) for core in one]
    assert len(taken) == len(set(taken))


@pytest.mark.parametrize(("cores", "words"), [([], ""), ([3], "3"), ([0, 1, 2, 5, 7, 8], "0-2,5,7-8")])
def test_numbers_of_cores_are_written_as_linux_does(cores, words):
    assert format_cores(cores) == words


PROGRAM = """
    import os, threading
    from cluster import default_communicator
    from cluster.mpi.affinity import pin_to_own_cores

    ranks = default_communicator()
    expected = [[core] for core in sorted(os.sched_getaffinity(0))[:2]]
    assert pin_to_own_cores(ranks, 1) == expected
    seen = []
    thread = threading.Thread(target=lambda: seen.append(sorted(os.sched_getaffinity(0))))
    thread.start()
    thread.join()
    assert pin_to_own_cores(ranks, 1) == expected
    assert seen == [sorted(os.sched_getaffinity(0))] == [expected[ranks.rank]]
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system keeps no process to cores")
def test_each_of_two_ranks_and_its_threads_run_on_cores_of_their_own(mpirun, program):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core here")
    done = mpirun(2, program(PROGRAM))
    assert done.returncode == 0, done.stderr
