"""Fixtures of benchmark tests: one core, and rows that take no time."""

import pytest

import backends
from drivers.experiments.presets import bench

ROW = {"family": "ihc", "on": "cores", "workload": "ihc", "title": "climbs"}
CLIMBS = {"arguments": "--instance uniform:9:seed=1 --climbers 5000"}


@pytest.fixture(scope="session")
def rows():
    return [row for row in backends.survey() if row.backend == "cpu"]


@pytest.fixture
def only_cpu(rows, monkeypatch):
    monkeypatch.setattr(backends, "survey", lambda: rows)


@pytest.fixture
def use_rows(monkeypatch):
    return lambda *rows: monkeypatch.setattr(bench, "CASES", [{**ROW, **row} for row in rows])
