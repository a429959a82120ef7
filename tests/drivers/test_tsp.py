"""Local search for tours: what it does unless it is told otherwise, and that comparisons and papers say what they do."""

import pytest

from core.problems.tsp_moves import TspTour
from drivers import tsp
from drivers.compare_options import asked_of, left_open
from drivers.workloads import named
from reports.paper_file import of_workload

DRIVER = tsp


def test_without_options_tours_are_searched_by_iterated_2_opt():
    assert (tsp.TspOptions().algorithm, tsp.TspOptions().neighbourhood) == ("ils", "2opt")


def test_a_search_with_defaults_ends_near_the_optimum(drive, shared_data):
    problem = TspTour.load("kroA100", str(shared_data))
    code, said, _ = drive("--instance", "kroA100", "--data", shared_data, "--iterations", "2000", "--no-progress")
    assert code == 0
    cost = int(said.partition("best cost ")[2].split()[0])
    assert problem.optimum <= cost < 1.05 * problem.optimum


@pytest.mark.parametrize("problem", [None, TspTour.load("uniform:20:seed=1")], ids=["none named", "20 cities"])
def test_comparisons_are_of_the_papers_search(problem):
    workload = named("tsp")
    asked = asked_of(workload, left_open(workload, [], problem))
    assert (asked.algorithm, asked.neighbourhood) == ("tabu", "exchange2")


def test_every_published_table_of_tours_names_its_search():
    exhibits = [one for paper in of_workload("tsp") for one in paper.exhibits if "tsp" in one.workloads()]
    tables = [exhibit for exhibit in exhibits if not exhibit.of]
    assert len(tables) >= 2
    for exhibit in tables:
        assert exhibit.options["algorithm"] == "tabu" and exhibit.options["neighbourhood"] == "exchange2"
