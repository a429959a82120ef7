"""The tests that a change reaches, in this checkout."""

import pytest

from tests import changed


@pytest.mark.slow
@pytest.mark.parametrize(
    "file, reached, kept",
    [
        ("core/problems/qap/qaplib.py", "tests/core/problems/test_qaplib.py", "tests/core/lang/test_language_page.py"),
        ("drivers/lcs.py", "tests/drivers/test_lcs.py", "tests/backends/test_cache.py"),
        ("tests/cluster/conftest.py", "tests/cluster/test_abort.py", "tests/test_architecture.py"),
        ("docs/kernels.md", "tests/docs/test_links.py", "tests/drivers/test_lcs.py"),
        ("Makefile", "tests/test_make.py", "tests/drivers/test_lcs.py"),
        (
            "reports/papers/luong2013.toml",
            "tests/reports/test_luong2013.py",
            "tests/core/lang/test_reference_interpreter.py",
        ),
    ],
)
def test_a_change_reaches_tests_that_import_or_name_it_and_no_others(file, reached, kept):
    tests = changed.tests_of({file})
    assert reached in tests and kept not in tests


def test_a_change_of_nothing_reaches_no_test():
    assert changed.tests_of(set()) == []


def test_a_relative_import_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    (tmp_path / "near.py").write_text("from . import far\n")
    with pytest.raises(ValueError, match=r"near.py:1: a relative import"):
        changed.reached("near.py")
