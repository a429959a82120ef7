"""`python -m reports` from a shell."""

import subprocess
import sys
from pathlib import Path

from reports.records import append

ROOT = Path(__file__).parents[2]


def reports(*arguments):
    command = [sys.executable, "-m", "reports", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_a_report_is_made_from_the_records_of_several_files(tmp_path, make_record):
    append(tmp_path / "a.jsonl", make_record())
    append(tmp_path / "b.jsonl", make_record(backend="cuda"))
    result = reports("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out" / "compare-ihc.md").read_text()
    assert "| cuda |" in text
    assert "| cpu |" in text


def test_unequal_work_ends_with_one_line_and_exit_code_2(tmp_path, make_record):
    path = tmp_path / "a.jsonl"
    append(path, make_record())
    append(path, make_record(backend="cuda", trajectory_hash="ffff"))
    result = reports("compare", path, "--out", tmp_path / "out")
    assert result.returncode == 2
    assert result.stderr.startswith("error: not the same work")
    assert f"{path}:1" in result.stderr
    assert f"{path}:2" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_missing_file_ends_with_one_line_and_exit_code_2(tmp_path):
    result = reports("compare", tmp_path / "none.jsonl")
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
