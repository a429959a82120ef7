"""`python -m reports`: every command once, and messages of user errors."""

import os
import subprocess
import sys

import pytest

from reports.records.files import append
from reports.records.frame import COLUMNS
from tests.conftest import ROOT

CUDA = {"backend": "cuda"}


@pytest.fixture
def files(tmp_path, make_record):
    """Good files of records, and one of each kind that a command refuses."""
    records = {
        "a": [make_record(sampled={"history": [[0, 0, 0.0, 30000], [1, 4850, 0.5, 21282]]})],
        "b": [make_record(**CUDA)],
        "sat": [make_record(workload="sat")],
        "wrong": [make_record(verified=False)],
        "unequal": [make_record(), make_record(**CUDA, hash="ffff")],
        "empty": [],
    }
    for name, runs in records.items():
        (tmp_path / name).touch()
        for run in runs:
            append(tmp_path / name, run)
    (tmp_path / "notes").write_text("not a record\n")
    return tmp_path


def test_a_report_is_made_from_the_records_of_several_files(files, reports):
    code, said, _ = reports("compare", files / "a", files / "b", "--out", files / "out")
    assert (code, said.splitlines()[0]) == (0, str(files / "out" / "compare-ihc.md"))
    text = (files / "out" / "compare-ihc.md").read_text()
    assert "| cuda |" in text and "| one core |" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("compare none", "{folder}/none: cannot read the records: No such file or directory"),
        ("compare unequal", "unequal work cannot be compared: hash is"),
        ("compare a --out {folder}/b", "{folder}/b: cannot write the report: "),
        ("papers sat", "no paper has a row for these records: use `onekernel report compare`"),
        ("papers empty", "no records in the files"),
        ("compare wrong", "no records to compare: the NumPy scorer confirmed none of them"),
        ("csv notes", "{folder}/notes:1: expected a run record"),
        ("csv a --out {folder}", "{folder}: cannot write the table: Is a directory"),
        ("csv a --out {folder}/a/b", "{folder}/a/b: cannot write the table: "),
        ("show a 2", "row 2: {folder}/a has 1 records"),
        ("ioh a --out {folder}/b", "{folder}/b: cannot write IOHprofiler's files: "),
    ],
)
def test_a_mistake_ends_with_one_line_and_exit_code_2(files, reports, arguments, message):
    command, name, *rest = arguments.format(folder=files).split()
    before = (files / "b").read_bytes()
    out = rest or ["--out", files / "out"]
    code, said, error = reports(command, files / name, *out)
    assert (code, said, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"error: {message.format(folder=files)}")
    assert not (files / "out").exists() and (files / "b").read_bytes() == before


def test_a_record_is_shown_with_its_command_machine_interval_and_conditions(tmp_path, reports, make_measured):
    options = {"climbers": 2000, "trace": False, "scan": "full"}
    append(tmp_path / "a", make_measured(others=0.25, joules=12.5, ranks=2, details={"options": options}))
    command = "--instance kroA100 --climbers 2000 --no-trace --scan full"
    assert f"  1  mpirun -n 2 onekernel ihc {command} --seed 0" in reports("show", tmp_path / "a")[1]
    code, said, _ = reports("show", tmp_path / "a", "1")
    shown = dict(line.split(": ", 1) for line in said.replace("\n  ", " ").splitlines())
    assert code == 0 and shown["command"] == f"mpirun -n 2 onekernel ihc {command} --seed 0 --backend cpu --device 0"
    assert shown["rate"].startswith("8000 climbs/s, 95 % interval 8000 to 8000, 6 warm repetitions")
    facts = [shown[name] for name in ("others_cores", "running_s", "package_j", "machine")]
    assert [fact[:13] for fact in facts] == ["0.25", "0.25 to 1.0 s", "12.5 J", "Test CPU, 2 c"]


def test_tables_for_latex_are_written_on_request(files, reports, monkeypatch):
    asked = "compare", files / "a", files / "b", "--out", files / "out"
    assert ".tex" not in reports(*asked)[1] and not (files / "out" / "compare-ihc.tex").exists()
    code, said, _ = reports(*asked, "--latex")
    assert (code, said.splitlines()[1]) == (0, str(files / "out" / "compare-ihc.tex"))
    text = (files / "out" / "compare-ihc.tex").read_text()
    assert text.count("\\toprule") == text.count("\\end{tabular}") == 1
    assert "runs/s" in text and "\ncuda & " in text
    monkeypatch.setitem(sys.modules, "pandas", None)
    code, _, error = reports(*asked, "--latex")
    assert (code, error) == (2, "error: tables of records need pandas: pip install 'onekernel[report]'\n")


def test_the_help_documents_every_column_of_the_csv_file(reports):
    code, text, _ = reports("csv", "--help")
    assert code == 0
    for column in COLUMNS:
        assert f"{column.name} " in text and column.meaning in text


def test_a_full_standard_output_ends_with_one_line_and_one_that_is_closed_without(files):
    def reports(command, output, *arguments):
        started = [sys.executable, "-m", "reports", command, str(files / "a"), *map(str, arguments)]
        done = subprocess.run(started, cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60)
        return done.returncode, done.stderr

    out = "--out", files / "out"
    with open("/dev/full", "w") as full:
        line = f"error: standard output: No space left on device; the report is in {files / 'out' / 'compare-ihc.md'}\n"
        assert reports("compare", full, *out) == (2, line)
        assert reports("csv", full) == (1, "error: standard output: No space left on device\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        assert reports("compare", pipe, *out) == (0, "")
