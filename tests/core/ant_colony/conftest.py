"""Devices of the tests of ant colonies."""

import pytest

from core.ant_colony import colony, launch_shape, published


@pytest.fixture
def few_update_lanes(monkeypatch):
    """In plain Python each lane is a generator."""
    for module in (colony, published, launch_shape):
        monkeypatch.setattr(module, "UPDATE_LANES", 4)
