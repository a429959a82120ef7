"""Digests of the kernels that a record measured: what makes it stale, and what does not."""

import sys

from core.qap import kernels as qap
from drivers.ihc import main as ihc
from drivers.knapsack import main as knapsack
from reports.records import programs
from reports.records.files import load
from reports.records.programs import is_stale, program_digests, todays_digests
from tests.core.lang.module_texts import loaded

TEXT = """
from core.lang import Array, function, i32, kernel

@function
def scaled(v: i32) -> i32:
    return 3 * v

@kernel
def scale(out: Array[i32], n: i32):
    out[0] = scaled(n)
"""


def test_a_kernel_has_a_digest_for_each_function_of_the_suite_and_for_none_of_a_user(tmp_path, monkeypatch):
    module = loaded(tmp_path, TEXT)
    assert program_digests([module.scale]) == []
    monkeypatch.setattr(programs, "SUITE", module.__name__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert len(program_digests([module.scale])) == 2


def test_todays_functions_are_those_that_run(make_record):
    assert todays_digests().issuperset(program_digests([qap.added]))
    for about, stale in (
        ({}, True),
        ({"programs": ["nobody"]}, True),
        *(({"programs": program_digests(kernels)}, False) for kernels in ([qap.added], [])),
    ):
        assert is_stale(make_record(details=about)) == stale


def test_a_run_records_the_digests_of_its_kernels_and_of_no_other_run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the self-test of a device launches kernels too
    for backend in ("python", "cpu"):
        for path in (tmp_path / "first", tmp_path / "again"):
            words = ["--instance", "uniform:8:seed=1", "--climbers", "4", "--backend", backend, "--record", str(path)]
            assert ihc(words) == 0
            assert knapsack(["--items", "9", "--capacity", "50", "--backend", backend]) == 0
    first, again = (load(tmp_path / name) for name in ("first", "again"))
    for one, same in zip(first, again, strict=True):
        assert len(one.details["programs"]) > 5 and one.details["programs"] == same.details["programs"]
        assert not is_stale(one)
