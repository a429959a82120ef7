"""The driver of ant colony optimisation: what it prints, records and refuses; ranks change nothing but the speed."""

from core.instances import tsplib
from drivers import aco
from drivers.runs.workload_main import parse_options
from drivers.workload.history import improvement_points
from tests.drivers.records import cities_of, length_of, lines

DRIVER = aco
SMALL = ["--instance", "uniform:30:seed=1", "--backend", "cpu", "--ants", "24", "--iterations", "6", "--no-progress"]
MMAS = ["--variant", "mmas"]


# --- what comes out ---


def test_the_saved_tour_is_as_long_as_claimed_and_the_gap_is_named(drive, shared_data, tmp_path):
    tour, drawing, record = tmp_path / "best.tour", tmp_path / "best.svg", tmp_path / "r.jsonl"
    files = ["--tour", tour, "--svg", drawing, "--record", record]
    _, said, _ = drive("--instance", "eil51", "--data", shared_data, *SMALL[2:], *files)
    (best,) = lines(record)
    assert sorted(cities_of(tour)) == list(range(51))
    assert length_of(tsplib.load(shared_data / "tsplib" / "eil51.tsp").distances, cities_of(tour)) == best["best_cost"]
    # 426 is TSPLIB's optimum of eil51.
    assert f" ({100 * (best['best_cost'] / 426 - 1):.2f} % above the optimum 426)" in said
    assert drawing.read_text().startswith("<svg")


def test_a_tour_that_colonies_take_over_is_still_its_finder_s(drive, tmp_path):
    exchanging = [*MMAS, "--colonies", "4", "--exchange", "2"]
    for seed in range(3):
        drive(*SMALL, *exchanging, "--ants", "3", "--seed", seed, "--record", tmp_path / "r.jsonl")
    for record in lines(tmp_path / "r.jsonl"):
        assert record["details"]["improvements"][-1] == [record["details"]["best_iteration"], record["best_cost"]], (
            record["seed"]
        )


def test_another_seed_and_another_parameter_make_other_tours(drive, tmp_path):
    for changed in ([], ["--seed", "1"], ["--rho", "0.5"], ["--alpha", "2"], ["--beta", "5"], ["--candidates", "5"]):
        drive(*SMALL, *changed, "--record", tmp_path / "r.jsonl")
    assert len({record["hash"] for record in lines(tmp_path / "r.jsonl")}) == 6


def test_a_curve_keeps_the_improvements_and_of_very_many_the_ends_and_some_between():
    assert improvement_points([9, 9, 7, 8, 7, 3]) == [[0, 9], [2, 7], [5, 3]]
    falling = list(range(1000, 0, -1))
    points = improvement_points(falling, most=10)
    assert len(points) == 10
    assert (points[0], points[-1]) == ([0, 1000], [999, 1])
    assert all(falling[iteration] == length for iteration, length in points)
    assert len({iteration for iteration, _ in points}) == 10


# --- when it stops ---

UNLIMITED = [one for one in SMALL if one not in ("--iterations", "6")]


def test_the_time_ends_a_run_that_has_no_number_of_iterations(drive, tmp_path):
    code, said, _ = drive(*UNLIMITED, "--seconds", "0.2", "--record", tmp_path / "r.jsonl")
    (record,) = lines(tmp_path / "r.jsonl")
    assert code == 0 and ", 0.2 s, " in said
    assert record["parameters"]["iterations"] is None and record["parameters"]["seconds"] == 0.2
    assert record["evaluations"] % (24 * 30 * 30) == 0 < record["evaluations"]
    assert 0.2 <= record["repetitions"][0]["total_s"] - record["repetitions"][0]["compile_s"] < 20


def test_the_first_iteration_that_reaches_the_target_ends_a_run(drive, tmp_path):
    _, said, _ = drive(*UNLIMITED, "--iterations", "50", "--record", tmp_path / "whole.jsonl")
    (whole,) = lines(tmp_path / "whole.jsonl")
    _, target = whole["details"]["improvements"][1]
    code, said, _ = drive(*UNLIMITED, "--target", target, "--repeats", "2", "--record", tmp_path / "r.jsonl")
    (record,) = lines(tmp_path / "r.jsonl")
    assert code == 0 and f", 100 iterations, until length {target}, " in said
    assert record["parameters"]["target"] == target
    assert (record["details"]["best_iteration"], record["best_cost"]) == tuple(whole["details"]["improvements"][1])
    assert record["evaluations"] == (record["details"]["best_iteration"] + 1) * 24 * 30 * 30
    assert "target" not in whole["parameters"] and "seconds" not in whole["parameters"]


# --- what is chosen where nothing is said ---


def test_a_run_without_options_is_short_and_has_the_engine_s_own_settings():
    from core.ant_colony import STRATEGIES, Settings

    options = parse_options(aco.ACO, "", [])
    assert options.settings() == Settings()
    assert (options.settled().iterations, options.backend, options.instance) == (100, "auto", None)
    assert options.strategy in STRATEGIES
