"""Declaration and parsing of options, options common to all drivers, exit codes of errors, and the progress bar."""

import argparse
import subprocess
import sys
import textwrap
from dataclasses import dataclass, fields, is_dataclass
from types import SimpleNamespace
from typing import get_args

import pytest

from core.errors import UserError
from drivers.cli.exit_codes import run_driver
from drivers.cli.progress import make_progress_display
from drivers.options.declaration import (
    CHECKS,
    OptionEffect,
    OptionGroup,
    Options,
    add_options,
    option,
    option_flag,
    options_for_rank,
    read_parsed,
)
from drivers.options.output_files import OutputFile
from drivers.options.values import OUTPUT_FILE, positive, seeds
from drivers.runs import rank_start, workload_main
from drivers.workload.registry import all_workloads
from tests.conftest import ROOT
from tests.drivers.small_runs import Idle

BAKING = OptionGroup("baking", "in an oven")


@dataclass(frozen=True)
class CakeOptions(Options):
    layers: int = BAKING.option(2, "how many (%(default)s)", positive, "N", decides="work")
    oven_heat: str = BAKING.option("high", "how hot", choices=("low", "high"), decides="way")
    kitchen: str | None = option(None, "where", metavar="K", decides="place")
    sugar: bool = BAKING.option(False, "sweet", bool)
    glaze: bool = BAKING.option(True, "shiny", bool)
    eggs: bool | None = option(None, "with eggs (default: if there are)", bool)
    sort: str | None = CHECKS.option(None, "which", spelled="--class")
    fillings: list[str] | None = option(None, "two of them", metavar=("A", "B"), nargs=2)
    guests: tuple[str, ...] | list[str] = option((), "who comes", metavar="G", spelled="guests", nargs="*")
    recipe: OutputFile | None = option(None, "where to write it", OutputFile, "FILE")


def cake_parser():
    parser = argparse.ArgumentParser()
    add_options(parser, CakeOptions)
    return parser


def read(*arguments):
    return read_parsed(CakeOptions, vars(cake_parser().parse_intermixed_args(arguments)))


# --- from the command line to values ---


def test_what_is_not_given_has_the_default_of_its_field():
    assert read() == CakeOptions()


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("--layers 3", "layers", 3),
        ("--oven-heat low", "oven_heat", "low"),
        ("--sugar", "sugar", True),
        ("--no-glaze", "glaze", False),
        ("--no-eggs", "eggs", False),
        ("--class sponge", "sort", "sponge"),
        ("--fillings jam cream", "fillings", ["jam", "cream"]),
        ("Ann --layers 2 Bob", "guests", ["Ann", "Bob"]),
        ("--recipe cake.txt", "recipe", "cake.txt"),
        ("--seeds 3..5", "seeds", (3, 4, 5)),
    ],
)
def test_each_kind_of_option_becomes_a_value_of_its_type(line, name, value):
    options = read(*line.split())
    assert getattr(options, name) == value
    others = {field.name for field in fields(options)} - {name}
    assert all(getattr(options, other) == getattr(CakeOptions(), other) for other in others)


@pytest.mark.parametrize("wrong", [["--layers", "0"], ["--oven-heat", "warm"], ["--no-sugar"], ["--sort", "sponge"]])
def test_what_an_option_does_not_take_ends_with_exit_code_2(wrong, capsys):
    with pytest.raises(SystemExit) as end:
        read(*wrong)
    assert end.value.code == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "values"), [("0..3", (0, 1, 2, 3)), ("7..7", (7,)), ("5,3,8", (5, 3, 8)), ("4", (4,))]
)
def test_seeds_are_a_range_with_both_ends_or_a_list(text, values):
    assert seeds(text) == values


@pytest.mark.parametrize("text", ["3..1", "1,1", "", "x", "1..", "..2", "-1..2", "0..10000", "1,,2"])
def test_seeds_that_are_none_twice_the_same_or_too_many_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        seeds(text)


def test_options_are_left_out_by_name():
    parser = argparse.ArgumentParser()
    add_options(parser, CakeOptions, leave_out=("layers", "seed"))
    with pytest.raises(SystemExit):
        parser.parse_args(["--layers", "3"])
    assert read_parsed(CakeOptions, vars(parser.parse_args(["--sugar"]))) == CakeOptions(sugar=True)


# --- the help ---


def test_the_help_shows_options_in_their_groups_with_their_defaults():
    blocks = cake_parser().format_help().split("\n\n")
    baking = next(block for block in blocks if block.startswith("baking:"))
    assert "in an oven" in baking + blocks[blocks.index(baking) + 1]
    shown = "\n".join(blocks[blocks.index(baking) : blocks.index(baking) + 2])
    for flag in ("--layers N", "how many (2)", "--oven-heat {low,high}", "--sugar", "--glaze, --no-glaze"):
        assert flag in shown, flag
    assert "--kitchen" not in shown and "--no-sugar" not in shown
    (checks,) = [block for block in blocks if block.startswith(f"{CHECKS.title}:")]
    assert "--class" in checks and "--peers" in checks


# --- what they decide ---


def test_options_are_sorted_by_what_they_decide():
    options = CakeOptions(layers=5, kitchen="small")
    assert options.deciding("work") == {"layers": 5}
    assert options.deciding("way") == {"oven_heat": "high"}
    assert options.deciding("place") == {
        "kitchen": "small",
        **{"data": None, "backend": "auto", "device": "0", "cores": None, "progress": None, "quiet": False},
    }
    assert options.asked() == {"layers": 5}


def test_a_rank_works_at_its_own_place_and_on_the_first_ranks_work():
    first = CakeOptions(layers=5, kitchen="small", backend="cpu")
    own = CakeOptions(layers=2, kitchen="large", backend="threads", progress=False)
    assert options_for_rank(first, own) == CakeOptions(layers=5, kitchen="large", backend="threads", progress=False)


def test_ranks_agree_on_all_options_but_those_of_place(monkeypatch):
    compared = {}
    monkeypatch.setattr("cluster.require_equal_arguments", lambda ranks, given: compared.update(given))
    monkeypatch.setattr("cluster.require_equal_content", lambda *_: None)
    two = SimpleNamespace(rank=0, size=2, local_rank=0)
    rank_start.check_argument_consistency(two, Idle(CakeOptions), CakeOptions(layers=5, kitchen="small"))
    expected = {option_flag(one) for one, declared in CakeOptions.declared() if declared.decides != "place"}
    assert compared.keys() == {"program", "--help", *expected}
    assert compared["--layers"] == "5"


def test_a_class_fills_the_words_that_a_table_leaves_open():
    @dataclass(frozen=True)
    class PieOptions(CakeOptions, generator="apple:3", chosen="cherry"):
        """A pie."""

    of_cake, of_pie = ({one.name: how for one, how in kind.declared()} for kind in (CakeOptions, PieOptions))
    differing = {name for name in of_cake if of_cake[name] != of_pie[name]}
    assert list(of_cake) == list(of_pie) and differing == {"instance"}
    assert of_pie["instance"].help.endswith("a generator such as apple:3 (default: cherry)")


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
    with pytest.raises(SystemExit) as end:
        workload_main.driver(workload, "What it is for.")(["--help"])
    assert not end.value.code
    said = capsys.readouterr().out
    assert said.startswith(f"usage: python -m drivers.{workload.name} ") and "What it is for." in said
    explained = said.split("What it is for.")[1]
    for field, _ in workload.options.declared():
        declared = field.metadata["option"]
        written = f"{declared.short}, {option_flag(field)}" if declared.short else option_flag(field)
        assert f"\n  {written}" in explained or f"\n  {declared.metavar} " in explained, field.name


@pytest.mark.parametrize(("word", "meant"), [("--iteratons=5", " (did you mean --iterations?)"), ("--nonsense", "")])
def test_an_unknown_option_is_one_line_which_names_what_may_be_meant(word, meant, capsys):
    with pytest.raises(SystemExit) as end:
        workload_main.driver(next(workload for workload in all_workloads() if workload.name == "qap"), "")([word])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said == f"python -m drivers.qap: error: unrecognized arguments: {word}{meant} (--help lists all options)\n"


def test_an_unexpected_error_reaches_the_hook_that_ends_the_other_ranks(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: seen.append((kind, str(error))))
    run_driver(lambda argv: [][0], [])
    assert seen == [(IndexError, "list index out of range")]


def test_the_options_are_light_enough_for_64_ranks_and_no_bar_imports_nothing():
    # An installed package may load modules at every start of Python (numba-cuda does): ignore those.
    script = """
        import sys
        before = set(sys.modules)
        import drivers.options.declaration, drivers.cli.exit_codes, drivers.runs.workload_main, drivers.console
        from drivers.cli.progress import make_progress_display
        for wanted, rank in (None, 0), (False, 0), (True, 1):
            with make_progress_display("climbing", wanted=wanted, rank=rank) as bar:
                bar.show(3, 3)
        print(*sorted(set(sys.modules) - before))
        """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    loaded = set(result.stdout.split())
    assert "drivers.cli.progress" in loaded and result.stderr == ""
    assert not loaded & {"numba", "rich", "mpi4py", "psutil", "subprocess", "json"}


def test_a_bar_that_is_asked_for_counts_on_standard_error(capsys):
    pytest.importorskip("rich", reason="rich is not installed")
    with make_progress_display("climbing", wanted=True) as bar:
        bar.show(1, 3)
        bar.show(3, 3, "length [9]")
    shown = capsys.readouterr()
    assert "climbing" in shown.err
    assert shown.err.rindex("length [9]") > shown.err.rindex("3/3")
    assert shown.out == ""


def test_a_bar_that_is_asked_for_without_rich_is_a_users_mistake(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(UserError, match="needs rich"):
        make_progress_display("climbing", wanted=True)
