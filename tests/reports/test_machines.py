"""Records of one machine share a letter, whatever the commit; other hardware has another."""

import pytest

from reports.comparison.machines import letter_machines, machine_letter
from reports.text.formatting import machine

HOST = {
    "host": "node",
    "cpu_model": "Test CPU",
    "cores": 16,
    "host_count": 1,
    "commit": "a",
    "packages": {"numpy": "1"},
}


@pytest.fixture
def on(make_record):
    def make(gpu=None, **changes):
        where = {"backend": "cuda", "details": {"device_name": gpu}} if gpu else {}
        return make_record(environment=HOST | changes, **where)

    return make


def test_records_of_several_commits_on_the_same_hardware_are_of_one_machine(on):
    records = [on(), on(commit="b", physical_cores=8, hardware_threads=16, packages={"numpy": "2"}), on(commit="b")]
    ((letter, members),) = letter_machines(records).items()
    assert letter == "A"
    words = machine(members)
    assert "16 hardware threads of 8 cores" in words
    assert "numpy 1 / 2" in words and "onekernel a / b" in words


@pytest.mark.parametrize(
    "other",
    [{"host": "node2"}, {"cpu_model": "Other"}, {"cores": 8}, {"physical_cores": 16}, {"gpus": ["NVIDIA H100"]}],
)
def test_other_hardware_is_another_machine(on, other):
    records = [on(physical_cores=8, gpus=["NVIDIA H200"]), on(**other), on()]
    machines = letter_machines(records)
    assert [machine_letter(record, machines) for record in records] == ["A", "B", "A"]


def test_gpus_that_are_not_recorded_are_those_that_ran(on):
    records = [on(), on("NVIDIA H200"), on("H200"), on("NVIDIA H100"), on(gpus=["NVIDIA H100"])]
    machines = letter_machines(records)
    assert [machine_letter(record, machines) for record in records] == ["A", "A", "A", "B", "B"]
    assert "NVIDIA H200" in machine(machines["A"])
