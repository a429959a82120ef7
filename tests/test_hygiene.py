"""The checks of the suite itself: another order has all tests, and temporary files that are left behind fail."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.hygiene import own_temporary_folder, shuffled


def test_another_order_has_all_tests_with_those_of_a_module_together():
    items = [SimpleNamespace(nodeid=f"{module}.py::test_{k}") for module in "abcdefg" for k in range(9)]
    orders = [[item.nodeid for item in shuffled(items, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == [item.nodeid for item in items]
    modules = [name.partition("::")[0] for name in orders[0]]
    assert sum(one != two for one, two in zip(modules, modules[1:], strict=False)) == 6


def test_a_temporary_file_that_is_left_behind_fails(tmp_path, pytestconfig):
    before = tempfile.gettempdir()
    forgotten = pytest.raises(AssertionError, match="left behind: forgotten")
    with forgotten, own_temporary_folder(tmp_path, pytestconfig.pluginmanager):
        assert Path(tempfile.gettempdir()).parent == tmp_path
        tempfile.mkdtemp(prefix="forgotten")
    assert tempfile.gettempdir() == before
