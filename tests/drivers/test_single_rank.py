"""A run that the first rank does alone is decided again while it runs; all ranks continue it with the same hash."""

from itertools import accumulate, repeat
from types import SimpleNamespace

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from cluster import Solo
from cluster.mpi.proxies import TimedCommunicator
from core.search.checkpoint import CheckpointArray, Checkpointer, take_checkpoint
from drivers.runs import single_rank
from drivers.runs.parallel_benefit import ParallelBenefitCheck, SingleRankVerdict
from drivers.runs.repetitions import Repetitions
from drivers.runs.single_rank import PausingCheckpointer, SearchPaused, SingleRankRepetition
from drivers.runs.workload_main import parse_options
from drivers.workload.declaration import PreparedRun
from drivers.workload.registry import get_workload
from reports.records.files import load
from tests.drivers.small_runs import Clock
from tests.thread_ranks import on_ranks, twin

ALONE = SingleRankVerdict(2.0, 1.0, 4)
PPP = ("ppp", "--instance", "9-11", "--iterations", "200", "--walks", "1")
ANTS = ("aco", "--instance", "uniform:12:seed=1", "--ants", "6", "--iterations", "40")


def repeated(arguments, size, verdicts, record, repeats=1):
    """Record of a run over thread ranks with these successive outcomes of rehearsals."""
    workload = get_workload(arguments[0])
    words = [*arguments[1:], "--backend", "cpu", "--no-progress", "--repeats", str(repeats), "--record", str(record)]

    def act(ranks):
        timed, backend = TimedCommunicator(ranks), twin(CpuBackend(CpuBackend.devices()[0]))
        task = workload.load(parse_options(workload, "", words), size)
        search = workload.search(backend, timed, task.problem, task.options)
        run = PreparedRun(task.options, task.problem, task.source, search, timed)
        sharing = ParallelBenefitCheck(
            workload, run, lambda: workload.search(backend, Solo(), task.problem, task.options)
        )
        sharing.before = lambda: first(sharing)
        said = iter(verdicts)
        sharing.rounds = lambda together_s: next(said)
        return Repetitions(workload, run, {}, sharing).repeat()

    def first(sharing):
        sharing.is_settled, sharing.steps = True, 4
        if sharing.ranks.size > 1:
            sharing.has_own()
            sharing.decide(None)

    assert on_ranks(size, act) == [0] * size
    (line,) = load(str(record))
    return line


@pytest.fixture(autouse=True)
def pauses_soon(monkeypatch):
    monkeypatch.setattr(single_rank, "FIRST_PAUSE_S", 0.0)


@pytest.mark.parametrize("arguments", [PPP, ANTS], ids=["tabu search", "ants"])
def test_a_noisy_rehearsal_is_put_right_and_changes_no_hash(arguments, tmp_path, capsys):
    expected = repeated(arguments, 1, [], tmp_path / "one.jsonl")
    record = repeated(arguments, 2, [ALONE, ALONE, None], tmp_path / "two.jsonl", repeats=2)
    assert (record.hash, record.best_cost) == (expected.hash, expected.best_cost)
    said = record.details["single_rank"]
    assert said["all_ranks_s"] == 2.0 and said["shared_after_s"] > 0
    assert len(record.repetitions) == 2
    assert all(seconds > 0 for sample in record.repetitions for seconds in sample.rank_s)
    assert "s alone, all 2 ranks continue" in capsys.readouterr().err


def test_a_right_rehearsal_is_confirmed_and_the_first_rank_goes_on_alone(tmp_path, capsys):
    expected = repeated(PPP, 1, [], tmp_path / "one.jsonl")
    record = repeated(PPP, 2, repeat(ALONE), tmp_path / "two.jsonl")
    assert record.hash == expected.hash
    assert "shared_after_s" not in record.details["single_rank"]
    assert record.repetitions[0].rank_s[1] == 0
    assert capsys.readouterr().err.count("note:") == 1


# --- pauses, in virtual time ---


@pytest.fixture
def clock(monkeypatch):
    stopped = Clock()
    monkeypatch.setattr(single_rank, "time", stopped)
    monkeypatch.setattr(single_rank, "FIRST_PAUSE_S", 5.0)
    return stopped


class Asked:
    """A constant decision, and the times of requests for it."""

    def __init__(self, clock, may_change=True):
        self.clock, self.asked, self.ranks, self.may_change = clock, [], Solo(), may_change

    def again(self, seconds):
        self.asked.append(seconds)
        self.clock.now += 0.1
        return False


def worked(clock, seconds):
    def once(run):
        earlier = take_checkpoint(run.checkpointer, lambda state: [CheckpointArray("done", np.int64, ())])
        done = 0 if earlier is None else int(earlier["done"])
        while done < seconds:
            done, clock.now = done + 1, clock.now + 1.0
            if run.checkpointer is not None and run.checkpointer.is_due():
                run.checkpointer.keep(run.ranks, {"done": np.array(done)})
        return done

    return once


@pytest.mark.parametrize(
    ("seconds", "limit_s", "may_change", "gaps"),
    [
        (3000, None, True, [5.0, 20.1, 80.1, 320.1, 600.1, 600.1, 600.1, 600.1]),
        (60, 60.0, True, [5.0, 20.1]),  # none near the end of a time limit
        (100, None, False, []),
        (4, None, True, []),
    ],
)
def test_pauses_are_ever_further_apart(clock, seconds, limit_s, may_change, gaps):
    asked = Asked(clock, may_change)
    asked.run = PreparedRun(SimpleNamespace(seconds=limit_s), None, "", None, Solo())
    assert SingleRankRepetition(asked, None).search(worked(clock, seconds)) == seconds
    assert asked.asked == pytest.approx([*accumulate(gaps)])


def test_the_run_s_own_keeper_gets_its_checkpoints(clock, monkeypatch):
    written = []
    inner = Checkpointer(lambda state: written.append(int(state["done"])), every_s=0.0)
    pausing = PausingCheckpointer(inner, None, 2.0)
    assert pausing.is_due()
    pausing.keep(Solo(), {"done": 1})
    clock.now = 2.0
    with pytest.raises(SearchPaused) as pause:
        pausing.keep(Solo(), {"done": 2})
    assert written == [1, 2] and pause.value.state["done"] == 2
