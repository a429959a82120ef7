"""Records as comma-separated values: a row per repetition, documented columns, nothing that was not recorded."""

import csv
import io

from reports.records.files import append
from reports.records.frame import csv_text
from reports.records.schema import Repetition
from tests.reports.conftest import MEASURED


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_repetition_is_a_row_with_what_it_measured(make_record):
    measured = MEASURED | {"rank_s": [0.75, 1.0]}
    samples = (Repetition(0.5, 0.125, 0.75, 1.5, **measured), Repetition(0.0, 0.125, 0.75, 2.0, **measured))
    first, second = read(csv_text([make_record(repetitions=samples, ranks=2, evaluations=3000)]))
    assert (first["repetition"], second["repetition"]) == ("1", "2")
    assert (first["running_s"], second["running_s"]) == ("1.0", "2.0")
    assert (first["evaluations_per_s"], second["evaluations_per_s"]) == ("3000.0", "1500.0")
    wanted = {
        "evaluation_unit": "moves",
        "parameters": '{"climbers": 100}',
        "cpu_model": "Test CPU",
        "started_at": MEASURED["started_at"],
    }
    wanted |= {"rank_least_s": "0.75", "rank_most_s": "1.0", "gpu_j": "250.0", "package_j": "12.5"}
    wanted |= {"gpu_mhz": "1755", "throttled": "True", "throttled_by": "power limit; power brake", "verified": "True"}
    wanted |= {"bytes_host_device": "4096", "bytes_between_ranks": "16", "communication_share": "0.25"}
    assert {name: first[name] for name in wanted} == wanted


def test_what_was_not_recorded_is_empty_and_not_0(make_record):
    (row,) = read(csv_text([make_record(evaluations=0)]))
    empty = {name for name, value in row.items() if value == ""}
    assert {"evaluations_per_s", "started_at", "gpu_j", "host", "rank_most_s", "bytes_between_ranks"} <= empty
    assert row["transfer_s"] == "0.0"


def test_repetitions_of_a_run_are_numbered_over_all_its_lines(make_record):
    runs = [make_record(times=[1.0, 2.0]), make_record(seed=1), make_record(times=[3.0])]
    assert [row["repetition"] for row in read(csv_text(runs))] == ["1", "2", "1", "3"]


def test_any_name_comes_back_as_it_was(make_record):
    name = 'a,"b"\n\rc; généré'
    assert read(csv_text([make_record(instance=name)]))[0]["instance"] == name


def test_the_table_goes_to_standard_output_or_to_a_file(tmp_path, make_record, reports):
    append(tmp_path / "a.jsonl", make_record())
    append(tmp_path / "b.jsonl", make_record(backend="cuda"))
    code, shown, message = reports("csv", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert (code, message) == (0, "")
    assert [row["backend"] for row in read(shown)] == ["cpu", "cuda"]
    out = tmp_path / "new" / "runs.csv"
    assert reports("csv", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--out", out) == (0, f"{out}\n", "")
    assert out.read_text() == shown
