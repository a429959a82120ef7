"""Runs from Python: what comes back, that nothing is printed, and how a run is ended from outside."""

import pickle
import signal

import numpy as np
import pytest

import onekernel as ok
from core.errors import UserError
from core.tours import instance
from drivers.qap import main as qap
from reports.records.files import load
from tests.core.local_search.weighted import ONE_OF_1770, Weighted


@pytest.fixture(scope="module")
def assignment():
    return ok.Qap("taillard:8:seeds=1,2")


def test_a_result_says_what_a_program_prints(assignment, capsys):
    result = ok.minimize(assignment, ok.TabuSearch(), backend="cpu", iterations=200, seed=3)
    assert capsys.readouterr() == ("", "")
    qap(["--instance", assignment.name, "--backend", "cpu", "--iterations", "200", "--seed", "3"])
    said = capsys.readouterr().out
    assert f"best cost {result.cost}" in said and f"hash {result.hash}" in said
    assert f"best cost {result.cost}" in str(result) and "confirmed by the scorer" in str(result)
    assert result.confirmed is True and assignment.cost(result.solution) == result.cost
    assert result.evaluations == 200 * 28 and result.unit == "neighbours"
    assert (result.seed, result.backend, result.ranks, result.interrupted) == (3, "cpu", 1, False)
    assert result.seconds > 0 and result.history is None


def test_several_seeds_give_several_results(assignment):
    results = ok.minimize(assignment, backend="cpu", iterations=20, seeds=range(3), history=True)
    assert [run.seed for run in results] == [0, 1, 2] and isinstance(results, ok.Results)
    assert results.cost == min(results.costs) and results.confirmed
    assert np.array_equal(results.solution, results.best.solution)
    assert results.evaluations == sum(run.evaluations for run in results)
    alone = [ok.minimize(assignment, backend="cpu", iterations=20, seed=seed) for seed in range(3)]
    assert [run.hash for run in alone] == [run.hash for run in results] and isinstance(alone[0], ok.Result)
    assert results.hash != results[0].hash and results[1:].costs == results.costs[1:]


def test_a_record_is_that_of_the_program(assignment, tmp_path):
    file = tmp_path / "runs.jsonl"
    for _ in range(2):  # a record holds no solution, so a run is made again
        result = ok.minimize(assignment, ok.TabuSearch(tenure=4), backend="cpu", iterations=20, record=file)
    (record,) = load(file)
    assert record.best_cost == result.cost and len(record.repetitions) == 2 and record.verified
    assert record.parameters["tenure"] == 4


def test_a_record_has_the_digest_of_the_data_that_were_searched(tmp_path):
    problem = Weighted(range(9))
    for name in ("before", "after"):
        ok.minimize(problem, backend="cpu", iterations=5, record=tmp_path / name)
        problem.data.weights[3] = 7
    before, after = (load(tmp_path / name)[0].instance_sha256 for name in ("before", "after"))
    weights = list(range(9))
    assert before == Weighted(weights).sha256
    weights[3] = 7
    assert after == Weighted(weights).sha256 != before


def test_any_workload_runs_by_name_and_of_values_the_largest_is_the_best():
    result = ok.run("ihc", instance="uniform:20:seed=1", climbers=10, backend="cpu")
    assert result.confirmed and result.unit == "moves" and sorted(result.solution) == list(range(20))
    result = ok.run("knapsack", items=8, capacity=1000, seeds=range(3), backend="cpu")
    assert len({*result.costs}) > 1 and result.cost == max(result.costs)


def test_a_callback_is_told_and_ends_the_search(assignment):
    seen = []
    result = ok.minimize(
        assignment, backend="cpu", iterations=10**9, callback=lambda progress: seen.append(progress) or len(seen) == 2
    )
    assert result.interrupted and result.confirmed and len(seen) == 2
    assert seen[0].done < seen[1].done < 10**9 and seen[1].cost >= result.cost


def test_ctrl_c_returns_the_best_so_far(assignment, capsys):
    before = signal.getsignal(signal.SIGINT)
    results = ok.minimize(
        assignment, backend="cpu", iterations=10**9, seeds=[0, 1], callback=lambda _: signal.raise_signal(signal.SIGINT)
    )
    assert results.interrupted and results.confirmed and len(results) == 1
    assert "stopping with the best solution so far" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_twice_interrupts(assignment):
    def impatient(_):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        ok.minimize(assignment, backend="cpu", iterations=10**9, callback=impatient)


def test_a_plot_holds_the_history(assignment):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    results = ok.minimize(assignment, backend="cpu", iterations=50, seeds=[4, 5], history=True)
    over_evaluations, over_seconds = results.plot()
    lines = [line for line in over_evaluations.lines if len(line.get_xdata()) > 2]
    assert [line.get_ydata()[len(run.history) - 1] for line, run in zip(lines, results, strict=True)] == results.costs
    assert {text.get_text() for text in over_seconds.get_legend().get_texts()} >= {"seed 4", "seed 5"}
    assert results[0].plot()[0].get_xlabel() == "neighbours"
    pyplot.close("all")
    with pytest.raises(UserError, match="expected a run with history=True"):
        ok.minimize(assignment, backend="cpu", iterations=5).plot()


def wrong_for_one():
    return Weighted(range(60), **ONE_OF_1770)


def test_what_the_scorer_contradicts_is_raised_and_not_returned(tmp_path):
    file, problem = tmp_path / "runs.jsonl", wrong_for_one()
    options = {"neighbourhood": "flip2", "backend": "cpu", "iterations": 60, "record": file}
    with pytest.raises(
        ok.Unconfirmed, match=r"^weighted:60, tabu by flip2, evaluation only: .* costs -\d+, but `cost`"
    ) as e:
        ok.minimize(problem, **options)
    assert e.value.cost == problem.cost(e.value.solution) != e.value.claimed < 0
    with pytest.raises(ok.Unconfirmed):
        ok.minimize(problem, seeds=[1, 2], **options)
    records = load(file)
    assert [(record.seed, record.verified) for record in records] == [(0, False), (1, False)]
    assert records[0].best_cost == e.value.claimed
    again = pickle.loads(pickle.dumps(e.value))
    assert (str(again), again.claimed, again.cost) == (str(e.value), e.value.claimed, e.value.cost)
    assert again.solution.tolist() == e.value.solution.tolist()


@pytest.mark.slow
def test_an_error_of_a_worker_reaches_the_caller_with_its_solution():
    problem = wrong_for_one()
    with pytest.raises(ok.Unconfirmed) as e:
        ok.minimize(problem, neighbourhood="flip2", iterations=60, seeds=range(2), workers=2)
    assert e.value.cost == problem.cost(e.value.solution) != e.value.claimed < 0


def test_every_workload_raises_what_its_scorer_contradicts(monkeypatch):
    monkeypatch.setattr(instance.TspInstance, "tour_length", lambda self, tour: 3)
    with pytest.raises(
        ok.Unconfirmed, match=r"^uniform:20:seed=1:side=10000, ihc: found \d+, but the scorer finds length 3: "
    ) as e:
        ok.run("ihc", instance="uniform:20:seed=1", climbers=10, backend="cpu")
    assert e.value.cost == 3 < e.value.claimed and sorted(e.value.solution) == list(range(20))


SCRIPT = """
import onekernel as ok
from tests.drivers.test_minimize import wrong_for_one
found = ok.minimize(ok.Qap("taillard:8:seeds=1,2"), backend="cpu", iterations=50)
print("found", found.cost, found.hash, found.ranks)
try:
    ok.minimize(wrong_for_one(), neighbourhood="flip2", backend="cpu", iterations=60, seeds=[0, 1])
except ok.Unconfirmed as error:
    print("unconfirmed", error.claimed, error.cost)
"""


def test_every_rank_is_given_the_result(mpirun, tmp_path, assignment):
    (tmp_path / "script.py").write_text(SCRIPT)
    run = mpirun(2, tmp_path / "script.py")
    alone = ok.minimize(assignment, backend="cpu", iterations=50)
    assert run.returncode == 0, run.stderr
    lines, unconfirmed = (sorted(row for row in run.stdout.splitlines() if row.startswith(word)) for word in ("f", "u"))
    assert lines == [f"found {alone.cost} {alone.hash} 2"] * 2
    assert len(unconfirmed) == 2 and len(set(unconfirmed)) == 1
