"""The comparison's table on the terminal."""

import sys

import pytest

from reports.comparison import NotRun, compare
from reports.table import print_table


@pytest.fixture
def comparison(make_record):
    missing = [NotRun("cuda", "", 1, "no driver"), NotRun("cpu", "0", 2, "no mpirun")]
    return compare([make_record(times=[2.0]), make_record(backend="threads", times=[0.5])], missing)


def test_plain_columns_line_up_and_what_did_not_run_follows(comparison, capsys):
    print_table(comparison)
    lines = capsys.readouterr().out.splitlines()
    heading, rule, cpu, threads = lines[:4]
    right = heading.index("G moves/s") + len("G moves/s")
    assert [line[:right].split()[-1] for line in (cpu, threads)] == ["1.00", "4.00"]
    assert threads.endswith("4.00x")
    assert len(rule) >= len(cpu)
    assert lines[-2:] == ["not run: cuda: no driver", "not run: cpu (device 0, 2 ranks): no mpirun"]


def test_a_terminal_gets_the_same_figures_from_rich(comparison, capsys, monkeypatch):
    pytest.importorskip("rich", reason="rich is not installed")
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table(comparison)
    shown = capsys.readouterr().out
    assert "┃" in shown
    for text in ("threads", "500 ms", "4.00x", "not run: cuda: no driver"):
        assert text in shown
