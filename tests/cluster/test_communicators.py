"""Every method of a communicator, against plain Python on lists; and what it refuses."""

import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from cluster import Solo, communicator
from cluster.communicators import LaunchError

CONVERSATION = Path(__file__).with_name("conversation.py")
MOST = 2**64 - 1
EDGES = [-(2**63), -1, 0, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, MOST - 1, MOST]


def words_of(ranks):
    """What each rank says: values with many ties, at the edges of 64 bits, and beyond what a double holds."""
    dice = random.Random(ranks)
    everyone = range(ranks)
    rounds = [[(dice.choice([5, 6]), dice.randrange(2**64)) for _ in everyone] for _ in range(8)]
    rounds += [[(dice.choice(EDGES), dice.choice([0, 2**32, MOST])) for _ in everyone] for _ in range(8)]
    rounds += [[(2**63 + rank, ranks - rank) for rank in everyone], [(7, 9 - rank) for rank in everyone]]
    return [
        {
            "name": f"rank {rank}",
            "pairs": [around[rank] for around in rounds],
            "summand": dice.randrange(2**63, 2**70),
            "table": [dice.randrange(-(2**20), 2**20) for _ in range(6)],
        }
        for rank in everyone
    ]


def expected_by_python(words):
    """The same reductions over plain lists of Python integers."""
    ranks = range(len(words))
    total = sum(word["summand"] for word in words)
    columns = [sum(column) for column in zip(*(word["table"] for word in words), strict=True)]
    return {
        "minloc": [list(min(map(tuple, pairs))) for pairs in zip(*(w["pairs"] for w in words), strict=True)],
        "sum": total,
        "wrapped": [total % 2**64, "uint64"],
        "table": [[columns[:3], columns[3:]], "int32"],
        "grid": [[[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]], "int16"],
        "empty": [0, 5],
        "joined": [k for rank in ranks for k in range(3 * rank)],
        "object": {"from": "rank 0"},
    }


def check(run, ranks, path):
    words = words_of(ranks)
    path.write_text(json.dumps(words))
    done = run(CONVERSATION, path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["size"] == ranks
    assert said["names"] == [f"rank {rank}" for rank in range(ranks)]
    for rank, heard in enumerate(said["heard"]):
        assert heard["passed"] == [[7 + rank] * 3] * 2
        assert heard.items() >= expected_by_python(words).items()
    return said


@pytest.mark.parametrize("ranks", [3, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 2, 7))])
def test_every_rank_hears_what_plain_python_computes(ranks, mpirun, tmp_path):
    said = check(lambda *arguments: mpirun(ranks, *arguments), ranks, tmp_path / "words.json")
    assert sorted(heard["local_rank"] for heard in said["heard"]) == list(range(ranks))


def test_a_process_alone_hears_the_same_without_mpi(plain, tmp_path):
    said = check(plain, 1, tmp_path / "words.json")
    assert not said["heard"][0]["mpi"]


def test_a_process_alone_has_nobody_to_send_to():
    with pytest.raises(ValueError, match="rank 1 of a process alone"):
        Solo().send(np.zeros(1), 1)
    with pytest.raises(ValueError, match="rank 0 of a process alone"):
        Solo().receive(np.zeros(1), 0)


def test_a_sum_alone_does_not_share_memory():
    summand = np.arange(3)
    Solo().sum(summand)[0] = 7
    assert summand[0] == 0


@pytest.mark.parametrize("summand", [0.5, np.float32(1), np.ones(3), True, "3", np.array([True])])
def test_only_integers_are_added_up(summand):
    with pytest.raises(TypeError, match="integers"):
        Solo().sum(summand)


@pytest.mark.parametrize("pair", [(-(2**63) - 1, 0), (2**64, 0), (0, -1), (0, 2**64)])
def test_a_pair_that_does_not_fit_64_bits_is_refused(pair):
    with pytest.raises(OverflowError, match=str(next(part for part in pair if part))):
        Solo().minloc(*pair)


def test_two_mpis_that_do_not_know_each_other_are_refused(environment, plain, tmp_path):
    pytest.importorskip("mpi4py")
    environment["TMPDIR"] = str(tmp_path)  # an MPI that is aborted leaves its folder
    environment["PMI_SIZE"] = "4"
    done = plain("-c", "from cluster import communicator; communicator()")
    assert "the launcher started 4 ranks" in done.stderr
    assert done.returncode != 0


def test_a_launcher_without_mpi4py_is_answered_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(LaunchError, match="pip install") as caught:
        communicator()
    assert caught.value.exit_code == 2
