"""The check of the suite itself: temporary files that are left behind fail."""

import tempfile
from pathlib import Path

import pytest

from tests.hygiene import own_temporary_folder


def test_a_temporary_file_that_is_left_behind_fails(tmp_path, pytestconfig):
    before = tempfile.gettempdir()
    forgotten = pytest.raises(AssertionError, match="left behind: forgotten")
    with forgotten, own_temporary_folder(tmp_path, pytestconfig.pluginmanager):
        assert Path(tempfile.gettempdir()).parent == tmp_path
        tempfile.mkdtemp(prefix="forgotten")
    assert tempfile.gettempdir() == before
