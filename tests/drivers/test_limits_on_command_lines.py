"""Instances beyond the limits, on command lines: one line and exit code 2, before anything large is made."""

import json
import resource
import subprocess
import sys
import textwrap

from tests.conftest import ROOT
from tests.core.run.test_limits import LIMITS

HUGE = "NAME: huge\nTYPE: TSP\nDIMENSION: 5\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n"
HUGE += "2000000000 " * 10 + "\n"
ONE_CITY_MORE = "found 65536 cities with distances of 8.0 GiB, expected at most 4 GiB"
COMMANDS = {
    "46,340 cities": ("tsp --instance uniform:46341:seed=1 --evaluation table --iterations 1", "has 46341 cities"),
    "n * longest distance < 2^31": ("ihc --instance huge.tsp --climbers 1", "do not fit 31 bits"),
    "4 * n * n bytes in the memory that a team shares: 110 cities in 48 KiB, 1,024 on a core": (
        "ihc --instance uniform:1025:seed=1 --mapping published --climbers 1", "found 1025 cities, expected at most 1024"),
    "46,000 cities": ("aco --instance uniform:46001:seed=1 --iterations 1", "ants take 3 to 46000 cities here, not 46001"),
    "ants * n < 2^31": ("aco --instance uniform:1000:seed=1 --ants 2147484 --iterations 1", "pass 2^31 cities"),
    "65,535 cities": ("heldkarp --instance uniform:65536:seed=1 --k 3", ONE_CITY_MORE),
    "k 2 to 14": ("heldkarp --instance uniform:50:seed=1 --k 15", "k = 15: at most 14"),
    "start tour below 2^30 - 1": ("heldkarp --instance huge.tsp --k 3", "do not fit 31 bits"),
    "lengths below 2^30 - 1": ("heldkarp --instance huge.tsp", "expected below 1073741823"),
    "30 cities": ("exact --instance uniform:31:seed=1", "31 cities: exact search takes at most 30"),
    "start tour below 2^24 (1-trees) or 2^26 - 1": ("exact --instance huge.tsp", "expected below 16777216"),
    "2^60 items": ("exact --instance uniform:30:seed=1 --bound none --depth 15", "which is a depth of 14"),
    "2^31 - 65 letters": ("lcs random:2147483584", "expected an integer from 0 to 2147483583"),
    "capacity 2^30 - 1": ("knapsack --items 5 --capacity 1073741824", "expected an integer from 4 to 1073741823"),
    "values 2^32 - 1": ("knapsack --instance huge.kp", "4294967296"),
    "cells that the device keeps < 2^31": (
        "heldkarp --instance uniform:30:seed=1 --mapping published", "expected at most 2147483647 of both"),
    "Held-Karp 29 cities": ("heldkarp --instance uniform:30:seed=1 --mapping published", "expected at most 2147483647 of both"),
    "65,535 elements": ("tsp --instance uniform:65536:seed=1 --algorithm tabu --iterations 1", "expected an integer from 1 to 65535"),
    "2^32 - 1 neighbours": (
        "ppp --instance 9-2955 --neighbourhood flip3 --iterations 1", "expected 1 to 4294967295"),
    "walks * (elements, memory, rows, 13) < 2^31": (
        "qap --instance taillard:20:seeds=1,2 --walks 107374183 --iterations 1", "expected less than 2^31 in all"),
}  # fmt: skip
"""By the table's words: a command line with the next value, and words of the message."""
NO_COMMAND = {
    "with `--scan columns` teams * n * (n + 1) < 2^31",  # more teams than any machine has
    "n * row of weights < 2^31",  # only devices with teams of many lanes
    "36 cities",  # restricted tours instead, with a note
    "65,533 letters in both strings",  # few texts have them
    "strips * rows / 32 < 2^31",
    "masks < 2^31",
    "waves + lanes < 2^31",
    "whole tiles < 2^31 rows and columns",  # an instance of two gigabytes
}
MOST_BYTES = 6 << 30

PROGRAM = """
    import contextlib, importlib, io, json, resource, sys
    from drivers.cli.exit_codes import run_driver
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
    for line in sys.stdin:
        name, *words = line.split()
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
            code = run_driver(importlib.import_module(f"drivers.{name}").main, [*words, "--backend", "cpu"])
        print(json.dumps([code, said.getvalue()]))
    """


def test_every_limit_has_a_command_or_a_reason_why_not():
    assert {limit for _, limit in LIMITS} == {*COMMANDS, *NO_COMMAND}


def test_what_passes_a_limit_ends_a_program_in_one_line(tmp_path, environment):
    (tmp_path / "huge.tsp").write_text(HUGE)
    (tmp_path / "huge.kp").write_text("1 5\n4294967296 3\n")
    commands = "\n".join(command for command, _ in COMMANDS.values()).replace("huge.", f"{tmp_path}/huge.")
    asked = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = MOST_BYTES if asked == resource.RLIM_INFINITY else min(asked, MOST_BYTES)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(most)],
        input=commands,
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    for (command, words), answer in zip(COMMANDS.values(), done.stdout.splitlines(), strict=True):
        code, said = json.loads(answer)
        *notes, last = said.splitlines()
        assert (code, all(note.startswith("note: ") for note in notes)) == (2, True), f"{command}: {said}"
        assert last.startswith("error: ") and words in last and "out of memory" not in last, f"{command}: {said}"
