import pytest

from backends.python import PythonBackend
from core.search.exact import search


@pytest.fixture
def oracle():
    """Plain Python for one test, which may change its capabilities."""
    return PythonBackend(PythonBackend.devices()[0])


@pytest.fixture
def few_on_the_device(monkeypatch):
    """Let the device search five to seven cities too, which the thesis leaves to the host."""
    monkeypatch.setattr(search, "ON_THE_HOST", 4)
