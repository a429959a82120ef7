"""Ranks in an allocation of Slurm's, which starts them on its nodes: no host file, no agent, the same hash."""

import subprocess
import sys

import pytest

from tests.hosts.hosts import ROOT
from tests.hosts.test_workloads import hash_in, words_for

BATCH = """#!/bin/sh
#SBATCH --nodes=3 --ntasks=6
{command}
"""
WHERE = "import os; from cluster import communicator; print(communicator().size, os.uname().nodename)"


def in_allocation(*words):
    """A batch script that starts a Python program on all ranks of its allocation."""
    return BATCH.format(command=subprocess.list2cmdline(["exec", "mpirun", sys.executable, *words]))


def test_a_batch_script_runs_ranks_on_all_its_nodes_with_the_hash_of_one_process(slurm, environment):
    done = slurm.submit(in_allocation(*words_for("ppp")), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 6 ranks" in done.stdout
    alone = subprocess.run(
        [sys.executable, *words_for("ppp")], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=200
    )
    assert hash_in(done.stdout) == hash_in(alone.stdout)


@pytest.mark.slow
def test_every_node_has_its_share_of_ranks(slurm):
    done = slurm.submit(BATCH.format(command=f'exec mpirun {sys.executable} -c "{WHERE}"'), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(f"6 host{host}" for host in (1, 1, 2, 2, 3, 3))


@pytest.mark.slow
def test_a_job_ends_with_the_exit_code_of_its_ranks(slurm):
    done = slurm.submit(in_allocation("-m", "drivers.ppp", "--walks", "none"), cwd=ROOT)
    assert done.returncode == 2 and done.stdout.count("error") == 1, done.stdout


@pytest.mark.slow
def test_a_job_over_its_time_is_ended_and_can_be_submitted_again(slurm, tmp_path):
    marked = f"echo $SLURM_RESTART_COUNT >> {tmp_path}/starts; [ $SLURM_RESTART_COUNT ] || "
    done = slurm.submit(
        BATCH.format(command=marked + "scontrol requeue $SLURM_JOB_ID && [ $SLURM_RESTART_COUNT ] || exec sleep 60"),
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "starts").read_text().split() == ["1"]
