"""`make test` stays quick: what `make durations` measured is within its budget, and no test of it is long."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.durations import COLLECTED, FILE, Durations, table

ROOT = Path(__file__).parents[1]
LONGEST_S = 2.5
BUDGET_S = {"quick": 400.0, "slow": 800.0}
"""Largest sum of all tests of a tier, in seconds. Two workers take half of it each."""
# Quick tests that may take longer, and why.
LONGER = {
    "tests/drivers/test_killed.py::test_a_run_that_is_killed_finds_the_same": "the one kill: a program starts three times",
    "tests/drivers/test_cluster_check.py::test_two_ranks_are_measured_shown_and_written": "the one run of this program",
    "tests/drivers/test_interrupted_programs.py::test_an_interrupt_ends_machine_code_that_goes_on": "a program starts",
    "tests/core/search/local_search/test_ranks.py::test_ranks_find_what_one_process_finds[3-SEARCHES]": "eight searches",
}
MEASURED = json.loads(FILE.read_text())


@pytest.mark.parametrize("tier", BUDGET_S)
def test_a_tier_is_within_its_budget(tier):
    modules = MEASURED[tier]["modules"]
    total = sum(modules.values())
    longest = sorted(modules, key=modules.get, reverse=True)[:10]
    assert total <= BUDGET_S[tier], f"{total:.0f} s; most of it: {', '.join(f'{m} {modules[m]} s' for m in longest)}"


def test_no_test_of_the_quick_tier_takes_long():
    tests = {test: seconds for test, seconds in MEASURED["quick"]["tests"].items() if test not in LONGER}
    assert {test: seconds for test, seconds in tests.items() if seconds > LONGEST_S} == {}, "mark it slow, or mend it"


@pytest.mark.parametrize("tier", BUDGET_S)
def test_every_module_was_measured(tier, pytestconfig):
    measured = MEASURED[tier]["modules"].keys()
    collected = {test.partition("::")[0] for test, of in pytestconfig.stash[COLLECTED].items() if of == tier}
    assert collected - measured == set(), "run `make durations`"
    assert [module for module in measured if not (ROOT / module).exists()] == [], "run `make durations`"


def test_durations_are_summed_by_module_and_kept_for_tiers_that_did_not_run(tmp_path):
    tests = {"a.py::one": ("quick", 0.25), "a.py::two": ("quick", 0.5), "b.py::three": ("slow", 3.0)}
    assert table(tests, "quick") == {"modules": {"a.py": 0.75}, "tests": {"a.py::two": 0.5}}
    plugin = Durations(tmp_path / "durations.json")
    session = SimpleNamespace(config=SimpleNamespace())
    for tier, seconds in (("quick", 1.0), ("slow", 2.0), ("quick", 4.0)):
        plugin.tests = {}
        for _ in ("setup", "call"):
            plugin.pytest_runtest_logreport(
                SimpleNamespace(nodeid="c.py::four", user_properties=[("tier", tier)], duration=seconds)
            )
        plugin.pytest_sessionfinish(session)
    written = json.loads(plugin.file.read_text())
    assert written["quick"] == {"modules": {"c.py": 8.0}, "tests": {"c.py::four": 8.0}}
    assert written["slow"]["modules"] == {"c.py": 4.0}
