"""Batch scripts: what they ask Slurm for, what the shell makes of hostile names, and how a job is queued again."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.launch import slurm
from tests.patience import soon

ROOT = Path(__file__).parents[2]
PATIENT = Path(__file__).with_name("patient.py")
HOSTILE = (
    *("$(touch canary)", "`touch canary`", "${x:=$(touch canary)}", "$((x[$(touch canary)]))", "$[$(touch canary)]"),
    *("; touch canary", "& touch canary", "&& touch canary", "| touch canary", "|| touch canary", ";;"),
    *("\ntouch canary\n", "\r\ntouch canary\r\n", "\n\n", "\\\ntouch canary", "'\ntouch canary\n'", '"\ntouch canary\n"'),
    *("'; touch canary; '", '"; touch canary; "', "'$(touch canary)'", '"$(touch canary)"', "\\'; touch canary; \\'"),
    *("'", '"', "''", "'\"'\"'", "\\", "a\\", "\\\\", "$'\\ntouch canary'", '$"x"', '\\"; touch canary; \\"'),
    *("> canary", ">> canary", "2> canary", "<(touch canary)", ">(touch canary)", "<<EOF\nEOF\ntouch canary"),
    *("# canary", "a # touch canary", "\n#SBATCH --wrap=canary", "x\n#SBATCH --account=other\n", "%j", "%x%%"),
    *("$HOME", "$SLURM_JOB_ID", "$$", "$", "$@", "${IFS}", "~", "~root", "*", "?", "[a-z]*", "{a,b}", "!!", "!touch"),
    *("-n", "--help", "=", "a=b", "a b", "  ", "\t", "a\tb", " a ", ".", "(touch canary)", "{ touch canary; }"),
    *("\x1b[31m", "\x07", "\x7f", "\u202e", "\u00e9", "\u65e5\u672c", "\u201cquoted\u201d", "if true; then touch canary; fi"),
)  # fmt: skip
"""Texts used as names of a program, a folder and Python, and as an option's value."""
DIRECTIVE = re.compile(r"#SBATCH --[a-z-]+(=[A-Za-z0-9_.,:@+/%-]+)?")
STUB = """#!/bin/sh
printf '%s\\0' "$@" > "$NOTES"
exit 143
"""


@pytest.fixture
def job(environment, called, tmp_path, monkeypatch):
    return Job(environment, called, tmp_path, monkeypatch)


class Job:
    """Write a batch script and run it in an empty folder as `sbatch` would, beside stubs of Slurm's commands.

    `called` has the arguments of `scontrol`.
    """

    def __init__(self, environment, called, folder, monkeypatch):
        self.main, self.folder, self.monkeypatch = called, folder, monkeypatch
        self.stubs, self.empty, self.notes = folder / "commands", folder / "empty", folder / "notes"
        self.stubs.mkdir()
        self.empty.mkdir()
        self.is_in_state("RUNNING")
        put(self.stubs / "scontrol", f"#!/bin/sh\necho $@ >> '{folder}/called'\n")
        path = {"PATH": f"{self.stubs}:{environment['PATH']}"}
        # Of a locale that is not installed bash would warn.
        self.environment = environment | path | {"SLURM_JOB_ID": "12", "NOTES": str(self.notes), "LC_ALL": "C"}

    def is_in_state(self, state):
        put(self.stubs / "squeue", f"#!/bin/sh\necho {state}\n")

    def written(self, *words, python=sys.executable, place=ROOT):
        self.monkeypatch.setattr(sys, "executable", str(python))
        self.monkeypatch.chdir(place)
        code, script, _ = self.main(slurm.main, *words)
        assert code == 0
        return script

    def run(self, script, when=None, **more):
        path = self.folder / "job.sh"
        path.write_text(script, newline="")
        arguments = {"env": self.environment | more, "cwd": self.empty, "text": True}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([shutil.which("bash"), path], **arguments, **streams) as process:
            if when:
                assert soon(when)
                process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=100)
        assert not list(self.empty.iterdir())
        return process.returncode, out, err

    def called(self):
        called = self.folder / "called"
        return called.read_text() if called.exists() else ""

    def noted(self):
        return self.notes.read_bytes().decode().split("\0")[:-1]


def put(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def directives(script):
    lines = script.splitlines()
    assert lines[0] == "#!/bin/bash"
    options = [line.removeprefix("#SBATCH --").partition("=") for line in lines if line.startswith("#SBATCH ")]
    return {name: value for name, _, value in options}


def command(script):
    line = next(line for line in script.splitlines() if " launch " in line and line.endswith(" &"))
    return shlex.split(line.removesuffix(" &"))


def test_what_is_asked_for_stands_in_the_script(job):
    script = job.written(
        "-n", 64, "--nodes", 2, "--time", "01:00:00", "--partition", "fast", "ppp", "--instance", "73-73"
    )
    assert directives(script) == {
        "job-name": "ppp",
        "nodes": "2",
        "ntasks": "64",
        "time": "01:00:00",
        "partition": "fast",
        "output": "ppp-%j.log",
        "open-mode": "append",
        "signal": "B:TERM@120",
        "requeue": "",
    }
    assert command(script)[1:] == [
        *("-m", "cluster", "launch", "-n", "64", "ppp", "--instance", "73-73"),
        *("--checkpoint", "ppp-$SLURM_JOB_ID.checkpoint", "--resume"),
    ]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (
            ("--nodes", 2, "--gpus-per-node", "a100:4", "--cpus-per-task", 8, "ihc"),
            {"nodes": "2", "ntasks": "8", "ntasks-per-node": "4", "cpus-per-task": "8", "gpus-per-node": "a100:4"},
        ),
        (("-n", 2, "ppp", "--backend", "threads", "--cores", 16), {"cpus-per-task": "16"}),
        (("--mem", "64G", "--gres", "gpu:a100:2", "ihc"), {"mem": "64G", "gres": "gpu:a100:2"}),
        (("--qos", "long", "--constraint", "intel&ib", "ihc"), {"qos": "long", "constraint": "intel&ib"}),
        (("--exclusive", "ihc"), {"exclusive": ""}),
        (
            ("--sbatch", "mail-type=END", "--sbatch=--comment=a b", "--sbatch", "no-kill", "ihc"),
            {"mail-type": "END", "comment": "a b", "no-kill": ""},
        ),
    ],
)
def test_resources_and_options_are_those_asked_for(words, asked, job):
    assert directives(job.written(*words)).items() >= asked.items()


def test_the_tasks_of_an_array_have_seeds_logs_and_checkpoints_of_their_own(job, tmp_path):
    script = job.written("--array", "0-99%10", "ihc", python=put(tmp_path / "python", STUB))
    assert directives(script).items() >= {"array": "0-99%10", "output": "ihc-%A_%a.log"}.items()
    file = tmp_path / "ihc-7_3.checkpoint"
    script = script.replace(f"cd {shlex.quote(str(ROOT))}", f"cd {tmp_path}")
    script = script.replace("job=$!\n", f"echo > {file}\njob=$!\n")
    # The number of a task's job may be that of the whole array. Other tasks must not be queued again.
    code, _, _ = job.run(script, SLURM_JOB_ID="7", SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="3")
    assert (code, job.called()) == (143, "requeue 7_3\n")
    assert job.noted()[3:] == ["ihc", "--seed", "3", "--checkpoint", file.name, "--resume"]


@pytest.mark.parametrize("taken", ["--seed", "--seeds=1,2", "--checkpoint"])
def test_what_tasks_of_an_array_would_share_is_refused(taken, called):
    code, out, err = called(slurm.main, "--array", "1,3-5:2", "ihc", taken, "1")
    assert (code, out) == (2, "")
    assert err == f"error: --array 1,3-5:2: found {taken} of the program, expected that each task sets it\n"


def test_modules_are_loaded_and_the_mpi_of_now_is_that_of_the_job(job, tmp_path, monkeypatch):
    monkeypatch.setenv("MPI4PY_MPIABI", "mpich")
    python = put(tmp_path / "python", "#!/bin/sh\necho $MPI4PY_MPIABI\n")
    script = job.written("--module", "gcc/12", "--module", "mpich", "--no-checkpoint", "ihc", python=python)
    assert script.startswith("#!/bin/bash -l\n")
    stub = "module() { echo $@; [ $2 != missing ]; }\n"
    assert job.run(stub + script, MPI4PY_MPIABI="") == (0, "load gcc/12\nload mpich\nmpich\n", "")
    assert job.run(stub + script.replace("gcc/12", "missing")) == (1, "load missing\n", "")


@pytest.mark.parametrize(
    ("arguments", "added"),
    [
        (("--no-checkpoint", "ppp"), []),
        (("ppp", "--checkpoint", "mine"), ["--checkpoint", "mine", "--resume"]),
        (("ppp", "--checkpoint=mine", "--resume"), ["--checkpoint=mine", "--resume"]),
        (("lcs",), []),
    ],
)
def test_a_state_is_kept_unless_the_user_says_otherwise(arguments, added, job):
    words = command(job.written(*arguments))
    assert words[words.index(arguments[-1] if arguments[0] in ("--no-checkpoint", "lcs") else "ppp") + 1 :] == added


def test_times_are_read_as_slurm_does():
    times = {"3": 3, "90": 90, "3:00": 3, "4:01": 5, "00:03:00": 3, "1:00:30": 61, "1-0": 1440, "0-01:02:01": 63}
    assert {time: slurm.minutes_of(time) for time in times} == times


@pytest.mark.parametrize("time", ["00:03:00", "1", "3:59", "0-00:04"])
def test_a_time_below_what_a_checkpoint_needs_is_refused_unless_there_is_none(time, called):
    code, out, err = called(slurm.main, "--time", time, "ppp")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: --time {time}: expected 5 minutes for a checkpoint") and len(err.splitlines()) == 1
    for words in (["--no-checkpoint", "ppp"], ["lcs"]):
        code, script, _ = called(slurm.main, "--time", time, *words)
        assert code == 0 and "signal" not in directives(script)
    assert called(slurm.main, "--time", "5", "ppp")[0] == called(slurm.main, "--time", "0", "ppp")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--time", "soon", "ppp"), "argument --time: expected a time such as 01:00:00 or 2-12:00:00, found 'soon'"),
        (("--partition", "a\nb", "ppp"), "or _, and then letters, digits and _.,:@+=/&|-, found 'a\\nb'"),
        (("--nodes", 2, "--per-host", 2, "-n", 5, "ppp"), "found room for 4 on 2 nodes, expected more --per-host"),
        (("--array", "1", "exact"), "found drivers.exact, expected a program with random choices"),
        (("--array", "a", "ppp"), "expected numbers of tasks such as 0-9, 1,3 or 0-99%10, found 'a'"),
        (("--sbatch", "a\nb", "ppp"), "expected an option of sbatch such as mail-type=END, found 'a\\nb'"),
        (("nothing",), "the program to start: found 'nothing', expected"),
    ],
)
def test_what_slurm_would_refuse_is_refused_before(words, message, called):
    code, out, err = called(slurm.main, *words)
    assert (code, out) == (2, "")
    assert message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("state", "code", "requeued", "more"),
    [
        pytest.param("RUNNING", 143, "requeue 12\n", [], id="a checkpoint"),
        pytest.param("RUNNING", 143, "", [], id="no checkpoint", marks=pytest.mark.slow),
        pytest.param("RUNNING", 143, "", [], id="an old checkpoint", marks=pytest.mark.slow),
        pytest.param("COMPLETING", 143, "", [], id="cancelled", marks=pytest.mark.slow),
        pytest.param("RUNNING", 5, "", [], id="failed", marks=pytest.mark.slow),
        pytest.param("RUNNING", 0, "", ["--end"], id="over by itself", marks=pytest.mark.slow),
    ],
)
def test_a_job_that_kept_its_state_is_queued_again(state, code, requeued, more, job, mpirun, tmp_path, request):
    ranks, file = tmp_path / "ranks", tmp_path / "state of it"
    ranks.mkdir()
    if "an old" in request.node.callspec.id:
        file.write_text("old")

    def started():
        if len(os.listdir(ranks)) == 2 and "a checkpoint" in request.node.callspec.id:
            file.write_text("new")
        return len(os.listdir(ranks)) == 2

    # Not inside an allocation, where Slurm's own launcher would be used.
    script = job.written("-n", 2, PATIENT, ranks, code, *more, "--checkpoint", file).replace("$SLURM_JOB_ID", "12")
    del job.environment["SLURM_JOB_ID"]
    job.is_in_state(state)
    exit_code, said, _ = job.run(script, None if more else started)
    assert (exit_code, job.called()) == (code, requeued)
    assert ("queued again" in said) == bool(requeued)
    assert sum("has ended by [15]" in name for name in os.listdir(ranks)) == (0 if more else 2)


def test_a_script_passes_a_signal_on_that_comes_before_its_job(job, tmp_path):
    """The shell of the batch script gets the signal while it starts `launch`."""
    file = tmp_path / "state"
    python = put(tmp_path / "python", "#!/bin/sh\nexec sleep 60\n")
    script = job.written("ppp", "--checkpoint", file, python=python).replace(
        "job=$!\n", f'job=$!\necho > {file}\nkill -TERM "$$"\n'
    )
    code, said, _ = job.run(script)
    assert code == 143 and "queued again" in said
    assert job.called() == "requeue 12\n"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_but_the_program_runs_and_its_arguments_arrive(text, job, tmp_path):
    place = tmp_path / "all" / f"in {text}"
    place.mkdir(parents=True)
    python = put(place / f"python {text}", STUB)
    (place / f"{text}.py").touch()
    before = everything(tmp_path / "all")
    words = [f"--mpi-options={shlex.quote(text)}", f"./{text}.py", "--option", text, text, "--checkpoint", text]
    script = job.written(*words, python=python, place=place)
    asked = [line for line in script.split("\n\ncd ")[0].split("\n")[1:] if line]
    assert all(DIRECTIVE.fullmatch(line) for line in asked), asked
    message = "ended by a signal, without a checkpoint newer than its start; the job ends\n"
    assert job.run(script) == (143, message, "")
    # The folder may hold a `cluster.py`.
    assert job.noted() == ["-P", "-m", "cluster", "launch", *words, "--resume"]
    assert everything(tmp_path / "all") == before


@pytest.mark.parametrize("text", ["$(touch canary)", "-n", "\n", "", "x.", "a'b"])
def test_the_state_has_the_jobs_number_and_no_word_of_the_shells(text, job, tmp_path):
    (tmp_path / f"{text}.py").touch()
    script = job.written(f"./{text}.py", python=put(tmp_path / "python", STUB), place=tmp_path)
    assert job.run(script)[0] == 143
    words = job.noted()
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_+-]*-12\.checkpoint", words[words.index("--checkpoint") + 1])


@pytest.mark.parametrize("option", ["--constraint", "--module", "--array", "--time"])
def test_what_sbatch_would_read_is_refused(option, called):
    for text in {*HOSTILE, "", "a\x00b", "\ud800"} - {"a=b"}:
        code, out, err = called(slurm.main, f"{option}={text}", "ppp")
        assert (code, out) == (2, "") and f"argument {option}: expected" in err
        assert len(err.splitlines()) == 1


def test_bytes_that_are_no_text_are_refused(tmp_path, monkeypatch, called):
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"\xff.py")).touch()
    code, out, err = called(slurm.main, os.fsdecode(b"\xff.py"))
    assert (code, out) == (2, "")
    assert "found bytes that are no UTF-8 text, expected names that a script can hold" in err
