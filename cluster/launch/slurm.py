"""Write a batch script for Slurm that starts a program over ranks, and resumes it after its time limit.

onekernel cluster slurm -n 64 --time 01:00:00 ppp --instance 1301-1317 > job.sh
onekernel cluster slurm --nodes 2 --gpus-per-node 4 ppp --instance 1301-1317 --seconds 36000 > job.sh
sbatch job.sh

Two minutes before its time limit the job gets a signal: its ranks write a checkpoint of the search. If that is newer
than the job's start, the job is queued again, to resume from it.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence

from cluster.command_line import RankParser, run
from cluster.launch.commands import python_command
from cluster.launch.options import add_placement_options, add_program_argument, positive, program_words
from cluster.launch.plan import cores_per_rank
from core.errors import UserError
from core.program_parser import invocation

NOTICE_S = 120
"""Seconds between the signal to a job and the end of its time."""
LEAST_MINUTES = 5
"""Least time of a job with checkpoints: Slurm may signal it three minutes earlier, and the run has to start before."""
TABLES = ("drivers.lcs", "drivers.knapsack", "drivers.heldkarp")
"""Programs of dynamic programming, which keep no checkpoints."""
SEEDLESS = ("drivers.exact", "drivers.heldkarp", "drivers.lcs")
"""Programs without random choices, which would do the same work in all tasks of an array."""
CHECKPOINTED = 143
"""Exit code of a program that SIGTERM has ended and that has written a checkpoint."""
TIME = re.compile(r"(\d+-\d{1,2}(:\d{1,2}){0,2}|\d+(:\d{1,2}){0,2})", re.ASCII)
"""Slurm's format of times: minutes, minutes:seconds, hours:minutes:seconds, days-hours, ..."""
VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:@+=/&|-]*")
"""The value of an `#SBATCH` option, without the quotes, spaces, comments and `%` that `sbatch` interprets."""
TASKS = re.compile(r"\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*(%\d+)?", re.ASCII)
"""Numbers of an array's tasks, and the most that run at a time: 0-9, 1,3,5-7 or 0-99%10."""
DIRECTIVE = re.compile(r"(--)?[a-z][a-z0-9-]*([= ][ -~]*)?")
"""Any option of `sbatch` in one line of ASCII characters."""
OF_A_TASK = re.compile(r"--(seeds?|checkpoint)(=.*)?")
"""Options of a program that differ from task to task of an array."""
ARRAY_TASK = '"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"'
"""Name of one task for Slurm's commands, as a word of the shell; the number of the job may be that of all tasks."""
PASSED_ON = {
    "gpus-per-node": ("N", "GPUs of each host, perhaps with their type"),
    "gres": ("LIST", "generic resources of each host, such as gpu:a100:4"),
    "mem": ("SIZE", "memory of each host, such as 64G; 0: all of it"),
    "constraint": ("LIST", "features that the hosts have, such as 'intel&ib'"),
    "partition": ("NAME", "partition of the cluster"),
    "qos": ("NAME", "quality of service"),
    "account": ("NAME", "account to charge"),
}
"""Options of `sbatch` with one value, which the script has unchanged: the value's name, and the help."""


def main() -> int:
    """Print the script; returns the exit code."""
    options = parser().parse_args()
    words = program_words(options.program)
    name = job_name(words)
    job = ARRAY_TASK if options.array else '"$SLURM_JOB_ID"'
    file, state = checkpoint_options(words, f"{name}-{job}.checkpoint") if options.checkpoint else ("", ())
    if options.array:
        shared = next(filter(OF_A_TASK.fullmatch, words), None)
        if shared:
            raise UserError(f"--array {options.array}: found {shared} of the program, expected that each task sets it")
        if words[0] == "-m" and words[1] in SEEDLESS:
            raise UserError(f"--array {options.array}: found {words[1]}, expected a program with random choices")
        state = ("--seed", '"$SLURM_ARRAY_TASK_ID"', *state)
    if file and 0 < minutes_of(options.time or "0") < LEAST_MINUTES:
        raise UserError(f"--time {options.time}: expected {LEAST_MINUTES} minutes for a checkpoint, or --no-checkpoint")
    command = [*python_command(["-m", "cluster", "launch"]), *launch_words(options), *options.program]
    asked = sbatch_options(options, name, file)
    print(batch_script(asked, setup_lines(options), job, command, file, state), end="")
    return 0


def parser() -> argparse.ArgumentParser:
    ranks_parser = RankParser(prog=invocation("cluster slurm"), description=__doc__)
    add_placement_options(ranks_parser)
    add = ranks_parser.add_argument
    add("--nodes", type=positive, metavar="N", help="hosts")
    add("--time", type=duration, metavar="T", help="time of the job, as sbatch reads it: 01:00:00")
    add("--cpus-per-task", type=positive, metavar="N", help="cores of each rank")
    for name, (metavar, text) in PASSED_ON.items():
        add(f"--{name}", type=line, metavar=metavar, help=text)
    add("--exclusive", action="store_true", help="share no host with other jobs")
    array = "a task for each number, which is its seed: 0-9, or 0-99%%10"
    add("--array", type=tasks, metavar="TASKS", help=array)
    module = "load this module first; repeatable"
    add("--module", type=line, action="append", default=[], metavar="NAME", help=module)
    another = "another option of sbatch, such as --sbatch mail-type=END; repeatable"
    add("--sbatch", type=directive, action="append", default=[], metavar="LINE", help=another)
    without = "add no --checkpoint FILE --resume to the program, and do not queue it again"
    add("--no-checkpoint", dest="checkpoint", action="store_false", help=without)
    add_program_argument(ranks_parser)
    return ranks_parser


def checked(pattern: re.Pattern[str], expected: str) -> Callable[[str], str]:
    """Return the type of an option with a text that matches a pattern; ``expected`` describes it in the error."""

    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {text!r}")
        return text

    return check


duration = checked(TIME, "a time such as 01:00:00 or 2-12:00:00")
tasks = checked(TASKS, "numbers of tasks such as 0-9, 1,3 or 0-99%10")
directive = checked(DIRECTIVE, "an option of sbatch such as mail-type=END")
line = checked(VALUE, "a letter, a digit or _, and then letters, digits and _.,:@+=/&|-")


def minutes_of(time: str) -> int:
    """Return a time of `TIME` in minutes, rounded up as Slurm does; 0 is no limit."""
    days, _, rest = time.rpartition("-")
    numbers = [int(number) for number in rest.split(":")]
    # The first number is hours after days, or if there are three.
    hours, minutes, seconds, *_ = [*([] if days or len(numbers) == 3 else [0]), *numbers, 0, 0]
    return 60 * (24 * int(days or 0) + hours) + minutes - (-seconds // 60)


def job_name(words: Sequence[str]) -> str:
    """Return the name of the job and its files: the program's, with `_` for characters that need quotes."""
    named = words[1] if words[0] == "-m" else words[0]
    last = named.removesuffix(".py").replace("/", ".").rpartition(".")[2]
    return re.sub(r"[^A-Za-z0-9_+-]", "_", last).lstrip("-") or "job"


def checkpoint_options(words: Sequence[str], file: str) -> tuple[str, tuple[str, ...]]:
    """Return the program's checkpoint, by default ``file``, and options for it, as words of the shell; or nothing."""
    if words[0] == "-m" and words[1] in TABLES:
        return "", ()
    state = ["--checkpoint", file]
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word.partition("=")[0] == "--checkpoint":
            file, state = shlex.quote(word.partition("=")[2] if "=" in word else after), []
    return file, (*state, *(() if "--resume" in words else ("--resume",)))


def sbatch_options(options: argparse.Namespace, name: str, file: str) -> Mapping[str, object]:
    """Return options of `sbatch`, in order, and their values; None leaves an option out."""
    nodes, per_host, ranks = options.nodes, options.per_host, options.ranks
    if nodes and per_host and ranks and ranks > nodes * per_host:
        raise UserError(f"-n {ranks}: found room for {nodes * per_host} on {nodes} nodes, expected more --per-host")
    gpus = options.gpus_per_node
    if gpus and not per_host and not ranks:
        # A rank for each.
        count = gpus.rpartition(":")[2]
        per_host = int(count) if count.isdecimal() and int(count) else None
    if nodes and per_host and not ranks:
        ranks = nodes * per_host
    return {
        "job-name": name,
        "nodes": nodes,
        "ntasks": ranks,
        "ntasks-per-node": per_host,
        "cpus-per-task": options.cpus_per_task or cores_per_rank(options.program),
        **{passed: getattr(options, passed.replace("-", "_")) for passed in PASSED_ON},
        "exclusive": options.exclusive or None,
        "array": options.array,
        "time": options.time,
        "output": f"{name}-%A_%a.log" if options.array else f"{name}-%j.log",
        "open-mode": "append",
        "signal": f"B:TERM@{NOTICE_S}" if file else None,
        **{option.removeprefix("--"): True for option in options.sbatch},
    }


def setup_lines(options: argparse.Namespace) -> list[str]:
    """Return commands of the shell for the job's modules, and the ABI of mpi4py that is set now."""
    abi = os.environ.get("MPI4PY_MPIABI")
    chosen = [f"export MPI4PY_MPIABI={shlex.quote(abi)}"] if abi else []
    return [*(f"module load {shlex.quote(name)} || exit" for name in options.module), *chosen]


def launch_words(options: argparse.Namespace) -> list[str]:
    """Return the options of `onekernel cluster launch`, which finds the hosts inside the allocation."""
    words = []
    if options.ranks:
        words += ["-n", str(options.ranks)]
    if options.per_host:
        words += ["--per-host", str(options.per_host)]
    if options.mpi_options:
        words.append(f"--mpi-options={shlex.join(options.mpi_options)}")
    return words


def batch_script(
    asked: Mapping[str, object], before: Sequence[str], job: str, words: Sequence[str], file: str, state: Sequence[str]
) -> str:
    """Return the batch script.

    ``asked`` are options of `sbatch`, ``before`` commands of the shell, ``job`` its name, ``words`` the command that
    starts the program over ranks, ``file`` its checkpoint and ``state`` further options of the program, as words of the
    shell. Raises `UserError` for a word that no text file can hold.
    """
    lines = "\n".join(
        f"#SBATCH --{option}" + ("" if value is True else f"={value}")
        for option, value in asked.items()
        if value is not None
    )
    # A login shell defines `module`.
    login = " -l" if any(line.startswith("module ") for line in before) else ""
    prepared = "".join(f"{line}\n" for line in before)
    command = shlex.join(words)
    folder = shlex.quote(os.getcwd())
    for text in (command, folder, file):
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise UserError(f"{text!r}: found bytes that are no UTF-8 text, expected names that a script can hold")
    return f"""#!/bin/bash{login}
{lines}
#SBATCH --requeue

cd {folder} || exit
{prepared}checkpoint={file}
version() {{ stat --dereference --format='%i %y' -- "$checkpoint" 2>/dev/null; }}; before=$(version)

# Slurm signals this shell {NOTICE_S} s before the time is over. `launch` passes the signal to the ranks of all hosts.
early=
trap 'early=yes' TERM
{" ".join([command, *state])} &
job=$!
trap 'signalled=yes; kill -TERM "$job" 2>/dev/null' TERM
[ "$early" ] && kill -TERM "$job"
signalled=yes
while [ "$signalled" ]; do
    # A signal ends `wait`, but not the job.
    signalled=
    wait "$job"
    code=$?
done

# A cancelled job gets the same signal, but is no longer running.
if [ "$code" -eq {CHECKPOINTED} ] && [ "$(squeue --noheader --jobs={job} --format=%T)" = RUNNING ]; then
    if [ -s "$checkpoint" ] && [ "$(version)" != "$before" ]; then
        echo "ended by a signal, with a checkpoint newer than its start; the job is queued again"
        scontrol requeue {job} || echo "Slurm did not queue it"
    else
        echo "ended by a signal, without a checkpoint newer than its start; the job ends"
    fi
fi
exit "$code"
"""


if __name__ == "__main__":
    sys.exit(run(main))
