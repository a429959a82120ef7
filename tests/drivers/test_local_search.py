"""The drivers of local search: what they print, record and refuse, and that ranks change nothing but the speed."""

from types import SimpleNamespace

import numpy as np
import pytest

from backends.cuda.backend import CudaBackend
from core.qap import qaplib
from core.run.stop import Target
from core.tours.problem import TspTour
from drivers import ppp, qap, tsp
from drivers.aco import AntOptions
from drivers.experiments.options import workload_options
from drivers.experiments.presets.compare_options import default_arguments
from drivers.options.declaration import Options
from drivers.options.local_search import DEFAULT_WALKS, ITERATIONS, SearchOptions
from drivers.runs import device_selection
from drivers.runs.workload_main import parse_options
from drivers.workload.registry import get_workload
from reports.records.files import load
from tests.drivers.records import lines

DRIVER = qap
LOCAL_SEARCHES = ("qap", "ppp", "tsp", "weierstrass")
SMALL = ["--instance", "taillard:9:seeds=1,2", "--backend", "cpu", "--iterations", "200", "--no-progress"]


# --- what comes out ---


def test_the_gap_to_the_best_known_cost_is_named(drive):
    _, said, _ = drive("--instance", "tai12a", *SMALL[2:])
    # QAPLIB's best known value of tai12a.
    assert "(the best known)" in said or "% above the best known 224416)" in said


def test_the_solution_file_holds_what_the_record_claims(drive, tmp_path):
    drive(*SMALL, "--solution", tmp_path / "best.txt", "--record", tmp_path / "r.jsonl")
    permutation = np.loadtxt(tmp_path / "best.txt", dtype=int)
    assert sorted(permutation) == list(range(9))
    instance = qaplib.load("taillard:9:seeds=1,2")
    cost = int((instance.flows * instance.distances[np.ix_(permutation, permutation)]).sum())
    assert cost == lines(tmp_path / "r.jsonl")[0]["best_cost"]


def test_every_algorithm_and_criterion_gives_a_confirmed_result(drive):
    for arguments in (
        "--algorithm hill",
        "--algorithm first --restart 1",
        "--algorithm ils --strength 2",
        "--algorithm vns --neighbourhood exchange2,exchange3",
        "--algorithm annealing --temperature 50 --cooling 0.9 --plateau 10 --batch 4",
        "--patience 3",
    ):
        code, said, _ = drive(*SMALL, *arguments.split())
        assert code == 0
        assert said.endswith(", confirmed by the scorer\n")


@pytest.mark.parametrize("kind", [SearchOptions, AntOptions])
def test_a_target_of_zero_is_a_target(kind):
    assert kind(target=0).chosen_stop() == Target(0)


# --- what is refused ---


def test_tours_beyond_32_bits_are_refused_and_nothing_is_written(drive, tmp_path):
    """The start is short enough, and a shaken tour exceeds 2^31."""
    distances = np.triu(np.where(np.random.default_rng(7).random((14, 14)) < 0.3, 357_000_000, 1), 1)
    rows = "\n".join(" ".join(map(str, row)) for row in distances + distances.T)
    (tmp_path / "far.tsp").write_text(
        "NAME: far\nTYPE: TSP\nDIMENSION: 14\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
        f"EDGE_WEIGHT_SECTION\n{rows}\nEOF\n"
    )
    files = [tmp_path / name for name in ("r.jsonl", "best.txt", "best.tour")]
    wanted = ("--record", files[0], "--solution", files[1], "--tour", files[2])
    asked = ("--algorithm", "ils", "--strength", "250", "--neighbourhood", "exchange2", "--iterations", "500")
    code, _, error = drive(
        "--instance", tmp_path / "far.tsp", "--backend", "cpu", "--seed", "2", *asked, *wanted, driver=tsp
    )
    assert code == 2
    assert "far: costs from 0 to " in error and "below 2147483647, since they have 32 bits" in error
    assert len(error.splitlines()) == 1
    assert not any(file.exists() and file.stat().st_size for file in files)


# --- what is chosen where nothing is said ---


def settled(*arguments, ranks=1):
    """Options of a `drivers.ppp` run after defaults are filled in."""
    return ppp.PPP.load(parse_options(ppp.PPP, "", arguments), ranks).options


@pytest.mark.parametrize("name", [name for name in LOCAL_SEARCHES if name != "tsp"])
def test_a_run_without_options_makes_walks_for_every_rank_and_ends_by_iterations(name):
    workload = get_workload(name)
    options = workload.load(workload.options(backend="cpu"), 1).options
    assert (options.level, options.walks, options.seconds) == ("algorithm", DEFAULT_WALKS, None)
    standard = dict(zip(workload.standard[::2], workload.standard[1::2], strict=True))
    in_a_second = int(standard["--iterations"]) * int(standard.get("--walks", 1)) / DEFAULT_WALKS
    assert options.iterations == max(5, 4 * in_a_second)


ONE_WALK = {"level": "iteration", "walks": 1, "seconds": None}


@pytest.mark.parametrize(
    ("arguments", "ranks", "expected"),
    [
        ("", 100, {"walks": 100, "iterations": 4 * 64 * 160 // 100}),
        ("--mapping published", 100, ONE_WALK | {"select": "host", "layout": "local", "iterations": 4 * 64 * 160}),
        # Of 2,628 pairs of columns, 73 columns; of a draw's time 16 neighbours are evaluated.
        ("--neighbourhood flip1", 1, {"iterations": 4 * 160 * 2628 // 73}),
        ("--algorithm annealing", 1, {"iterations": 4 * 160 * 2628 // 16}),
        ("--seconds 3", 1, {"iterations": None}),
        *(
            (words, 100, ONE_WALK | {"iterations": ITERATIONS})
            for words in ("--instance 9-9", "--record r", "--walks 1")
        ),
    ],
)
def test_what_is_left_open_has_as_much_work_as_a_default_run(arguments, ranks, expected):
    options = settled(*arguments.split(), ranks=ranks)
    assert {name: getattr(options, name) for name in expected} == expected


def test_a_run_that_the_clock_ends_says_so(capsys):
    quick = ["--instance", "9-9", "--backend", "cpu", "--no-progress"]
    assert ppp.main([*quick, "--seconds", "0.01", "--target=-1"]) == 0
    ended = "iterations, ended by the time limit (other runs end at other iterations, with other hashes), "
    assert ended in capsys.readouterr().out
    assert ppp.main([*quick, "--iterations", "10", "--seconds", "1000"]) == 0
    assert "ended" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("size", "local_rank", "gpus", "name"),
    [(1, 0, 0, "threads"), (1, 0, 1, "cuda"), (4, 0, 0, "cpu"), (4, 1, 2, "cuda"), (64, 3, 2, "cpu")],
)
def test_auto_is_a_gpu_of_ones_own_else_a_core_of_many_ranks_else_all_cores(monkeypatch, size, local_rank, gpus, name):
    monkeypatch.setattr(CudaBackend, "present", lambda: gpus)
    assert device_selection.gpus_here() == gpus
    assert device_selection.select_best_backend(size, local_rank, gpus) == name


@pytest.mark.parametrize(
    ("visible", "count"), [(None, 2), ("", 0), ("-1", 0), ("1", 1), ("0,1", 2), ("0,1,2", 2), ("GPU-1a-2b", 1)]
)
def test_gpus_are_counted_by_their_device_files(tmp_path, monkeypatch, visible, count):
    pytest.importorskip("cuda.core")
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert CudaBackend.present(str(tmp_path)) == count


def test_a_gpu_that_does_not_work_is_named_and_the_cpu_taken(monkeypatch, capsys):
    import backends

    def take(name, device=None, **more):
        if name == "cuda":
            raise backends.Unavailable("cuda: the driver is too old")
        return name

    monkeypatch.setattr("backends.kept.take", take)
    monkeypatch.setattr(CudaBackend, "present", lambda: 1)
    alone = SimpleNamespace(size=1, local_rank=0)
    assert device_selection.select_automatic_device(Options(), alone, gpus=1) == "threads"
    assert capsys.readouterr().err == "note: cuda: the driver is too old; threads instead\n"


# --- over ranks ---


@pytest.mark.slow
def test_ranks_whose_clocks_run_apart_end_a_long_search_together(mpirun):
    # Enough for batches of iterations limited by the clock, and ranks with different numbers of walks.
    done = mpirun(3, *SMALL[:4], "--walks", "4", "--iterations", "1000000")
    assert done.returncode == 0, done.stderr
    assert " 4000000 iterations" in done.stdout


# --- hill climbing of many tours ---


# --- tours ---


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", {"algorithm": "3opt", "walks": 8, "iterations": 75_000, "seconds": None}),
        ("--seconds 2", {"algorithm": "3opt", "walks": 1, "iterations": None, "seconds": 2.0}),
        ("--walks 16 --target 9", {"algorithm": "3opt", "walks": 16, "iterations": 37_500, "target": 9}),
        ("--neighbourhood exchange2", {"algorithm": "ils", "walks": 64, "neighbourhood": "exchange2"}),
        ("--strength 2", {"algorithm": "ils", "neighbourhood": "2opt"}),
        ("--instance uniform:4:seed=1", {"algorithm": "ils"}),
    ],
)
def test_tours_are_searched_by_iterated_3_opt_unless_local_search_is_meant(arguments, expected):
    options = tsp.TSP.load(parse_options(tsp.TSP, "", arguments.split()), 1).options
    assert {name: getattr(options, name) for name in expected} == expected


@pytest.mark.parametrize("option", ["--neighbourhood exchange2", "--patience 9", "--tenure 3", "--mapping published"])
def test_independent_walks_refuse_options_of_local_search(drive, option):
    code, _, error = drive("--algorithm", "3opt", *option.split(), driver=tsp)
    assert (code, option.split()[0] in error) == (2, True)
    assert "with --algorithm 3opt: expected with hill, first, tabu, ils" in error


def test_a_search_with_defaults_ends_near_the_optimum(drive, shared_data):
    problem = TspTour.load("kroA100", str(shared_data))
    code, said, _ = drive(
        "--instance", "kroA100", "--data", shared_data, "--iterations", "2000", "--no-progress", driver=tsp
    )
    assert code == 0
    cost = int(said.partition(": length ")[2].split()[0])
    assert problem.optimum <= cost < 1.02 * problem.optimum


def test_records_of_independent_walks_name_their_algorithm(drive, tmp_path):
    words = ("--instance", "uniform:20:seed=1", "--iterations", 5, "--record", tmp_path / "r.jsonl")
    code, _, error = drive(*words, driver=tsp)
    assert code == 0, error
    (record,) = load(tmp_path / "r.jsonl")
    assert (record.parameters["algorithm"], record.parameters["iterations"]) == ("3opt", 5)


def test_comparisons_are_of_the_papers_search():
    workload = get_workload("tsp")
    for problem in (None, TspTour.load("uniform:20:seed=1")):
        asked = workload_options(workload, default_arguments(workload, [], problem))
        assert (asked.algorithm, asked.neighbourhood) == ("tabu", "exchange2")
