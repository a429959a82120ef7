"""`onekernel verify`: the work of records again, on any device here."""

import json
import re
import shlex

import pytest

from core.errors import UserError
from drivers import verify
from drivers.experiments.options import workload_options
from drivers.ihc import main as ihc
from drivers.knapsack import main as knapsack
from drivers.lcs import main as lcs
from drivers.workload.registry import get_workload
from reports.pages.record import command
from reports.records.files import load
from tests.conftest import ROOT

CLIMBS = ["--instance", "uniform:20:seed=1", "--climbers", "30", "--backend", "cpu", "-q"]
ITEMS = ["--items", "12", "--capacity", "60", "--backend", "cpu", "-q"]


@pytest.fixture
def recorded(tmp_path):
    file = tmp_path / "records.jsonl"
    for program, words in ((ihc, CLIMBS), (ihc, [*CLIMBS, "--backend", "threads"]), (knapsack, ITEMS)):
        assert program([*words, "--record", str(file)]) == 0
    return file


def changed(file, row, **values):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[row] |= values
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_work_of_several_records_is_run_once_and_its_verifiers_are_named(recorded, capsys, monkeypatch):
    monkeypatch.setattr("drivers.lcs.MOST_VERIFIED_CELLS", 0)
    assert lcs(["random:9", "--no-trace", "--backend", "cpu", "-q", "--record", str(recorded)]) == 0
    assert verify.main([str(recorded), "--backend", "threads"]) == 0
    named = ["confirmed by the scorer", "confirmed by the scorer and by NumPy", "not confirmed"]
    assert re.findall(r": equal cost, equal hash of .*?, (.*?)(?: \(|: )", capsys.readouterr().out) == named


def test_works_without_their_instance_are_named_and_the_others_verified(recorded, capsys):
    changed(recorded, 0, instance="nowhere", instance_sha256="0" * 64)
    assert verify.main([str(recorded)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("error: nowhere: found no such instance") and said.out.count(": equal cost") == 2


@pytest.mark.parametrize("values", [{"hash": "0123456789abcdef"}, {"best_cost": 1}])
def test_a_record_with_another_result_differs(recorded, capsys, values):
    changed(recorded, 1, **values)
    assert verify.main([str(recorded)]) == 1
    assert f"{recorded}:2" in capsys.readouterr().out


def test_a_command_that_is_shown_asks_for_what_the_record_says():
    for record in (one for path in (ROOT / "reports" / "gallery").glob("*.jsonl") for one in load(path)):
        name, *words = shlex.split(command(record).partition("onekernel ")[2])
        assert workload_options(get_workload(name), words).asked() == record.details["options"]


def test_a_row_is_verified_on_its_own(recorded, capsys):
    changed(recorded, 0, hash="0123456789abcdef")
    assert verify.main([str(recorded), "3"]) == 0 and capsys.readouterr().out.startswith("knapsack paper:12:60:")
    with pytest.raises(UserError, match="row 4: .* has 3 records"):
        verify.main([str(recorded), "4"])


def test_a_record_names_no_file_to_be_written(recorded, tmp_path):
    options = {"climbers": 30, "tour": str(tmp_path / "tour")}
    changed(recorded, 1, parameters=options, details={"options": options})
    assert verify.main([str(recorded), "2"]) == 0 and not (tmp_path / "tour").exists()
