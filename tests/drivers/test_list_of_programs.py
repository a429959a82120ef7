"""The list of what there is to run, and the workloads by name."""

import importlib

import pytest

from core.errors import UserError
from drivers.__main__ import main
from drivers.workloads import FURTHER, NAMES, everything, named, owners


def listed(capsys):
    assert main([]) == 0
    return dict(
        line.removeprefix("python -m drivers.").split(maxsplit=1) for line in capsys.readouterr().out.splitlines()
    )


def test_the_list_has_a_line_for_every_program(capsys):
    lines = listed(capsys)
    assert set(lines) >= {*NAMES, "compare", "bench"}
    assert all(len(line) > 20 for line in lines.values())


def test_whatever_is_listed_can_be_started(capsys):
    for name in listed(capsys):
        module = importlib.import_module(f"drivers.{name}")
        program = importlib.import_module(f"{module.__name__}.__main__") if hasattr(module, "__path__") else module
        assert callable(program.main)


def test_workloads_are_found_by_the_name_that_they_declare():
    assert [one.name for one in everything()] == list(NAMES)


def test_an_unknown_workload_is_a_users_mistake_with_the_nearest_name():
    with pytest.raises(UserError, match=r"workload 'heldkrap' \(did you mean heldkarp\?\): expected one of ihc"):
        named("heldkrap")
    with pytest.raises(UserError, match=r"workload 'xyz': expected one of"):
        named("xyz")


def test_an_option_belongs_to_the_workloads_that_declare_it():
    assert owners("--climbers") == ["ihc"]
    assert owners("--walks") == ["qap", "ppp", "tsp", "weierstrass", *FURTHER]
    assert owners("--nothing") == []
