"""Slurm on hosts of this machine: its controller on the first, a node's daemon on each, without system services.

Debian's `slurm-wlm` runs here without cgroups, systemd or munge: processes are found by their group, tasks are not
bound, and users are not authenticated (`auth/none`). Its `srun --mpi=pmix` also needs Debian's libpmix2, which pip's
Open MPI lacks as a separate library; `mpirun` in an allocation starts its daemons through `srun` and needs neither.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import Any

from cluster.emulation.hosts import AGENT
from tests.cluster.emulation.hosts import HostsOfATest

READY_S = 20.0
LOOK_S = 0.1
GOING_ON = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "sinfo")
CONFIGURATION = """
ClusterName=hosts
SlurmctldHost={first}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
KillWait=2
JobRequeue=1
ReturnToService=2
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmdSpoolDir=/tmp/slurmd
NodeName=host[1-{count}] CPUs={cores}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverTimeLimit=0 State=UP
"""


def obstacle() -> str | None:
    """Reason against Slurm here, or None if it can run on hosts."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"Slurm is not here (Debian: slurm-wlm): no {', '.join(missing)}" if missing else None


class Slurm:
    """A cluster under Slurm with these hosts as nodes of ``cores`` cores; its daemons end with the hosts."""

    def __init__(self, hosts: HostsOfATest, cores: int = 2) -> None:
        self.hosts = hosts
        self.folder = hosts.folder / "slurm"
        (self.folder / "state").mkdir(parents=True)
        path = self.folder / "slurm.conf"
        path.write_text(
            CONFIGURATION.format(first=hosts.name(0), folder=self.folder, count=hosts.count, cores=cores).lstrip()
        )
        # No launch agent: Open MPI must find Slurm's way between nodes.
        variables = {name: value for name, value in hosts.environment().items() if name not in AGENT}
        self.environment = variables | {"SLURM_CONF": str(path)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": self.environment}
        self.daemons = [hosts.start(0, ["slurmctld", "-D"], **quiet)]
        for host in range(hosts.count):
            hosts.run(host, ["mkdir", "-p", "/tmp/slurmd"])
            self.daemons.append(hosts.start(host, ["slurmd", "-D", "-N", hosts.name(host)], **quiet))
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + READY_S
        while self.run("sinfo", "--noheader", "--format=%T %D").stdout.split() != ["idle", str(self.hosts.count)]:
            if time.monotonic() > until:
                logs = "\n".join(log.read_text()[-1000:] for log in self.folder.glob("*.log"))
                raise TimeoutError(f"Slurm's nodes are not idle after {READY_S:g} s: {logs}")
            time.sleep(LOOK_S)

    def run(self, *command: object, **more: Any) -> subprocess.CompletedProcess[str]:
        return self.hosts.run(0, command, **{"env": self.environment} | more)

    def submit(
        self, script: str, *options: object, longest_s: float = 200.0, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Submit a batch script and wait at most ``longest_s`` seconds for its end, including the wait for nodes.

        ``options`` of `sbatch` override the script's `#SBATCH` lines; ``more`` is as for `Hosts.run`. Returns the job's
        `returncode`, its output on both streams as `stdout`, and `sbatch`'s `stderr`.
        """
        number = len(os.listdir(self.folder))
        path, said = self.folder / f"job-{number}.sh", self.folder / f"job-{number}.out"
        path.write_text(script)
        done = self.run("sbatch", "--parsable", "--open-mode=append", f"--output={said}", *options, path, **more)
        if done.returncode == 0:
            done.returncode = self._exit_code(done.stdout.strip(), time.monotonic() + longest_s)
            done.stdout = said.read_text() if said.exists() else ""
        return done

    def _exit_code(self, job: str, until: float) -> int:
        """Wait for a job's end (`sbatch --wait` polls more and more rarely)."""
        while time.monotonic() < until:
            shown = self.run("scontrol", "--oneliner", "show", "job", job).stdout
            facts = dict(word.partition("=")[::2] for word in shown.split())
            if facts["JobState"] not in GOING_ON:
                code, signal = map(int, facts["ExitCode"].split(":"))
                return code or (128 + signal if signal else 0)
            time.sleep(LOOK_S)
        raise TimeoutError(f"job {job} goes on: {shown}")

    def close(self) -> None:
        for daemon in self.daemons:
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait()
