"""A host that is cut off while ranks work ends the job: in time, with one line, a code, no process left, no lost record."""

import json
import re
import sys
import time

import pytest

from cluster import lost_hosts
from tests.hosts.test_workloads import RUNS

STATED_S = 15.0
"""From the cut until `mpirun` ends."""
EVERYWHERE_S = 30.0
"""Until no process of the job is left on any host, the one that is cut off too."""
STARTED_S = 60.0
PAUSE_S = 0.2
WORKS_S = 5.0
"""After its start a rank has compiled and works, or does so a little later: the end is the same."""
EARLY = {"PRTE_MCA_oob_tcp_keepalive_time": "1", "PRTE_MCA_oob_tcp_keepalive_probes": "10"}
LONG = {
    "ppp": "--walks 1 --iterations 10000000",
    "aco": "--instance uniform:60:seed=1 --iterations 1000000",
    "exact": "--instance uniform:19:seed=1 --bound none",
    "lcs": "--instance random:2000000 --no-trace",
}
"""Work of minutes, whose ranks meet in each iteration, or take from a counter, or pass on rows."""


class Job:
    """A run over hosts whose words go to files, so that `mpirun` ends for us when it does, whoever else holds a stream."""

    def __init__(self, hosts, ranks, arguments, folder, more):
        self.hosts = hosts
        self.said = [folder / "out", folder / "errors"]
        with open(self.said[0], "w") as out, open(self.said[1], "w") as errors:
            streams = {"stdout": out, "stderr": errors}
            self.process = hosts.start_mpirun(ranks, *arguments, env=hosts.environment(more), **streams)

    def until(self, condition):
        """Wait for something that the run brings about."""
        began = time.monotonic()
        while not condition():
            assert self.process.poll() is None, self.errors()
            assert time.monotonic() - began < STARTED_S, self.errors()
            time.sleep(PAUSE_S)

    def end(self):
        """Wait for its end; returns the seconds until `mpirun` has, and until no host has a process of it."""
        began = time.monotonic()
        self.process.wait(EVERYWHERE_S)
        ended = time.monotonic() - began
        while any(self.hosts.running(host) for host in range(self.hosts.count)):
            assert time.monotonic() - began < EVERYWHERE_S, [
                self.hosts.running(host) for host in range(self.hosts.count)
            ]
            time.sleep(PAUSE_S)
        return ended

    def errors(self):
        """What it said besides its results."""
        return self.said[1].read_text()


def words_for(name, arguments):
    return ["-m", f"drivers.{name}", *arguments.split(), "--backend", "cpu", "--share", "always", "--no-progress"]


def ends_well(job, cut, lost):
    """Cut a host off, and hold the end of the job to what is promised; returns what it said."""
    job.hosts.cut(cut)
    assert job.end() < STATED_S
    assert job.process.returncode not in (0, None)
    lines = re.findall("^error.*", job.errors(), re.MULTILINE)
    assert lines == [
        f"error: {lost} not answered for {lost_hosts.LOST_S} s, so this job ends; expected a network that joins all of its hosts"
    ], job.errors()
    assert "Traceback" not in job.errors() and "lost communication" not in job.errors()


def test_a_host_that_is_cut_off_ends_the_job_soon_where_daemons_are_asked_early(hosts, tmp_path):
    two = hosts("lan", 2)
    job = Job(two, 2, words_for("ppp", LONG["ppp"]), tmp_path, EARLY)
    job.until(lambda: "on 2 ranks" in job.said[0].read_text())
    ends_well(job, 1, "host2 has")


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_host_that_is_cut_off_ends_the_job(name, hosts, tmp_path):
    three = hosts("cow", 3)
    job = Job(three, 3, words_for(name, LONG[name]), tmp_path, {})
    job.until(lambda: all(any(f"drivers.{name}" in line for line in three.running(host)) for host in range(3)))
    time.sleep(WORKS_S)
    ends_well(job, 1, "host2 has")


@pytest.mark.slow
def test_the_first_host_cut_off_ends_the_job_on_both_sides(hosts, tmp_path):
    three = hosts("cow", 3)
    job = Job(three, 3, words_for("ppp", LONG["ppp"]), tmp_path, {})
    job.until(lambda: "on 3 ranks" in job.said[0].read_text())
    time.sleep(2)
    ends_well(job, 0, "host2, host3 have")


@pytest.mark.slow
def test_records_of_earlier_repetitions_are_in_the_file(hosts, tmp_path):
    two = hosts("cow", 2)
    path = tmp_path / "runs.jsonl"
    job = Job(two, 2, [*words_for("ppp", RUNS["ppp"]), "--repeats", "1000000", "--record", path], tmp_path, {})
    job.until(lambda: path.exists() and path.read_text().count("\n") > 3)
    ends_well(job, 1, "host2 has")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    # A repetition is told before it is recorded.
    told = job.said[0].read_text().count("best cost")
    assert len(records) >= told - 1 > 2 and len({record["trajectory_hash"] for record in records}) == 1


@pytest.mark.slow
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


def test_the_systems_table_tells_which_connection_gets_no_answer():
    heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
    state = "1: 01004D0A:8AD9 {} {} 00000000:00000016 02:000000D4 {} 0 {} {} 2 0000000000000000 20 4 30 10 -1"
    rows = [
        state.format("02004D0A:BE25", "01", "00000000", lost_hosts.MOST_UNANSWERED, 11),
        state.format("03004D0A:BE25", "01", "00000000", lost_hosts.MOST_UNANSWERED - 1, 12),
        state.format("0100A8C0:BE25", "01", "0000000A", 0, 13),
        state.format("00000000:0000", "0A", "0000000A", 0, 14),
    ]
    found = lost_hosts.connections("\n".join([heading, *rows]))
    assert {inode: one.is_lost for inode, one in found.items()} == {11: True, 12: False, 13: True}
    if sys.byteorder == "little":
        assert lost_hosts.numeric(found[11].address) == "10.77.0.2"
        assert lost_hosts.numeric("B80D01200000000067452301EFCDAB89") == "2001:db8::123:4567:89ab:cdef"
