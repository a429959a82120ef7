"""First calls: every program of the table has a workload, and a run is measured with an empty cache."""

import pytest

from core.errors import UserError
from drivers.bench import command_line, first_calls
from drivers.workload import registry


def test_programs_of_the_table_are_all_workloads():
    assert set(first_calls.FIRST_CALLS) == set(registry.NAMES)


@pytest.mark.slow
def test_a_first_call_compiles_in_a_process_of_its_own(tmp_path):
    compiled = first_calls.first_call_seconds("knapsack", "cpu", str(tmp_path))
    assert compiled > 0.2  # a start alone, with kernels compiled, takes less


def test_an_unknown_program_and_a_failing_one_are_refused(monkeypatch, tmp_path):
    with pytest.raises(UserError, match="expected a part of a workload's name"):
        command_line.main(["--workload", "first-calls", "--rows", "nothing"])
    monkeypatch.setitem(first_calls.FIRST_CALLS, "lcs", "--items 3")
    with pytest.raises(UserError, match="exit code 2: .*--items"):
        first_calls.first_call_seconds("lcs", "cpu", str(tmp_path))
