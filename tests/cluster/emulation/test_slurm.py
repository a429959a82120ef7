"""Ranks in an allocation of Slurm's, which starts them on its nodes: no host file, no agent, the same hash."""

import re
import subprocess
import sys

import pytest

from reports.records.files import load
from tests.cluster.emulation.hosts import ROOT
from tests.cluster.emulation.test_workloads import hash_in, words_for

pytestmark = pytest.mark.long
BATCH = """#!/bin/sh
#SBATCH --nodes=3 --ntasks=6
{command}
"""


def in_allocation(*words):
    return BATCH.format(command=subprocess.list2cmdline(["exec", "mpirun", sys.executable, *words]))


def test_a_batch_script_runs_ranks_on_all_its_nodes_with_the_hash_of_one_process(slurm, environment):
    done = slurm.submit(in_allocation(*words_for("ppp")), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 6 ranks" in done.stdout
    alone = subprocess.run(
        [sys.executable, *words_for("ppp")], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=200
    )
    assert hash_in(done.stdout) == hash_in(alone.stdout)


def test_a_job_ends_with_the_exit_code_of_its_ranks(slurm):
    done = slurm.submit(in_allocation("-m", "drivers.ppp", "--walks", "none"), cwd=ROOT)
    assert done.returncode == 2 and done.stdout.count("error") == 1, done.stdout


def test_a_written_script_runs_its_program_on_all_nodes(slurm, environment, tmp_path):
    words = [*("-n", "6", "--nodes", "3"), *words_for("ppp")[1:]]
    written = [sys.executable, "-m", "cluster", "slurm", *words]
    script = subprocess.run(written, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert script.returncode == 0, script.stderr
    done = slurm.submit(script.stdout, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 6 ranks" in done.stdout and "note: srun" not in done.stdout
    assert not list(tmp_path.glob("*.checkpoint")), "a search that is over keeps no state"


def test_tasks_that_mpi_knows_nothing_of_say_once_that_each_works_alone(slurm):
    command = subprocess.list2cmdline([sys.executable, *words_for("ppp")])
    done = slurm.submit(BATCH.format(command=f"{command} && exec srun --mpi=none {command}"), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("note: srun started 6 tasks") == 1
    assert len({*re.findall("hash ([0-9a-f]{16})", done.stdout)}) == 1


def test_cases_of_a_comparison_run_as_jobs(slurm):
    words = (
        "-m drivers.compare ihc --instance uniform:9:seed=1 --climbers 20 --repeats 1 --backends cpu threads --ranks 2"
    )
    asked = ["--executor", "slurm", "--executor-settings", "time=5", "--no-peers", "--out", slurm.folder / "compared"]
    done = slurm.run(sys.executable, *words.split(), *asked, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = [(record.backend, record.ranks) for record in load(slurm.folder / "compared" / "compare-ihc.jsonl")]
    assert sorted(ran) == [("cpu", 1), ("cpu", 2), ("threads", 1)]
