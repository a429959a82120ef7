"""Tests pass in any order, and leave nothing in the folder for temporary files."""

import os
import random
import shutil
import tempfile
from contextlib import contextmanager
from itertools import groupby

import pytest


def shuffled(items, seed):
    """Tests in another order: modules, and the tests of each, so that a module's fixtures are made once."""
    draw = random.Random(seed)
    modules = [list(group) for _, group in groupby(items, key=lambda item: item.nodeid.partition("::")[0])]
    draw.shuffle(modules)
    for module in modules:
        draw.shuffle(module)
    return [item for module in modules for item in module]


class Left:
    """A plugin of pytest that notes after which test a name was first in a folder."""

    def __init__(self, folder):
        self.folder, self.after = folder, {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item):
        for name in os.listdir(self.folder):
            self.after.setdefault(name, item.nodeid)


@contextmanager
def own_temporary_folder(base, plugins):
    """Give all tests of this process a folder for temporary files, which must be empty at their end.

    It is below pytest's own, which pytest removes later even if this run is killed. Its name is short, since those of
    sockets have at most 107 letters.
    """
    folder, before = base / "t", os.environ.get("TMPDIR")
    folder.mkdir()
    left = Left(folder)
    plugins.register(left)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    yield
    tempfile.tempdir = None
    if before is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = before
    plugins.unregister(left)
    names = os.listdir(folder)
    shutil.rmtree(folder)
    assert not names, f"left behind: {', '.join(f'{name} (first seen after {left.after.get(name)})' for name in names)}"
