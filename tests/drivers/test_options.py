"""Declaration and parsing of options, options common to all drivers, exit codes of errors, and the progress bar."""

import argparse
import sys
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import get_args

import pytest

from cluster.launch import slurm
from core.local_search.algorithms import ALGORITHMS
from drivers.cli.exit_codes import run_driver
from drivers.ihc import ClimbOptions
from drivers.options.declaration import OptionEffect, Options, option_flag, options_for_rank
from drivers.options.local_search import Execution, SearchOptions
from drivers.options.output_files import OutputFile
from drivers.options.values import OUTPUT_FILE, seeds
from drivers.runs import rank_start, workload_main
from drivers.workload.registry import all_workloads
from tests.drivers.small_runs import Idle


@pytest.mark.parametrize(
    ("text", "values"), [("0..3", (0, 1, 2, 3)), ("7..7", (7,)), ("5,3,8", (5, 3, 8)), ("4", (4,))]
)
def test_seeds_are_a_range_with_both_ends_or_a_list(text, values):
    assert seeds(text) == values


@pytest.mark.parametrize("text", ["3..1", "1,1", "", "x", "1..", "..2", "-1..2", "0..10000", "1,,2"])
def test_seeds_that_are_none_twice_the_same_or_too_many_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        seeds(text)


# --- what they decide ---


def test_a_rank_works_at_its_own_place_and_on_the_first_ranks_work():
    first, own = ClimbOptions(climbers=5, backend="cpu"), ClimbOptions(climbers=2, backend="threads", progress=False)
    assert options_for_rank(first, own) == ClimbOptions(climbers=5, backend="threads", progress=False)


def test_ranks_agree_on_all_options_but_those_of_place(monkeypatch):
    compared = {}
    monkeypatch.setattr("cluster.require_equal_arguments", lambda ranks, given: compared.update(given))
    monkeypatch.setattr("cluster.require_equal_content", lambda *_: None)
    two = SimpleNamespace(rank=0, size=2, local_rank=0)
    rank_start.check_argument_consistency(two, Idle(ClimbOptions), ClimbOptions(climbers=5))
    expected = {option_flag(one) for one, declared in ClimbOptions.declared() if declared.decides != "place"}
    assert compared.keys() == {"program", "--help", *expected}
    assert compared["--climbers"] == "5"


def test_options_of_local_search_are_declared_by_its_algorithms_and_settings():
    declared = SearchOptions.declared_by_name()
    parameters = [one for algorithm in ALGORITHMS.values() for one in algorithm.parameter_fields()]
    assert {one.name for one in parameters if one.type != "bool"} < declared.keys()
    assert {name: declared[name][0].default for name in vars(Execution())} == vars(Execution())
    assert declared["tabu_memory"][1].choices == ("auto", "attributes", "moves")
    assert declared["level"][1].choices == ("iteration", "algorithm", "solution")


# --- all workloads ---


@pytest.mark.parametrize("workload", list(all_workloads()), ids=lambda workload: workload.name)
def test_every_option_of_a_workload_is_explained_and_says_what_it_decides(workload):
    kind = workload.options
    assert is_dataclass(kind) and kind.__dataclass_params__.frozen and issubclass(kind, Options)
    options = kind()
    flags = [option_flag(one) for one, _ in kind.declared()]
    assert len(set(flags)) == len(flags)
    for field, declared in kind.declared():
        assert declared.help.strip(), field.name
        assert declared.decides in get_args(OptionEffect), field.name
        assert declared.choices is None or field.default in (None, *declared.choices), field.name
        assert not isinstance(getattr(options, field.name), OutputFile), field.name
    outputs = [one for one, declared in kind.declared() if declared.type is OUTPUT_FILE]
    assert "record" in {output.name for output in outputs}
    assert all(output.metadata["option"].decides == "nothing" for output in outputs)


@pytest.mark.parametrize("workload", list(all_workloads()), ids=lambda workload: workload.name)
def test_the_help_of_a_workload_names_every_option_and_says_what_it_is_for(workload, capsys):
    with pytest.raises(SystemExit, match="^(0|None)?$"):
        workload_main.driver(workload, "What it is for.")(["--help"])
    said = capsys.readouterr().out
    assert said.startswith(f"usage: python -m drivers.{workload.name} ") and "What it is for." in said
    explained, hidden = said.split("What it is for.")[1], workload.options._values.get("hidden", ())
    assert ("seed" in hidden) == (f"drivers.{workload.name}" in slurm.SEEDLESS)
    for field, _ in workload.options.declared():
        declared = field.metadata["option"]
        flag = option_flag(field) if option_flag(field).startswith("-") else declared.metavar
        written = f"{declared.short}, {flag}" if declared.short else flag
        assert (f"\n  {written}" in explained) == (field.name not in hidden), field.name


def test_an_unexpected_error_reaches_the_hook_that_ends_the_other_ranks(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: seen.append((kind, str(error))))
    run_driver(lambda argv: [][0], [])
    assert seen == [(IndexError, "list index out of range")]
