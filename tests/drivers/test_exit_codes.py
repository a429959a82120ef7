"""Exit codes of drivers after errors: contradicted results, refused memory, lost output, interrupts."""

import errno
import json
import os
import subprocess
import sys
import textwrap
import warnings

import pytest

from backends.device import OutOfMemory
from core.errors import MEMORY_ADVICE
from core.standard_output import run_program, run_watched
from drivers import exact
from drivers.cli.exit_codes import run_driver
from reports.records.files import load
from tests.conftest import ROOT
from tests.drivers.small_runs import QUICK as QUICK_RUNS
from tests.drivers.small_runs import SAVES, claim_another_cost, driver_of

QUICK = ["--backend", "cpu", "--no-progress"]
NINE = ["--instance", "uniform:9:seed=1", *QUICK]
EXACT = [sys.executable, "-m", "drivers.exact", *NINE]


# --- warnings ---


def test_a_cache_that_cannot_be_used_is_one_line_and_the_run_goes_on(tmp_path):
    (tmp_path / "cache").write_text("")
    command = [sys.executable, "-m", "drivers.ihc", *NINE, "--climbers", "2"]
    environment = os.environ | {"ONEKERNEL_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "confirmed by the scorer" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("note: no cache of compiled kernels (") and "Not a directory" in line


def test_warnings_of_any_package_are_notes_without_a_place_in_the_source(capsys):
    def warning(argv=None):
        warnings.warn("an overflow\n  of NumPy", RuntimeWarning, stacklevel=1)
        warnings.warn_explicit("old", DeprecationWarning, "numba.py", 3)
        return 0

    with warnings.catch_warnings(action="always"):
        for run in (lambda: run_driver(warning, []), lambda: run_watched(warning), lambda: run_program(warning)):
            assert run() == 0
            assert capsys.readouterr().err == "note: an overflow of NumPy\nnote: old\n"


def test_a_warning_of_the_library_is_one_of_the_line_that_called_it(tmp_path):
    (tmp_path / "torn.jsonl").write_text('{"schema": 4')
    with pytest.warns(UserWarning, match="incomplete") as caught:
        load(tmp_path / "torn.jsonl")
    assert [warning.filename for warning in caught] == [__file__]


# --- contradicted results ---


@pytest.mark.parametrize("name", QUICK_RUNS)
def test_a_contradicted_result_ends_with_1_and_is_kept(drive, monkeypatch, tmp_path, name):
    claim_another_cost(monkeypatch.setattr, name)
    record, solution = tmp_path / "r.jsonl", tmp_path / "solution"
    places = ["--record", record, SAVES[name], solution]
    arguments = [*QUICK_RUNS[name].split(), "--no-progress", "--repeats", "2", *places]
    code, said, error = drive(*arguments, driver=driver_of(name))
    assert code == 1
    assert said.count("hash ") == said.count(", NOT CONFIRMED: the scorer finds ") == 2
    assert error.splitlines()[-1].endswith(": 2 of 2 results NOT CONFIRMED; recorded and saved anyway")
    (kept,) = map(json.loads, record.read_text().splitlines())
    assert kept["verified"] is False and "scorer" not in kept["details"]["verified_by"]
    assert solution.read_text()
    again = drive(*arguments, driver=driver_of(name))[2]
    assert f"note: {record}: not all repetitions of this run are confirmed" in again


@pytest.mark.slow
def test_all_ranks_end_with_1_if_the_first_finds_a_contradiction(mpirun):
    script = f"""
        import sys
        from drivers import ihc
        from drivers.cli.exit_codes import run_driver
        from tests.drivers.small_runs import claim_another_cost
        claim_another_cost(setattr, "ihc")
        code = run_driver(ihc.main, {[*NINE, "--climbers", "4"]})
        print("code", code, flush=True)
        sys.exit(code)
        """
    result = mpirun(2, "-c", textwrap.dedent(script))
    assert result.returncode == 1
    assert result.stdout.count("code 1") == 2
    assert result.stderr.count("1 of 1 results NOT CONFIRMED") == 1


# --- memory ---


def ending_with(error):
    def driver(argv):
        raise error

    return driver


def load_error():
    error = OSError("Could not load shared object file 'libllvmlite.so'")
    error.__context__ = OSError("libllvmlite.so: failed to map segment from shared object")
    return error


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (OutOfMemory("8,000 bytes do not fit NVIDIA H200"), ": 8,000 bytes do not fit NVIDIA H200"),
        (MemoryError(), ""),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), ": [Errno 12] Cannot allocate memory"),
        (load_error(), ": libllvmlite.so: failed to map segment from shared object"),
    ],
)
def test_refused_memory_is_one_line_with_what_was_asked_and_what_helps(capsys, error, asked):
    assert run_driver(ending_with(error), []) == 2
    assert capsys.readouterr().err == f"error: out of memory{asked}; {MEMORY_ADVICE}\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(errno.EMFILE, "Too many open files", "a"), "a: Too many open files; expected a higher limit"),
        (OSError(errno.EFBIG, "File too large"), "File too large; expected a higher limit of file sizes"),
        (RuntimeError("can't start new thread"), "can't start new thread; expected a higher limit of processes"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found in []"), "No usable temporary directory"),
        (ModuleNotFoundError("", name="fcntl"), "found no Python module 'fcntl', expected Linux or macOS, or on Win"),
    ],
)
def test_what_the_system_refuses_is_one_line_with_what_helps(capsys, error, line):
    for run in (run_driver, lambda driver, _: run_watched(lambda: driver([]))):
        assert run(ending_with(error), []) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: {line}") and said.count("\n") == 1


def test_another_error_of_the_system_keeps_its_traceback(capsys):
    assert run_driver(ending_with(OSError(errno.ENOENT, "No such file or directory")), []) == 1
    assert "Traceback" in capsys.readouterr().err


# --- standard output ---


@pytest.fixture
def exact_into(environment, tmp_path):
    """Run the exact search with this standard output; return exit code, standard error and record."""

    def run(output):
        command = [*EXACT, "--record", str(tmp_path / "r.jsonl"), "--tour", str(tmp_path / "best.tour")]
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
        return done.returncode, done.stderr, json.loads((tmp_path / "r.jsonl").read_text())

    return run


def test_a_full_disk_behind_standard_output_is_one_line(exact_into):
    with open("/dev/full", "w") as full:
        code, said, record = exact_into(full)
    assert (code, said) == (1, "error: standard output: No space left on device\n")
    assert record["verified"] is True


def test_a_reader_that_leaves_ends_the_driver_quietly_after_the_record(exact_into, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    code, said, record = exact_into(writing)
    os.close(writing)
    assert (code, said, record["verified"]) == (141, "", True)
    assert "TOUR_SECTION" in (tmp_path / "best.tour").read_text()


def test_help_that_nobody_reads_ends_quietly_too(capsys, monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        def flush(self):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        def fileno(self):
            raise ValueError("in memory")

    monkeypatch.setattr(sys, "stdout", Closed())
    assert run_driver(exact.main, ["--help"]) == 141
    assert isinstance(sys.stdout, Closed)
    assert capsys.readouterr().err == ""


def test_a_broken_pipe_of_anything_else_is_a_crash(capsys):
    assert run_driver(ending_with(BrokenPipeError(errno.EPIPE, "a worker's pipe")), []) == 1
    assert "BrokenPipeError" in capsys.readouterr().err


# --- interrupts ---


def test_an_interrupt_among_the_imports_is_one_word(environment, tmp_path):
    (tmp_path / "numpy.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment["PYTHONPATH"]])
    command = [sys.executable, "-m", "drivers.heldkarp"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_importing_the_drivers_as_a_library_leaves_interrupts_alone(environment):
    script = "import sys, drivers.tsp; print(sys.excepthook is sys.__excepthook__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.stdout == "True\n"
