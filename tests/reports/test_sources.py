"""Digest of the sources that a record measured: what changes it, and what does not."""

import shutil

import pytest

from reports.records.sources import sources_digest
from tests.conftest import ROOT

KERNEL = "core/kernels/two_opt/climbs.py"
SEARCH = "core/search/hill_climbing/search.py"


@pytest.fixture
def copy(tmp_path):
    for folder in ("core/kernels", "core/search", "drivers"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))

    def changed(path, change, workload="ihc"):
        file = tmp_path / path
        file.write_text(change(file.read_text()))
        sources_digest.cache_clear()
        return sources_digest(workload, tmp_path)

    return changed


@pytest.mark.parametrize("path", [KERNEL, SEARCH])
def test_code_changes_the_digest_and_comments_and_docstrings_do_not(copy, path):
    assert copy(path, lambda text: f"# A comment.\n\n\n{text}\n# Another.\n") == sources_digest("ihc")
    assert copy(path, lambda text: text.replace('"""', '"""Other words. ', 1)) == sources_digest("ihc")
    assert copy(path, lambda text: f'{text}\nMORE = 1\n"""What it is."""\n') != sources_digest("ihc")


def test_only_what_a_program_imports_counts(copy):
    assert copy("core/kernels/dp/held_karp.py", lambda text: f"{text}\nMORE = 1\n") == sources_digest("ihc")


def test_every_workload_of_the_suite_has_a_digest_and_no_other():
    assert all(len(sources_digest(name)) == 16 for name in ("ihc", "lcs"))
    assert sources_digest("a-user's") is None
