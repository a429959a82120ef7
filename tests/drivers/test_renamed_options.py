"""Old names of options and values are refused in one line that gives the new name."""

import subprocess
import sys

import pytest

import onekernel as ok
from core.errors import UserError
from core.renamed_options import RENAMED_OPTIONS, RENAMED_VALUES, explain_renaming
from tests.conftest import ROOT

WORKLOAD = {"--state", "--state-every", "--own-cores", "--share", "--remember", "--tables"}
BENCH = {"--yardsticks", "--limit"}
PROGRAMS = {
    **dict.fromkeys(WORKLOAD, ["drivers.qap"]),
    **dict.fromkeys(BENCH, ["drivers.bench"]),
    "--fresh": ["drivers.compare", "drivers.overview", "drivers.reproduce"],
    "--no-state": ["cluster slurm"],
    "--survive": ["cluster launch"],
}
LINES = [
    *(
        (name, f"{old} 3", f"{old}: renamed, expected {RENAMED_OPTIONS[old]}")
        for old in PROGRAMS
        for name in PROGRAMS[old]
    ),
    *(
        ("drivers.compare", f"qap {old}=3", f"{old}: renamed, expected {RENAMED_OPTIONS[old]}")
        for old in sorted(WORKLOAD)
    ),
    ("drivers.qap", "--mapping suite", "--mapping suite: renamed, expected native"),
    ("drivers.compare", "qap --mapping suite", "--mapping suite: renamed, expected native"),
    ("drivers.qap", "--evaluation kept --iterations 1 --backend cpu", "evaluation kept: renamed, expected incremental"),
    ("reports", "tables runs.jsonl", "tables: renamed, expected papers"),
]


def test_every_renamed_option_is_tested():
    assert PROGRAMS.keys() == RENAMED_OPTIONS.keys()


@pytest.mark.parametrize(("program", "given", "expected"), LINES, ids=[f"{name} {given}" for name, given, _ in LINES])
def test_an_old_name_ends_the_program_with_the_new_name(program, given, expected):
    words = [*program.split(), *given.split()]
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert expected in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        *(
            ({old: 1}, f"^{old}: renamed, expected {new}$")
            for old, new in (
                ("state", "checkpoint"),
                ("share", "distribute"),
                ("own_cores", "pin_cores"),
                ("tables", "data_memory"),
            )
        ),
        ({"mapping": "suite"}, "^mapping='suite': renamed, expected 'native'$"),
        ({"evaluation": "kept", "iterations": 1, "backend": "cpu"}, "^evaluation kept: renamed, expected incremental$"),
    ],
    ids=str,
)
def test_an_old_keyword_or_value_is_refused_from_python(options, expected):
    with pytest.raises(UserError, match=expected):
        ok.minimize(ok.Qap("taillard:5:seeds=1,2"), **options)


def test_new_names_are_no_old_names_and_own_options_of_an_old_name_are_taken():
    assert not RENAMED_OPTIONS.keys() & set(RENAMED_OPTIONS.values())
    assert all(not values.keys() & set(values.values()) for values in RENAMED_VALUES.values())
    known = ["--limit", "--time-budget"]
    for message in ("unrecognized arguments: --limit 3", "unrecognized arguments: --state", "expected one argument"):
        assert explain_renaming(message, known) == message
    assert (
        explain_renaming("unrecognized arguments: a --limit=3", known[1:]) == "--limit: renamed, expected --time-budget"
    )
