"""`--profile`: Nsight Compute's CSV, its sums, a program in its place, and reasons against a profile.

The CSV has the columns that NVIDIA documents for `ncu --csv --metrics` (a row per metric of a launch), with the
program's own output and the profiler's messages between the rows.
"""

import importlib
import json
import os
import sys

import pytest

from drivers.cli.exit_codes import run_driver
from drivers.runs import kernel_profile
from drivers.runs.kernel_profile import METRICS

SECONDS, LOAD, WARP, IPC = (printed for printed, _ in METRICS.values())
HEADING = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)
BEFORE = """==PROF== Connected to process 42 (/usr/bin/python3.11)
random:100: length 65, "quoted"
==PROF== Profiling "tiles_" - 0: 0%....50%....100% - 3 passes
"""


def launch(number, kernel, load, warp, ipc, ns="1,000"):
    common = f'"{number}","42","python3.11","host","{kernel}","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0"'
    section = '"Command line profiler metrics"'
    return "".join(
        f'{common},{section},"{metric}","{unit}","{value}"\n'
        for metric, unit, value in ((IPC, "inst/cycle", ipc), (LOAD, "%", load), (WARP, "", warp), (SECONDS, "ns", ns))
    )


def csv_of(*launches, before=BEFORE):
    said = f'{HEADING}\n"a","line","of the program"\n==WARNING== something\n'
    return before + said + "".join(launch(number, *one) for number, one in enumerate(launches))


WRITTEN = csv_of(
    ("known_answer_", 10, 1, 0.1),
    ("tiles_", 50, 32, 1.0, "6,000"),
    ("tiles_", 75, 24, 2.0),
    ("tiles_", 100, 16, "1,203.00"),
    ("clear_(Array<unsigned int, 1, C>, int)", 0, 8, 0.5, 2_000),
    ("step_0::wave_[abi:v1]", "n/a", 32, "nan", "n/a"),
)


def kernels_of(written):
    return {
        kernel["kernel"]: kernel
        for kernel in kernel_profile.summarise_kernels(kernel_profile.read_rows(written.splitlines()), METRICS)
    }


# --- reading ---


def test_what_no_launch_has_is_not_counted_as_nothing_and_lowers_no_other():
    kernels = kernels_of(WRITTEN)
    assert kernels["clear"]["load_efficiency"] is None and kernels["clear"]["warp_efficiency"] == [0.25] * 3
    metrics = {"load_efficiency": None, "warp_efficiency": [1.0] * 3, "ipc": None}
    assert kernels["wave"] == {"kernel": "wave", "launches": 1, "part": None, "seconds": None, **metrics}
    kernels = kernels_of(csv_of(("tiles_", 0, 32, 1), ("tiles_", 80, 32, 1)))
    assert kernels["tiles"]["load_efficiency"] == [0.8] * 3 and kernels["tiles"]["launches"] == 2


def test_a_part_counts_each_tenth_launch_for_ten():
    kernels = kernels_of(csv_of(*[("tiles_", 0, 32, 1)] * 10, ("clear_", 0, 32, 1)))
    assert [kernels[name]["part"] for name in ("tiles", "clear")] == pytest.approx([19 / 20, 1 / 20])


def test_a_metric_that_the_device_does_not_have_is_named():
    without = "\n".join(line for line in WRITTEN.splitlines() if WARP not in line)
    with pytest.raises(kernel_profile.ProfileError, match=f"ncu does not know {WARP} on this device"):
        kernels_of(without)


# --- a program in the profiler's place ---


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Replace `ncu` by a program that stores its arguments, writes a log and exits with this code."""

    def put(written=WRITTEN, code=0, says=""):
        behaviour = {"written": written, "code": code, "says": says, "notes": str(tmp_path / "arguments.json")}
        program = tmp_path / "bin" / "ncu"
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f"#!{sys.executable}\nimport json, sys\ntold = json.loads({json.dumps(behaviour)!r})\n"
            "json.dump(sys.argv[1:], open(told['notes'], 'w'))\n"
            "open(sys.argv[sys.argv.index('--log-file') + 1], 'w').write(told['written'])\n"
            "print(told['says'], file=sys.stderr)\nsys.exit(told['code'])\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent))
        return lambda: json.loads((tmp_path / "arguments.json").read_text())

    return put


def test_every_kernel_has_a_line_and_a_place_in_the_record(stand_in, capsys):
    stand_in()
    profile = kernel_profile.run_profiled("lcs", ["half:3000:seed=1", "--profile"], backend="cuda")
    assert profile["arguments"] == "python -m drivers.lcs half:3000:seed=1"
    assert [kernel["kernel"] for kernel in profile["kernels"]] == ["clear", "tiles", "wave"]
    assert json.loads(json.dumps(profile))["kernels"][1]["load_efficiency"] == [0.5, 0.75, 1.0]
    assert capsys.readouterr().out.splitlines()[2:] == [
        "clear: launches 1, 20.0 % of the time, seconds 2e-06, warp efficiency 0.25, ipc 0.5",
        "tiles: launches 3, 80.0 % of the time, seconds 2.67e-06, load efficiency 0.75, warp efficiency 0.75, ipc 402",
        "wave: launches 1, warp efficiency 1",
    ]


@pytest.mark.parametrize(
    ("code", "written", "says", "message"),
    [
        (9, "==PROF== Connected\n==ERROR== refused\n==PROF== Ended\n", "", "ended with code 9: ==ERROR== refused"),
        (2, "", "Usage\nerror: cuda: no device", "ended with code 2: error: cuda: no device"),
        (0, "==WARNING== Nothing was profiled.\n", "", "saw no kernel: ==WARNING== Nothing was profiled."),
    ],
)
def test_a_profiler_that_fails_is_quoted_in_one_line(stand_in, capsys, code, written, says, message):
    stand_in(written, code, says)
    assert kernel_profile.run_profiled("lcs", ["--profile"], backend="cuda") is None
    assert capsys.readouterr().out.splitlines()[1:] == [f"no profile: ncu {message}"]


@pytest.mark.parametrize(("ranks", "said"), [(1, "ncu is not on PATH"), (2, "found 2 ranks, expected one")])
def test_what_cannot_be_profiled_says_so_in_one_line(monkeypatch, tmp_path, capsys, ranks, said):
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert kernel_profile.run_profiled("lcs", ["--profile"], backend="cuda", ranks=ranks) is None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"no profile: {said}")


# --- from the command line to the record ---


SMALL = ["--instance", "uniform:8:seed=1"]


@pytest.mark.parametrize(
    ("workload", "small", "dropped", "metrics"),
    [
        ("heldkarp", SMALL, ["--verify"], [SECONDS, LOAD, WARP, IPC]),
        ("aco", [*SMALL, "--ants", "4", "--iterations", "1"], ["--measure", "0.01"], [SECONDS]),
    ],
)
def test_a_driver_profiles_once_and_records_it(stand_in, capsys, tmp_path, workload, small, dropped, metrics):
    arguments = stand_in()
    record = tmp_path / "r.jsonl"
    driver = importlib.import_module(f"drivers.{workload}")
    asked = [*small, "--profile", "--no-progress", f"--record={record}", *dropped]
    assert run_driver(driver.main, asked) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"profiling: python -m drivers.{workload} ")
    assert said.index("Nsight Compute, python -m") < said.index(", confirmed by ")
    words = arguments()
    assert words[words.index("--metrics") + 1].split(",") == metrics
    assert "--csv" in words and words[words.index("--launch-count") + 1] == str(kernel_profile.MOST_LAUNCHES)
    own = [*small, "--no-progress", "--backend", "cuda", "--repeats", "1"]
    assert words[words.index(f"drivers.{workload}") + 1 :] == own
    (entry,) = [json.loads(line) for line in record.read_text().splitlines()]
    assert [kernel["kernel"] for kernel in entry["details"]["profile"]["kernels"]] == ["clear", "tiles", "wave"]


def test_a_driver_that_cannot_be_profiled_says_why_and_goes_on(monkeypatch, capsys, tmp_path):
    from drivers import lcs

    record = tmp_path / "r.jsonl"
    asked = ["--text", "ABCBDAB", "BDCABA", "--backend", "cpu", "--profile", "--record", str(record)]
    assert run_driver(lcs.main, asked) == 0
    first, result = capsys.readouterr().out.splitlines()
    assert first.startswith("no profile: found --backend cpu, expected cuda")
    assert " length 4 of 7 and 6 letters, " in result
    (entry,) = [json.loads(line) for line in record.read_text().splitlines()]
    assert "profile" not in entry["details"]
