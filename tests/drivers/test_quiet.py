"""`--quiet` prints only results and errors; the next run without it prints everything again."""

import re

import pytest

from drivers import heldkarp, tsp
from drivers.cli import messages
from drivers.compare import main as compare

MANY_CITIES = ("--instance", "uniform:40:seed=1", "--backend", "cpu")
WALK = ("--instance", "uniform:9:seed=1", "--backend", "cpu", "--iterations", "3", "--walks", "2")


@pytest.fixture(autouse=True)
def talkative():
    yield
    messages.set_quiet(False)


def test_a_headline_and_notes_are_said_unless_the_run_is_quiet(drive):
    for driver, words, quiet in ((heldkarp, MANY_CITIES, "-q"), (tsp, WALK, "--quiet")):
        code, out, err = drive(quiet, *words, driver=driver)
        assert (code, err, out.count("\n")) == (0, "", 1) and "confirmed by the scorer" in out
    code, out, err = drive(*MANY_CITIES, driver=heldkarp)
    assert code == 0 and re.match(r"note: uniform:40:\S+ has 40 cities, ", err)
    assert drive(*WALK, driver=tsp)[1].count("\n") == 2


def test_a_quiet_comparison_shows_its_table_and_files_alone(tmp_path, capsys):
    small = ("ihc", "--instance", "uniform:8:seed=1", "--climbers", "2", "--backends", "python", "--repeats", "1")
    code = compare([*small, "--ranks", "--no-peers", "--out", str(tmp_path), "-q"])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    assert "[1/1]" not in said.out and "repetitions each" not in said.out
    assert f"report: {tmp_path / 'compare-ihc.md'}" in said.out.splitlines()
