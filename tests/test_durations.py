"""`make test` stays quick: what `make durations` measured is within its budget, and no test of it is long."""

import json
from pathlib import Path

import pytest

from tests.durations import COLLECTED, FILE

ROOT = Path(__file__).parents[1]
LONGEST_S = 2.5
BUDGET_S = {"quick": 400.0, "slow": 800.0}
"""Largest sum of all tests of a tier, in seconds. Two workers take half of it each."""
# Quick tests that may take longer, and why.
LONGER = {
    "tests/test_without_unix.py::test_every_module_loads": "one process imports all modules, with pandas and matplotlib",
    "tests/drivers/test_killed.py::test_a_run_that_is_killed_finds_the_same": "the one kill: a program starts three times",
    "tests/drivers/test_interrupted_programs.py::test_an_interrupt_ends_machine_code_that_goes_on": "a program starts",
    "tests/core/local_search/test_ranks.py::test_ranks_find_what_one_process_finds[3-SEARCHES]": "eight searches",
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
