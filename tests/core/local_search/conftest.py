"""Fixtures of the local search's tests."""

import math

import pytest

from core.local_search.checks import validation


@pytest.fixture
def little_is_tried(monkeypatch):
    """Each test checks its problems anew, by few moves on a busy machine too."""
    monkeypatch.setattr(validation, "seen", {})
    monkeypatch.setattr(validation, "READS", 40_000)
    monkeypatch.setattr(validation, "SECONDS", math.inf)
    monkeypatch.setattr(validation, "WHOLE", 400)
    monkeypatch.setattr(validation, "SCORING_SECONDS", math.inf)


@pytest.fixture
def launches(python, monkeypatch):
    noted = []
    execute = python.execute

    def note(launch):
        noted.append((launch.executable.kernel.source.name, launch.teams, launch.executable.team_size))
        execute(launch)

    monkeypatch.setattr(python, "execute", note)
    return noted
