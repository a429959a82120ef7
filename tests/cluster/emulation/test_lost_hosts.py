"""A host that is cut off from working ranks ends the job: in time, with one line and exit code, without losses."""

import json
import re
import time

import pytest

from cluster.mpi.failures import lost_hosts
from tests.cluster.emulation.test_workloads import RUNS

pytestmark = pytest.mark.long
STATED_S = 15.0
"""Limit from the cut until `mpirun` ends."""
EVERYWHERE_S = 30.0
"""Limit until no process of the job is left on any host, including the lost one."""
STARTED_S = 60.0
PAUSE_S = 0.2
WORKS_S = 5.0
"""Seconds until a rank has compiled and works; later is fine too."""
EARLY = {"PRTE_MCA_oob_tcp_keepalive_time": "1", "PRTE_MCA_oob_tcp_keepalive_probes": "10"}
LONG = {
    "ppp": "--walks 1 --iterations 10000000",
    "aco": "--instance uniform:60:seed=1 --iterations 1000000",
    "exact": "--instance uniform:19:seed=1 --bound none",
    "lcs": "--instance random:2000000 --no-trace",
}
"""Minutes of work for ranks that reduce in each iteration, take from a counter, or send rows."""


class Job:
    """A run over hosts with its output in files, so that no other process delays the end of `mpirun`."""

    def __init__(self, hosts, ranks, arguments, folder, more):
        self.hosts = hosts
        self.said = [folder / "out", folder / "errors"]
        with open(self.said[0], "w") as out, open(self.said[1], "w") as errors:
            streams = {"stdout": out, "stderr": errors}
            self.process = hosts.start_mpirun(ranks, *arguments, env=hosts.environment() | more, **streams)

    def until(self, condition):
        began = time.monotonic()
        while not condition():
            assert self.process.poll() is None, self.errors()
            assert time.monotonic() - began < STARTED_S, self.errors()
            time.sleep(PAUSE_S)

    def end(self):
        """Wait; return the seconds until `mpirun` ends, and until no host has a process of it."""
        began = time.monotonic()
        self.process.wait(EVERYWHERE_S)
        ended = time.monotonic() - began
        while any(self.hosts.running(host) for host in range(self.hosts.count)):
            assert time.monotonic() - began < EVERYWHERE_S, self.errors()
            time.sleep(PAUSE_S)
        return ended

    def errors(self):
        return self.said[1].read_text()


def words_for(name, arguments):
    return ["-m", f"drivers.{name}", *arguments.split(), "--backend", "cpu", "--no-progress"]


def ends_well(job, cut, lost):
    """Cut a host off, check the job's end, and return its output."""
    job.hosts.cut(cut)
    assert job.end() < STATED_S
    assert job.process.returncode not in (0, None)
    lines = re.findall("^error.*", job.errors(), re.MULTILINE)
    assert lines == [
        f"error: {lost} not answered for {lost_hosts.LOST_S} s, so this job ends; expected a network that joins all of its hosts"
    ], job.errors()
    assert "Traceback" not in job.errors() and "lost communication" not in job.errors()


@pytest.mark.parametrize("name", LONG)
def test_a_host_that_is_cut_off_ends_the_job(name, hosts, tmp_path):
    three = hosts("cow", 3)
    job = Job(three, 3, words_for(name, LONG[name]), tmp_path, {})
    job.until(lambda: all(any(f"drivers.{name}" in line for line in three.running(host)) for host in range(3)))
    time.sleep(WORKS_S)
    ends_well(job, 1, "host2 has")


@pytest.mark.parametrize(
    ("network", "ranks", "cut", "lost", "more"),
    [("lan", 2, 1, "host2 has", EARLY), ("cow", 3, 0, "host2, host3 have", {})],
    ids=["where daemons are asked early", "the first host"],
)
def test_the_first_host_cut_off_or_another_ends_the_job_on_both_sides(network, ranks, cut, lost, more, hosts, tmp_path):
    job = Job(hosts(network, ranks), ranks, words_for("ppp", LONG["ppp"]), tmp_path, more)
    job.until(lambda: f"on {ranks} ranks" in job.said[0].read_text())
    time.sleep(2)
    ends_well(job, cut, lost)


def test_records_of_earlier_repetitions_are_in_the_file(hosts, tmp_path):
    two = hosts("cow", 2)
    path = tmp_path / "runs.jsonl"
    job = Job(two, 2, [*words_for("ppp", RUNS["ppp"]), "--repeats", "1000000", "--record", path], tmp_path, {})
    job.until(lambda: path.exists() and path.read_text().count("\n") > 3)
    ends_well(job, 1, "host2 has")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    # A repetition is printed before it is recorded.
    reported = job.said[0].read_text().count("best cost")
    assert len(records) >= reported - 1 > 2 and len({record["hash"] for record in records}) == 1


def test_an_outage_of_some_seconds_is_survived(hosts, tmp_path):
    two = hosts("cow", 2)
    job = Job(two, 2, words_for("ppp", LONG["ppp"] + " --seconds 15"), tmp_path, {})
    job.until(lambda: "on 2 ranks" in job.said[0].read_text())
    time.sleep(2)
    two.cut(1)
    time.sleep(6)
    two.mend(1)
    job.end()
    assert job.process.returncode == 0 and "error" not in job.errors(), job.errors()
