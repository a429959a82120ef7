"""Fixtures of the local search's tests."""

import math

import pytest

from core.search.local_search import validation


@pytest.fixture
def little_is_tried(monkeypatch):
    """Each test meets its problems for the first time, and tries as little of them however busy the machine is."""
    monkeypatch.setattr(validation, "seen", set())
    monkeypatch.setattr(validation, "READS", 40_000)
    monkeypatch.setattr(validation, "SECONDS", math.inf)
    monkeypatch.setattr(validation, "WHOLE", 400)
    monkeypatch.setattr(validation, "SCORING_SECONDS", math.inf)
