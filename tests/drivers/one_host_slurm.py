"""Slurm on this host in a separate folder: munged, slurmctld and slurmd, which end with the tests."""

import os
import shutil
import socket
import subprocess
from contextlib import ExitStack, contextmanager

import pytest

from tests.patience import soon

DAEMONS = ("munged", "slurmctld", "slurmd")
CONFIGURATION = """
ClusterName=onehost
SlurmctldHost={host}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1
MaxArraySize=100
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


@contextmanager
def one_host_slurm(folder):
    """Start the daemons, with `SLURM_CONF` in this process's environment; skip if they cannot run."""
    missing = [name for name in DAEMONS if program_path(name) is None]
    if missing:
        pytest.skip(f"no Slurm of one host: {', '.join(missing)} not installed")
    if os.geteuid():
        pytest.skip("no Slurm of one host: its daemons need root")
    for name in ("", "state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    folder.chmod(0o755)
    path = folder / "slurm.conf"
    values = {"folder": folder, "host": socket.gethostname().split(".")[0], "cores": os.cpu_count()}
    path.write_text(CONFIGURATION.format(**values, controller_port=free_port(), node_port=free_port()))
    munge = ["--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket"]
    munge += [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "seed", "log")]
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(path))
        stack.enter_context(daemon(folder, "munged", *munge))
        assert soon((folder / "munge.socket").exists)
        stack.enter_context(daemon(folder, "slurmctld", "-D"))
        stack.enter_context(daemon(folder, "slurmd", "-D"))
        ready = ["sinfo", "--noheader", "--format=%T"]
        assert soon(lambda: "idle" in subprocess.run(ready, capture_output=True, text=True).stdout), said(folder)
        try:
            yield
        finally:
            subprocess.run(["scancel", "--user=root"], check=False)
            soon(lambda: not queue())


@contextmanager
def daemon(folder, name, *arguments):
    with (folder / f"{name}.said").open("w") as output:
        process = subprocess.Popen(
            [program_path(name), *arguments], stdout=output, stderr=output, stdin=subprocess.DEVNULL
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def program_path(name):
    """Path of a program, possibly an administrator's."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def free_port():
    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


def queue():
    return subprocess.run(["squeue", "--noheader"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def said(folder):
    return "\n".join(path.read_text()[-600:] for path in folder.glob("*.said"))
