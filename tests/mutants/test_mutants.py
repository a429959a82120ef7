"""Faults made by hand are caught: 60 by `make test-all`, at least 50 of them by `make test` already."""

import pytest

from tests.durations import COLLECTED
from tests.mutants.faults import apply, copied, faults, missed, run

FAULTS = faults()


@pytest.fixture(scope="module")
def copy():
    with copied() as folder:
        yield folder


def test_every_fault_has_a_symptom_and_tests():
    assert len(FAULTS) == 62
    for fault in FAULTS:
        assert fault.symptom and fault.tests and fault.patch.startswith("diff --git"), fault.name
        assert all(test.startswith("tests/") and "::" in test for test in fault.tests), fault.name


def test_every_fault_still_fits(copy):
    for fault in FAULTS:
        apply(fault, copy, "--check")


def test_tests_that_catch_faults_are_there_and_most_are_quick(pytestconfig):
    if pytestconfig.args != pytestconfig.getini("testpaths"):
        pytest.skip("only a run of the whole suite has all tests")
    tiers = pytestconfig.stash[COLLECTED]
    named = {fault.name: [tiers.get(test, "not there") for test in fault.tests] for fault in FAULTS}
    assert {name: found for name, found in named.items() if set(found) & {"not there", "long"}} == {}
    assert sum("quick" in found for found in named.values()) >= 50, named


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_caught(fault, copy):
    assert missed(fault, copy) == ""


@pytest.mark.long
def test_without_a_fault_the_same_tests_pass(copy):
    done = run(tuple({test for fault in FAULTS for test in fault.tests}), copy)
    assert done.returncode == 0, done.stdout[-5000:]
