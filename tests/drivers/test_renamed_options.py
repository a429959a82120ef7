"""Old names of options and values are refused in one line that gives the new name."""

import importlib

import pytest

import onekernel as ok
from cluster.launch import job, slurm
from core.errors import UserError
from core.renamed_options import RENAMED_OPTIONS, RENAMED_VALUES, explain_renaming
from drivers.cli.exit_codes import run_driver

WORKLOAD = ("--state", "--state-every", "--own-cores", "--remember", "--tables")
PROGRAMS = {
    **dict.fromkeys(WORKLOAD, ["drivers.qap", "drivers.compare"]),
    **dict.fromkeys(("--yardsticks", "--limit"), ["drivers.bench.command_line"]),
    "--fresh": ["drivers.compare", "drivers.overview", "drivers.reproduce"],
    "--no-state": ["cluster.launch.slurm"],
    "--survive": ["cluster.launch.job"],
}
"""Programs that had each option under its old name."""
PARSERS = {"cluster.launch.slurm": slurm.parser, "cluster.launch.job": job.parser}
LINES = [
    *(
        (program, f"{old}=3", f"{old}: renamed, expected {RENAMED_OPTIONS[old]}")
        for old, programs in PROGRAMS.items()
        for program in programs
    ),
    ("drivers.qap", "--mapping suite", "--mapping suite: renamed, expected native"),
    ("drivers.compare", "qap --mapping suite", "--mapping suite: renamed, expected native"),
    ("drivers.qap", "--evaluation kept --iterations 1 --backend cpu", "evaluation kept: renamed, expected incremental"),
    ("reports.__main__", "tables runs.jsonl", "tables: renamed, expected papers"),
]
KEYWORDS = {"state": "checkpoint", "own_cores": "pin_cores", "tables": "data_memory"}


def test_every_renamed_option_is_tested():
    assert PROGRAMS.keys() == RENAMED_OPTIONS.keys()


@pytest.mark.parametrize(
    ("program", "arguments", "expected"), LINES, ids=[f"{name} {arguments}" for name, arguments, _ in LINES]
)
def test_an_old_name_ends_the_program_with_the_new_name(program, arguments, expected, capsys):
    make = PARSERS.get(program)
    main = make().parse_args if make else importlib.import_module(program).main
    try:
        code = run_driver(main, arguments.split())
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert expected in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        *(({old: "3"}, f"^{old}: renamed, expected {new}$") for old, new in KEYWORDS.items()),
        ({"mapping": "suite"}, "^mapping='suite': renamed, expected 'native'$"),
        ({"evaluation": "kept", "iterations": 1, "backend": "cpu"}, "^evaluation kept: renamed, expected incremental$"),
    ],
    ids=str,
)
def test_an_old_keyword_or_value_is_refused_from_python(options, expected):
    with pytest.raises(UserError, match=expected):
        ok.minimize(ok.Qap("taillard:5:seeds=1,2"), **options)


def test_an_option_of_an_old_name_is_taken_where_a_program_has_it():
    assert not RENAMED_OPTIONS.keys() & set(RENAMED_OPTIONS.values())
    assert all(not values.keys() & set(values.values()) for values in RENAMED_VALUES.values())
    unknown = "unrecognized arguments: a --limit=3"
    assert explain_renaming(unknown, ["--limit", "--time-budget"]) == explain_renaming(unknown, []) == unknown
    assert explain_renaming(unknown, ["--time-budget"]) == "--limit: renamed, expected --time-budget"
