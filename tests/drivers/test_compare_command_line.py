"""Mistakes in a comparison's command line: one line each, exit code 2, and nothing is started or written."""

import pytest

from drivers.cli.exit_codes import run_driver
from drivers.compare import main
from drivers.experiments.options import workload_options
from drivers.experiments.presets.compare_options import default_arguments
from drivers.workload.registry import NAMES, all_workloads, get_workload
from tests.drivers.made_up_runs import device, made_up_suite


@pytest.fixture
def refused(monkeypatch, capsys):
    """Compare with two cores without starting anything; return standard error."""

    def start(case):
        raise AssertionError("nothing is to be started")

    def run(*arguments):
        broken = device("cuda", usable=False, reason="no driver", takes_cores=False)
        devices = [device("cpu", takes_cores=False), device("threads", takes_cores=True), broken]
        with made_up_suite(*devices, command=start):
            code = run_driver(main, [*map(str, arguments)])
        said = capsys.readouterr()
        assert (code, said.out) == (2, "")
        return said.err

    monkeypatch.setattr("drivers.experiments.configurations.present_cores", lambda: 2)
    return run


def test_several_instances_none_of_which_exists_are_a_line_each_and_one_for_all(refused, tmp_path):
    errors = refused("exact", "--instance", "nowhere", "elsewhere", "--out", tmp_path / "new").splitlines()
    assert [error.split(":")[1].strip() for error in errors] == ["nowhere", "elsewhere", "--instance"]


def test_without_the_packages_of_reports_nothing_is_measured(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "a report needs pandas and jinja2: pip install 'onekernel[report]'" in refused("ihc", "--out", tmp_path)


@pytest.mark.parametrize("arguments", [["-h"], ["qap", "--help"]])
def test_help_names_all_workloads_and_the_options_of_the_one(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert not stop.value.code
    help_text = capsys.readouterr().out
    assert all(name in help_text for name in NAMES)
    assert "--rerun" in help_text
    assert ("--climbers" in help_text) == (arguments == ["-h"])
    assert ("--tenure" in help_text) == (arguments != ["-h"])
    assert "--record" not in help_text
    assert " ".join(get_workload("ihc" if arguments == ["-h"] else "qap").standard) in " ".join(help_text.split())


# --- what is left open ---


def amounts(workload, *arguments):
    return default_arguments(get_workload(workload), arguments, None)


def amounts_on_its_own(workload, *arguments):
    """Amounts left open by a comparison on an instance in the arguments."""
    declared = get_workload(workload)
    return default_arguments(declared, arguments, declared.load(workload_options(declared, arguments), 1).problem)


def test_what_is_left_open_makes_a_second_of_work():
    assert amounts("qap") == ["--walks", "64", "--iterations", "10000"]
    assert amounts("qap", "--walks", "4") == ["--iterations", "10000"]
    assert amounts("qap", "--target=5") == []  # one walk, as the program itself makes
    assert amounts("qap", "--exchange", "9") == ["--iterations", "640000"]
    assert amounts("knapsack", "--class", "subset-sum") == []
    assert amounts("exact", "--verify") == ["--instance", "uniform:16:seed=1", "--bound", "edges"]


def test_an_instance_of_the_user_takes_the_place_of_the_standard_one(tmp_path):
    assert amounts_on_its_own("exact", "--instance", "uniform:9:seed=1") == ["--bound", "edges"]
    assert amounts_on_its_own("exact", "--instance", "uniform:25:seed=1") == []
    assert amounts_on_its_own("lcs", "--text", "ACGT", "AGT") == []
    for cities, climbers in ((3, "100000"), (442, "20"), (700, "16")):
        assert amounts_on_its_own("ihc", "--instance", f"uniform:{cities}:seed=1") == ["--climbers", climbers]
    assert amounts_on_its_own("qap", "--instance", "taillard:60:seeds=1,2") == ["--iterations", "160000"]
    (tmp_path / "roads.txt").write_text("0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n")
    assert amounts_on_its_own("heldkarp", "--matrix", str(tmp_path / "roads.txt")) == []


@pytest.mark.parametrize("workload", tuple(all_workloads()), ids=NAMES)
def test_work_that_is_fitted_to_an_instance_fits_the_standard_one(workload):
    problem = workload.load(workload_options(workload, workload.standard), 1).problem
    fitted = workload.fitted(problem)
    assert not fitted or fitted == workload.standard[-len(fitted) :]


def test_files_and_options_of_a_workload_reach_its_runs(tmp_path):
    for name, text in (("a", "ACGT"), ("b", "AGT")):
        (tmp_path / name).write_text(text)
    files, started = [str(tmp_path / name) for name in ("a", "b")], []

    def start(case):
        started.append((case.arguments, case.seeds))
        return ["false"]

    words = ["lcs", files[0], "--no-trace", files[1], "--repeats", "1", "--ranks", "--out", str(tmp_path)]
    with made_up_suite(device("cpu"), command=start):
        assert main(words) == 1
    assert started == [((files[0], "--no-trace", files[1]), (0,))]
