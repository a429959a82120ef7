"""The progress bar of notebooks, on a made-up IPython that keeps what it is given to show."""

import sys
from types import SimpleNamespace

import pytest

from drivers.cli.progress import in_notebook, notebook_bar


@pytest.fixture
def shown(monkeypatch):
    """Outputs shown by IPython in a process that is a notebook's kernel."""
    kept = []
    place = SimpleNamespace(update=kept.append)

    def display(content, display_id):
        kept.append(content)
        return place

    made_up = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "IPython", made_up)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display, HTML=str))
    return kept


def test_a_kernel_is_a_notebook_and_a_terminal_is_none(shown, monkeypatch):
    assert in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert not in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()


def test_the_bar_grows_and_goes(shown):
    with notebook_bar("searching") as bar:
        bar(1500, 3000, "best cost 7 < 8")
        bar(2, None, "")
    assert '<progress value="1500" max="3000"></progress> 1,500 of 3,000 best cost 7 &lt; 8' in shown[1]
    assert "<progress></progress> 2 " in shown[2]
    assert shown[-1] == ""
