"""Tables of a benchmark case, and results of equal work that must be equal."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.errors import UserError
from drivers.bench.cases import BenchmarkCase, Candidate
from drivers.bench.results import EqualWork, case_lines, default_verdict
from reports.records.files import Repetition
from tests.drivers.bench.conftest import ONE_CORE, THREADS


@pytest.fixture
def make_results(use_rows, make_cases, make_record):
    def make(*seconds, changes=({}, {}), **more):
        use_rows({"title": "climbs", "arguments": "--instance uniform:9:seed=1"})
        (case,) = make_cases("--workload ihc", (ONE_CORE, THREADS))
        records = [
            make_record(
                backend=one.case.configuration.backend,
                repetitions=tuple(
                    Repetition(compile_s=0.5, transfer_s=0.0, kernel_s=s, total_s=s + 1.5) for s in times
                ),
                **change,
            )
            for one, times, change in zip(case.candidates, seconds, changes, strict=True)
        ]
        return replace(case, **more), {one: [record] for one, record in zip(case.candidates, records, strict=True)}

    return make


def test_a_table_has_medians_spreads_rates_and_ratios(make_results):
    case, results = make_results((2.0, 1.0, 4.0), (1.0, 1.0, 0.5), by_kernels=True, remark="the paper: 3 s")
    table, result_line, remark = case_lines(case, results)
    first, second = (line.split() for line in table.splitlines()[2:])
    assert first[:7] == ["cpu", "2.00", "s", "1.00", "s", "4.00", "s"]
    assert second[-2:] == ["2.00x", "cpu"]
    assert result_line.startswith("same result: cost ") and remark == "the paper: 3 s"
    end_to_end = next(case_lines(replace(case, by_kernels=False), results))
    assert end_to_end.splitlines()[2].split()[:3] == ["cpu", "3.00", "s"]


def test_ranks_have_their_communication_and_reference_solvers_their_time(make_results):
    solvers = [{"name": "quick", "solve_s": 0.25, "failure": ""}, {"name": "absent", "solve_s": None, "failure": "no"}]
    case, results = make_results((2.0,), (1.0,), changes=({"details": {"reference_solvers": solvers}}, {"ranks": 2}))
    table, _, missing = case_lines(case, results)
    assert "in communication" in table and "quick" in table and "250 ms" in table
    assert missing.endswith(": absent")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hash": "ffff"}, "hash"),
        ({"best_cost": 1, "parameters": {"climbers": 1}}, "climbs.*: cost 1 by threads, expected .*, as by cpu"),
        ({"verified": False}, "climbs.*: the result of threads is not confirmed"),
    ],
)
def test_unequal_or_unconfirmed_results_are_an_error(make_results, change, message):
    case, results = make_results((2.0,), (1.0,), changes=({}, change))
    with pytest.raises(UserError, match=message):
        EqualWork().check(case, results)


def test_equal_work_is_equal_across_cases_and_variants_may_differ(make_results):
    case, results = make_results((2.0,), (1.0,))
    equal = EqualWork()
    equal.check(case, results)
    with pytest.raises(UserError, match="hash"):
        equal.check(*make_results((2.0,), (1.0,), changes=({"hash": "ffff"}, {"hash": "ffff"})))
    other = {"best_cost": 1, "parameters": {"climbers": 1}}
    different, unequal = make_results((2.0,), (1.0,), changes=({}, other), unequal=True)
    EqualWork().check(different, unequal)
    assert len([line for line in case_lines(different, unequal) if "cost" in line]) == 2
    assert isinstance(next(iter(unequal)), Candidate) and isinstance(case, BenchmarkCase)


def verdict(**costs):
    results = {
        Candidate(name, name, None): [SimpleNamespace(best_cost=cost) for cost in found]
        for name, found in costs.items()
    }
    return list(default_verdict(results))


def test_a_default_is_beaten_by_what_is_significantly_better_and_by_nothing_else():
    low, high = range(1, 11), range(101, 111)
    assert verdict(default=high, other=low)[1].startswith("the default is beaten by other (p = ")
    assert verdict(default=low, other=high)[1] == "the default is not beaten"
    assert verdict(default=high, other=range(100, 110))[1] == "the default is not beaten"
    assert verdict(default=high, other=low)[0] == "mean costs of 10 seeds: default: 105.5, other: 5.5"
    assert verdict(full=high, other=low) == verdict(default=high) == verdict(default=[1], other=[2]) == []


def test_without_scipy_a_line_says_why_there_is_no_test(monkeypatch):
    monkeypatch.setattr("drivers.bench.results.importlib.util.find_spec", lambda name: None)
    assert verdict(default=[1, 2], other=[3, 4])[1].startswith("no test of the differences: it needs scipy")
