"""Programs of the README, the pages and examples/ run and find the expected results."""

import importlib.util
import itertools
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from backends.device import Unavailable
from backends.opencl import icd
from cluster import Solo
from core.local_search import Iterations, LocalSearch, TabuSearch, check
from docs import pages
from reports.runs import load
from tests.conftest import of_platform
from tests.core.instances.drawn import solutions

PROGRAMS = [block for page in pages.pages() for block in pages.blocks(page) if block.language == "python"]
MARKED = [pytest.param(file, marks=[pytest.mark.slow] * ("workers=" in file.text), id=str(file)) for file in PROGRAMS]
MOST_LINES = 40
MOST_LINES_OF_A_LESSON = 20


def module_of(path):
    """Import a file under its name, not as the main module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def example(name):
    return module_of(pages.ROOT / "examples" / f"{name}.py")


@pytest.mark.parametrize("block", MARKED)
def test_a_program_of_a_page_is_whole(block, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(block.text)
    module_of(path)


def test_the_first_kernels_are_short():
    lessons = [program.text for program in PROGRAMS if program.page.name == "hello-kernel.md"]
    assert len(lessons) == 5
    assert max(sum(map(bool, text.splitlines())) for text in lessons) <= MOST_LINES_OF_A_LESSON


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_the_first_kernels_run_with_teams_on_a_cpu(number, tmp_path):
    try:
        index = of_platform(icd.INTEL, "opencl-intel")
    except Unavailable as error:
        pytest.skip(str(error))
    text = [program.text for program in PROGRAMS if program.page.name == "hello-kernel.md"][number]
    assert '"python"' in text
    path = tmp_path / "program.py"
    path.write_text(re.sub('create\\("python"\\)|create\\(name\\)', f'create("opencl", "{index}:teams")', text))
    module_of(path)


def test_the_readme_s_problem_is_the_example():
    (program,) = (program for program in PROGRAMS if program.page.name == "README.md")
    text = (pages.ROOT / "examples" / "partition.py").read_text()
    assert text.endswith(program.text)
    assert len([line for line in program.text.splitlines() if line.strip()]) <= MOST_LINES


@pytest.mark.slow
def test_the_readme_leads_from_a_file_to_a_report_in_four_commands(tmp_path):
    """With a processor in place of the GPU, on a host that other tests may keep busy."""
    (block,) = (
        block for block in pages.blocks(pages.ROOT / "README.md") if "partition.py" in block.text and not block.language
    )
    commands = pages.commands(block)
    assert len(commands) == 4
    example = str(pages.ROOT / "examples" / "partition.py")
    paths = os.pathsep.join([str(pages.ROOT), os.environ.get("PYTHONPATH", "")])
    for command in commands:
        words = [example if one == "examples/partition.py" else one for one in shlex.split(command)]
        words = ["cpu" if word == "cuda" else word for word in words]
        words += ["--busy"] if "compare" in words else []
        subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, check=True)
    assert len(load(tmp_path / "runs.jsonl")) == 11
    report = (tmp_path / "reports" / "out" / "compare-partition.md").read_text()
    assert "\n| 2 ranks |" in report
    assert list((tmp_path / "reports" / "out").glob("*.svg"))


@pytest.fixture(scope="module")
def partition():
    return example("partition").Partition(n=8, largest=50)


@pytest.fixture(scope="module")
def tardiness(tmp_path_factory):
    jobs = tmp_path_factory.mktemp("jobs") / "seven.txt"
    random = np.random.default_rng(3)
    np.savetxt(jobs, np.column_stack([random.integers(1, most, 7) for most in (9, 5, 30)]), "%d")
    return example("tardiness").Tardiness(jobs)


@pytest.fixture(scope="module")
def timetable():
    return example("timetable").Timetable(n=7, slots=3)


@pytest.fixture(scope="module")
def arrangement():
    return example("arrangement").Arrangement(n=7)


@pytest.mark.parametrize("problem", ["arrangement", pytest.param("tardiness", marks=pytest.mark.slow)])
def test_an_example_s_problem_passes_its_check(problem, request):
    """Pages show the checks of the others."""
    check(request.getfixturevalue(problem))


def outcome(problem, name, **options):
    cpu = CpuBackend(CpuBackend.devices()[0])
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), name, level="algorithm", walks=30, **options)
    return search.run(Iterations(100))


def search(problem, name):
    return outcome(problem, name).cost


def test_tabu_search_finds_the_optima_of_the_examples(partition, tardiness):
    heaps = min(partition.cost(np.array(one)) for one in itertools.product((0, 1), repeat=8))
    order = min(tardiness.cost(np.array(permutation)) for permutation in itertools.permutations(range(7)))
    assert search(partition, "flip2") == heaps
    assert search(tardiness, "insert") == search(tardiness, "exchange2") == order


def test_the_evaluations_of_the_timetable_make_equal_moves_to_the_optimum(timetable):
    outcomes = [outcome(timetable, "assign", evaluation=one) for one in ("value", "delta", "counts")]
    assert len({outcome.hash for outcome in outcomes}) == 1
    best = min(timetable.cost(np.array(one)) for one in itertools.product(range(3), repeat=7))
    assert {outcome.cost for outcome in outcomes} == {best}


def test_the_evaluations_of_the_arrangement_make_equal_moves_to_the_optimum(arrangement):
    outcomes = [outcome(arrangement, "exchange2", evaluation=one) for one in ("delta", "pulls")]
    best = min(arrangement.cost(np.array(one)) for one in itertools.permutations(range(7)))
    assert outcomes[0].hash == outcomes[1].hash and {outcome.cost for outcome in outcomes} == {best}


MODELS = {
    "labs": lambda module: module.Labs(8),
    "maxcut": lambda module: module.MaxCut(9, 0.5),
    "maxsat": lambda module: module.MaxSat(7),
    "flowshop": lambda module: module.FlowShop(6, 3),
    "linear_ordering": lambda module: module.LinearOrdering(6),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_evaluations_of_a_model_are_right_and_make_equal_moves_to_the_optimum(name):
    problem = MODELS[name](example(name))
    neighbourhood = problem.neighbourhood_names()[0]
    check(problem, neighbourhood, moves=8)
    outcomes = [outcome(problem, neighbourhood, evaluation=one) for one in problem.evaluations(neighbourhood)]
    assert len({one.hash for one in outcomes}) == 1
    assert {one.cost for one in outcomes} == {min(problem.cost(np.array(one)) for one in solutions(problem.encoding))}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_model_passes_its_check(name):
    check(MODELS[name](example(name)))


def test_models_read_the_files_of_collections(tmp_path):
    files = {"g.rud": "3 3\n1 2 4\n2 3 -1\n1 3 2\n", "l.mat": "title\n3\n0 1 2\n3 0 4\n5 6 0\n"}
    files["f.cnf"] = "c two lines\np cnf 4 4\n1 -2 0\n3 4\n-1 0 2 -2 0\n-3 3 -4 -4 0\n%\n0\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    cut = example("maxcut").MaxCut(instance=tmp_path / "g.rud")
    assert [cut.cost(np.array(bits)) for bits in ([0, 0, 0], [1, 0, 0], [0, 1, 0])] == [0, -6, -3]
    ordering = example("linear_ordering").LinearOrdering(instance=tmp_path / "l.mat")
    assert [ordering.cost(np.array(order)) for order in ([0, 1, 2], [2, 1, 0])] == [-7, -14]
    formula = example("maxsat").MaxSat(instance=tmp_path / "f.cnf")
    assert formula.clauses == [[-2, 1], [-1, 3, 4]]
    assert [formula.cost(np.array(bits)) for bits in ([0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0])] == [0, 1, 1]


def test_models_have_the_published_instances_and_optima():
    """Of ta001 the first machine, and the least energy of 13 signs, which Barker found."""
    assert example("flowshop").FlowShop().time[:6, 0].tolist() == [54, 83, 15, 71, 77, 36]
    assert outcome(example("labs").Labs(13), "flip1").cost == 6


@pytest.mark.parametrize("name", ["cpu", *(pytest.param(one, marks=pytest.mark.slow) for one in ("python", "opencl"))])
def test_the_plain_kernel_and_the_suite_s_find_the_same(name, capsys):
    example("two_opt").main(["uniform:12:seed=1", "4", name])
    lines = capsys.readouterr().out.splitlines()
    lengths = {line.split(" climbs ")[1].split(",")[0] for line in lines}
    assert len(lines) == 2 and len(lengths) == 1


def test_a_search_from_python_draws_its_curves(tmp_path):
    said = pages.printed(f"python examples/curves.py {tmp_path}/curves.svg 50")
    assert "confirmed: True" in said
    assert (tmp_path / "curves.svg").read_text().count("<path") > 10
