"""Command lines that cannot be right, over all drivers: each ends with exit code 2 and one line, before any search."""

import importlib
import os
import shlex
import signal

import pytest

from drivers.cli.exit_codes import run_driver
from tests.drivers.made_up_paper import HILLS, written
from tests.drivers.made_up_runs import device, made_up_suite
from tests.drivers.small_runs import QUICK

EVERYWHERE = [
    ("--nonsense 3", "unrecognized arguments"),
    ("--backend nothing", "no backend 'nothing'"),
    ("--record folder", "--record folder: cannot write there: it is a folder"),
    ("--record fifo", "--record fifo: cannot write there: it is no regular file"),
]
"""Arguments that all drivers refuse, and a part of the message."""

SHARED = [
    ("--seed 1 --seeds 0..2", "--seed 1 and --seeds: expected one of them"),
    ("--seeds 0..2 --solution s", "--solution with --seeds: expected one seed"),
    ("--backend cpu --device 99", "no device '99'"),
    ("--record missing/r.jsonl", "--record missing/r.jsonl: cannot write there: there is no folder missing"),
    ("--record ''", "expected the name of a file"),
    ("--record new/", "there is no folder new"),
    ("--plot no/such/a.svg", "--plot no/such/a.svg: cannot write there: there is no folder no/such"),
    ("--rate-amount 9", "--rate-amount 9: expected with --measure"),
    ("--resume", "--resume: expected it with --checkpoint"),
    ("--checkpoint-every 5", "--checkpoint-every: expected it with --checkpoint"),
    ("--checkpoint s --repeats 2", "with --repeats 2: expected --record too, which lists the finished runs"),
    ("--checkpoint s --seeds 3", "--checkpoint with --seeds: expected"),
    ("--checkpoint text.txt", "--checkpoint text.txt: found a checkpoint, expected --resume or another file"),
    ("--cores 1", "--cores 1 with cpu: expected it with threads or joblib"),
    ("--backend threads --cores 9999", "--cores 9999: found "),
    ("--iteratons=5", "unrecognized arguments: --iteratons=5 (did you mean --iterations?) (--help lists all options)"),
    ("--algorithm tabuu", "invalid choice: 'tabuu' (did you mean tabu?)"),
    (f"--iterations {'9' * 5000}", "expected an integer of at least 1, found '9999999999999999999...9999"),
    ("--walks 2 --algorithm windows", "--walks 2 with --algorithm windows: expected 1"),
    ("--algorithm 3opt --window 99", "--window 99 with --algorithm 3opt: expected with windows"),
    ("--algorithm windows --window 9", "window 9: expected 16 to"),
    ("--algorithm windows --instance matrix.tsp", "distances EXPLICIT: windows take EUC_2D"),
    ("--record round", "Too many levels of symbolic links"),
    (f"--record {'x' * 300}", "File name too long"),
]
"""The same for options that one place reads for all drivers."""

TABLES = [("lcs", ""), ("heldkarp", ""), ("heldkarp", "--k 3"), ("knapsack", ""), ("knapsack", "--method core")]
NO_STATE = "--checkpoint: dynamic programming has none, since it takes seconds; leave it out"

WRONG = {
    "ihc": [
        ("--instance folder", "folder"),
        ("--instance uniform:99999999999999999999:seed=1", "99999999999999999999"),
        ("--instance uniform:3:seed=1", "hill climbing takes 5"),
        ("--mapping published --scan pruned", "--scan pruned with --mapping published"),
        ("--seed 99999999999999999999 --start philox", "does not fit"),
        ("--seed 3", "--seed changes nothing here"),
        ("--tour a --svg ./a", "--tour names the same file"),
        ("--instance nine.tsp --tour link.tsp", "the run reads it"),
        ("--instance matrix.tsp --svg m.svg", "has no coordinates to draw"),
    ],
    "aco": [
        ("--alpha nan", "at least 0"),
        ("--candidates 33", "33"),
        ("--stagnation 3", "--stagnation changes nothing here"),
    ],
    "tsp": [
        ("--neighbourhood 2opt,2opt,2opt,2opt", "4 neighbourhoods: expected 1 to 3"),
        ("--tenure 5 --algorithm hill", "--tenure with --algorithm hill"),
        ("--walks 2 --level iteration", "walks"),
        ("--seconds 1 --record r.jsonl --repeats 2", "--record with --seconds"),
        ("--instance matrix.tsp --data-memory image --backend cpu", "image"),
    ],
    "ppp": [("--instance 0-0", "0-0"), ("--peers", "--peers: found no reference solver for ppp")],
    "weierstrass": [("--instance 0", "weierstrass:0")],
    "exact": [
        ("--instance uniform:21:seed=1 --verify", "--verify: found 21 cities"),
        ("--instance uniform:8:seed=1 --matrix matrix.txt", "--matrix and --instance"),
        ("--seeds 0..2", "changes nothing here"),
    ],
    "heldkarp": [
        ("--instance uniform:8:seed=1 --matrix matrix.txt", "--matrix and --instance"),
        ("--k 3 --verify", "--verify with a restricted search"),
        ("--device-memory 1", "bytes of the device"),
    ],
    "lcs": [
        ("text.txt", "expected two files, or --instance, or --text"),
        ("--spill missing", "expected a writable folder"),
        ("--packed", "--packed changes nothing here: expected with --mapping published"),
        ("--no-trace --output common.txt", "--output needs --trace"),
    ],
    "knapsack": [("--nodes 5", "--nodes changes nothing here")],
}

PUBLISHED = "--mapping published"
ALONE = {
    "lcs": {
        "random:x": "random:x: found length 'x', expected an integer",
    },
    "knapsack": {
        f"--method bb {PUBLISHED}": f"{PUBLISHED} changes nothing here: expected without --method bb",
    },
    "heldkarp": {
        "--instance uniform:31:seed=1 --verify": "--verify: found 31 cities",
        "--instance uniform:24 --device-memory 1M": "cities; --k K finds a tour that is optimal over a neighbourhood",
        "--instance uniform:9 --k 4 --peers": "--peers with a restricted search (--k 4)",
        f"--instance uniform:280 {PUBLISHED}": "of at most 36 cities; uniform:280:seed=1:side=10000 has 280 cities",
    },
    "exact": {
        f"{PUBLISHED}": f"{PUBLISHED}: the thesis has no 1-trees; expected with --bound edges",
    },
    "aco": {
    },
    "qap": {
        "--target 4000000000": "target=4000000000: expected an integer from -2147483647 to 2147483647",
    },
    "ppp": {
        "--instance 9-9 --layout rows": f"--layout rows: expected with {PUBLISHED} or --evaluation histogram",
    },
}  # fmt: skip
"""Whole command lines but for the backend."""

OTHERS = [
    ("lcs", "text.txt empty.tsp --output text.txt --backend cpu", "the run reads it"),
    ("knapsack", "--instance missing.csv --backend cpu --quiet", "missing.csv"),
    ("compare", "ihc --instance uniform:9:seed=1 --out text.txt", "text.txt: cannot write there: File exists"),
    ("compare", "ihc --instance uniform:9:seed=1 --out text.txt/in", "/in: cannot write there: Not a directory"),
    ("compare", "qpa --out new", "workload 'qpa' (did you mean qap?): expected one of ihc, aco"),
    ("compare", "qap --climbers 5 --out new", "--climbers: expected an option of qap, found one of ihc"),
    ("compare", "--rerun qap --out new", "found 'qap' among the options, expected the workload first"),
    ("compare", "ihc --ranks 1 3 --out new", "--ranks 3: found 2 cores, expected at most 2, or --oversubscribe"),
    ("compare", "qap --seconds 3 --out new", "--seconds: a time limit ends each run at another iteration"),
    ("compare", "lcs --seed 4 --out new", "--seed changes nothing here"),
    ("compare", "ihc --backend cpu --out new", "--backend: found an option of single runs, expected --backends"),
    ("compare", "ihc --backends metal --out new", "--backends: expected some of cpu, threads, cuda, found 'metal'"),
    ("compare", "ihc --backends cuda --out new", "--backends: cuda is not usable here: no driver"),
    ("compare", "ihc --rank-backend threads --ranks --out new", "--rank-backend threads: changes nothing without"),
    ("compare", "ppp --pin-cores --out new", "--pin-cores: found an option of single runs, expected it"),
    ("compare", "ihc --backends threads --ranks 2 --out new", "--ranks 2: no backend of one core is among --backends"),
    ("bench.__main__", "--workload ihc --backends cpu --ranks --out text.txt", "text.txt: cannot write there"),
    ("bench.__main__", "--workload ihc --backends abacus", "--backends: expected some of cpu, threads"),
    ("bench.__main__", "--rows sudoku --ranks", "--workload all: no case has such a title and a device"),
    ("overview", "--workloads ich", "workload 'ich' (did you mean ihc?): expected one of ihc"),
    ("overview", "--out /proc/none", "/proc/none: cannot write there"),
    ("compare", "lcs --weak --ranks 2 --out new", "--weak: found lcs, a single problem"),
    ("compare", "ihc --weak --ranks 1 --out new", "--weak: found one rank, expected several"),
    ("compare", "ihc --backends cpu --cores 2 --out new", "--cores: found nothing to run that takes a number of cores"),
    ("compare", "ihc --cores 1 5 --out new", "--cores 5: found 2 for threads, expected at most 2"),
    ("reproduce", " --out new", "expected a paper, one of "),
    ("reproduce", "luong2014 --out new", "expected one of the papers luong2013, "),
    ("reproduce", "nowhere.toml --out new", "nowhere.toml: expected TOML, found "),
    ("reproduce", "made-up.toml --table 9 --out new", "--table 9: expected one of 1 in made-up"),
    ("reproduce", "made-up.toml --table 1 --figure 1 --out new", "--figure: not allowed with argument --table"),
    ("reproduce", "made-up.toml --row x=y --out new", "--row x: expected a row of the chosen exhibits: uniform:8"),
    ("reproduce", "made-up.toml --row 1 --out new", "--row: expected KEY=VALUE, found '1'"),
    ("reproduce", "made-up.toml --backends cpus --out new", "expected some of cpu, threads, cuda, found 'cpus'"),
    ("reproduce", "made-up.toml --data nowhere --out new", "--data nowhere: expected a folder of instances"),
    ("reproduce", "made-up.toml --out text.txt", "text.txt: cannot write there: "),
    ("reproduce", "--list --table 4 --out new", "--table, --figure and --row: expected with a paper"),
]

LINES = [
    *((driver, f"{quick} {wrong}", said) for driver, quick in QUICK.items() for wrong, said in EVERYWHERE),
    *(("tsp", f"{QUICK['tsp']} {wrong}", said) for wrong, said in SHARED),
    *((name, f"{QUICK[name]} {more} --checkpoint s --resume", NO_STATE) for name, more in TABLES),
    *((driver, f"{QUICK[driver]} {wrong}", said) for driver, lines in WRONG.items() for wrong, said in lines),
    *((driver, f"{line} --backend cpu", said) for driver, lines in ALONE.items() for line, said in lines.items()),
    *OTHERS,
]


DEVICES = [device("cpu"), device("threads", takes_cores=True), device("cuda", usable=False, reason="no driver")]
"""Of the comparisons and reproductions."""


@pytest.fixture(scope="module")
def odd_files(tmp_path_factory):
    """A folder of invalid files."""
    folder = tmp_path_factory.mktemp("command-lines")
    (folder / "folder").mkdir()
    (folder / "text.txt").write_text("no instance, no record\n")
    (folder / "empty.tsp").write_text("")
    written(folder, HILLS)
    (folder / "matrix.txt").write_text("0 1 2\n1 0 3\n2 3 0\n")
    (folder / "knap.csv").write_text("")
    cities = "".join(f"{city} {city % 3} {city // 3}\n" for city in range(1, 10))
    (folder / "nine.tsp").write_text(
        f"NAME: nine\nTYPE: TSP\nDIMENSION: 9\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{cities}EOF\n"
    )
    rows = "".join(" ".join(str(abs(i - j)) for j in range(9)) + "\n" for i in range(9))
    (folder / "matrix.tsp").write_text(
        "NAME: matrix\nTYPE: TSP\nDIMENSION: 9\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
        f"EDGE_WEIGHT_SECTION\n{rows}EOF\n"
    )
    (folder / "link.tsp").symlink_to("nine.tsp")
    (folder / "round").symlink_to("round")
    os.mkfifo(folder / "fifo")
    # Held open, so that a driver that opens it fails a test and does not wait for ever.
    descriptor = os.open(folder / "fifo", os.O_RDWR | os.O_NONBLOCK)
    yield folder
    os.close(descriptor)


@pytest.fixture
def ended(odd_files, monkeypatch, capfd):
    """Run a command line among the odd files; return the exit code and all output."""

    def give_up(*_):
        raise RuntimeError("a run was started, or still running after a minute")

    monkeypatch.setattr("drivers.experiments.configurations.present_cores", lambda: 2)

    def run(driver, line):
        monkeypatch.chdir(odd_files)
        before = signal.signal(signal.SIGALRM, give_up)
        signal.alarm(60)
        try:
            with made_up_suite(*DEVICES, command=give_up):
                code = run_driver(importlib.import_module(f"drivers.{driver}").main, shlex.split(line))
        except SystemExit as stop:
            code = stop.code
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        said = capfd.readouterr()
        return code, said.out + said.err

    return run


@pytest.mark.parametrize(("driver", "line", "expected"), LINES, ids=[f"{d} {line}"[:90] for d, line, _ in LINES])
def test_a_wrong_command_line_is_one_line_and_exit_code_2(ended, odd_files, driver, line, expected):
    before = sorted((path, path.lstat().st_mtime_ns) for path in odd_files.rglob("*"))
    code, said = ended(driver, line)
    errors = [line for line in said.splitlines() if "error:" in line]
    assert (code, len(errors)) == (2, 1), said
    assert expected in errors[0] and len(errors[0]) < 600
    assert "Traceback" not in said
    assert sorted((path, path.lstat().st_mtime_ns) for path in odd_files.rglob("*")) == before
