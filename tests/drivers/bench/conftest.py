"""Fixtures of benchmark tests: one core, and rows that take no time."""

import pytest

import backends
from drivers.bench import cases
from drivers.bench.command_line import parse
from drivers.experiments.configurations import Configuration
from tests.reports.conftest import make_record as made_record

make_record = made_record
ONE_CORE = Configuration("cpu", "0", "a core", kind="core")
GPU = Configuration("gpu", "0", "a GPU", kind="gpu")
THREADS = Configuration("threads", "0", "all cores", kind="cores")


@pytest.fixture(scope="session")
def rows():
    return [row for row in backends.survey() if row.backend == "cpu"]


@pytest.fixture
def only_cpu(rows, monkeypatch):
    monkeypatch.setattr(backends, "survey", lambda: rows)


@pytest.fixture
def use_rows(monkeypatch):
    def use(*rows):
        monkeypatch.setitem(
            cases.TABLES, "case", [{"family": "ihc", "on": "cores", "workload": "ihc", **row} for row in rows]
        )

    return use


@pytest.fixture
def make_cases(tmp_path):
    def make(line="", devices=(ONE_CORE,), with_c=False):
        return list(cases.build_cases(parse(line.split()), devices, tmp_path / "r.jsonl", with_c=with_c))

    return make
