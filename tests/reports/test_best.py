"""The page of best algorithms: our search on one core next to the solvers that ran in turn with it."""

import pytest

from core.errors import UserError
from reports.comparison.best_algorithms import best_algorithms
from reports.pages import best

FAST = {"name": "fast-tsp", "version": "0.2.2", "solve_s": 1.0, "startup_s": 0.1, "time_limit_s": 1.0}
SLOW = {"name": "elkai", "cost": 100, "costs": [100], "solve_s": 8.0, "startup_s": 0.5, "time_to_cost_s": 8.0}
ABSENT = {"name": "concorde", "failure": "not found: build it"}


@pytest.fixture
def seeds(make_record):
    """Three seeds of a search that reaches 100 after 1, 2 and 4 s, with fast-tsp as good for the first two."""

    def make(**changes):
        runs = []
        for seed, (time, cost, reached) in enumerate([(1.0, 100, 0.25), (2.0, 100, 0.5), (4.0, 103, None)]):
            fast = FAST | {"cost": cost, "costs": [cost], "time_to_cost_s": reached}
            fields = {"workload": "tsp", "instance": "line", "evaluation_unit": "perturbations", "hash_scope": "moves"}
            fields |= {"best_cost": 100, "seed": seed, "parameters": {"target": 100}}
            fields |= {"details": {"optimum": 100, "reference_solvers": [fast, SLOW, ABSENT]}}
            history = {"history": [[0, 0, 0.0, 120], [3, 3, time / 2, 100]]}
            runs.append(make_record(times=[time], sampled=history, **(fields | changes)))
        return runs

    return make


def rows(work):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in str(best.make_table(work)).splitlines()[2:]]


def test_costs_and_times_are_medians_over_seeds(seeds):
    (work,) = best_algorithms(seeds())
    ours, fast, slow = rows(work)
    assert ours[:6] == ["onekernel", "3", "100 the optimum", "100", "2.00 s", "1.00 s"]
    assert fast[:7] == [
        "fast-tsp 0.2.2", "3", "100 the optimum", "103", "1.00 s", "375 ms in 2 of 3", "100 ms"
    ]  # fmt: skip
    assert slow[:6] == ["elkai", "3", "100 the optimum", "100", "8.00 s", "8.00 s"]
    assert best.verdict(work) == "Ahead of ours: fast-tsp 0.2.2, 2.67x as fast to our cost"
    assert work.missing == {"concorde": "not found: build it"}
    assert best.headline([work]) == "Ours has its cost first on 0 of 1 works; a solver is ahead on tsp on line"


def test_a_search_that_proves_is_compared_with_solvers_that_prove(seeds):
    (work,) = best_algorithms(seeds(hash_scope="result"))
    assert best.verdict(work) == "No solver reached our cost for most seeds, with a proof"
    runs = [run for run in seeds(hash_scope="result") if not run.details["reference_solvers"][1].update(proved=True)]
    (work,) = best_algorithms(runs)
    said = "Ours is 8.00x as fast to its cost as the best of the others that prove theirs, elkai"
    assert best.verdict(work) == f"{said}; fast-tsp 0.2.2 has that cost 2.67x as fast, without a proof"
    assert best.headline([work]) == "Ours has its cost first on 1 of 1 works"


def test_the_page_shows_every_work_and_names_the_solvers_that_are_missing(seeds, tmp_path):
    (file,) = best.write(best_algorithms(seeds()), tmp_path, "a command")
    text = file.read_text()
    assert "Made by `a command`." in text and "## tsp on line" in text and "- concorde: not found: build it." in text


def test_runs_of_several_cores_or_without_solvers_are_left_out(seeds, make_record, tmp_path):
    assert not best_algorithms([*seeds(backend="threads"), make_record()])
    with pytest.raises(UserError, match="no confirmed run on one core has reference solvers"):
        best.write([], tmp_path)
