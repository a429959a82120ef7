import pytest

from backends.python import PythonBackend
from core.exact import search


@pytest.fixture
def oracle():
    return PythonBackend(PythonBackend.devices()[0])


@pytest.fixture
def few_on_the_device(monkeypatch):
    """The thesis leaves five to seven cities to the host."""
    monkeypatch.setattr(search, "ON_THE_HOST", 4)
