"""Programs over ranks: they find and record what one process finds, and say a mistake once."""

from pathlib import Path

import pytest

import onekernel as ok
from tests.drivers import failing_ranks, on_ranks
from tests.drivers.on_ranks import ONE_OF_A_KIND, WORK
from tests.drivers.records import lines

EQUAL = ("best_cost", "best_index", "hash", "parameters", "instance_sha256", "verified")
SAME_WORK = ("aco", "qap", "ihc")
"""Programs with equal numbers of steps on any number of ranks."""
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")

    def record(name):
        if not (folder / f"{name}.jsonl").exists():
            on_ranks.main(folder, name)
        return lines(folder / f"{name}.jsonl")[0]

    return record


@pytest.mark.parametrize(
    ("ranks", "names"), [*ONE_OF_A_KIND.items(), *(pytest.param(size, tuple(WORK), marks=slow) for size in (2, 3))]
)
def test_ranks_find_what_one_process_finds(ranks, names, alone, mpirun, tmp_path):
    done = mpirun(ranks, Path(on_ranks.__file__), tmp_path, *names)
    assert done.returncode == 0, done.stderr
    for words in ("confirmed by the scorer", "% in communication"):
        assert done.stdout.count(words) == len(names)
    assert f"on {ranks} ranks, the first: cpu (" in done.stdout
    for name in names:
        single = alone(name)
        (several,) = lines(tmp_path / f"{name}.jsonl")
        assert several["ranks"] == ranks
        assert {key: several[key] for key in EQUAL} == {key: single[key] for key in EQUAL}, name
        assert 0 < several["repetitions"][0]["communication_share"] < 1
        if single["workload"] in SAME_WORK:
            assert several["evaluations"] == single["evaluations"], name
        for key in ("curve", "tour", "optimal_tours"):
            assert several["details"].get(key) == single["details"].get(key), name


@pytest.mark.parametrize("ranks", [2, 3])
@slow
def test_an_error_of_one_rank_is_raised_on_all_and_the_next_call_is_right(ranks, mpirun, tmp_path):
    (tmp_path / "lost").mkdir()
    (tmp_path / "bad").write_text("no record\n")
    done = mpirun(ranks, Path(failing_ranks.__file__), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [ok.run("qap", **failing_ranks.GOOD).hash] * ranks


@slow
def test_an_error_that_one_rank_alone_meets_ends_the_job_even_if_it_is_caught(mpirun):
    call = "try: ok.run('qap', seed=-RANKS.rank, **GOOD)\nexcept ok.UserError: pass"
    done = mpirun(2, "-c", f"from tests.drivers.failing_ranks import *\n{call}")
    message = "error (rank 1): seed=-1: expected an integer of at least 0\n"
    assert done.returncode == 2 and done.stderr.count(message) == 1


@pytest.mark.parametrize(
    ("driver", "arguments", "message"),
    [
        ("lcs", "--text AB BA --peers", "--peers on 2 ranks: expected one"),
        pytest.param("lcs", "none.fa none.fa", "none.fa: found no such file", marks=slow),
        pytest.param(
            "lcs", "half:300 --mapping published", "--mapping published computes a table on one device", marks=slow
        ),
    ],
)
def test_a_mistake_is_said_once(mpirun, driver, arguments, message):
    done = mpirun(2, "-m", f"drivers.{driver}", *arguments.split(), "--backend", "cpu")
    assert done.returncode == 2
    assert done.stderr.count(f"error: {message}") == 1
    assert "Traceback" not in done.stderr
