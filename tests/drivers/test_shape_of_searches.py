"""A search that is made by hand finds what its driver finds, which shows the same hash."""

import re

import pytest

from backends.cpu import CpuBackend
from cluster import Solo
from tests.core.search.searches import KINDS
from tests.drivers.small_runs import driver_of


@pytest.mark.parametrize("name", KINDS)
def test_a_search_has_the_hash_of_its_driver(drive, name):
    kind = KINDS[name]
    driver, *arguments = kind.command.split()
    code, said, error = drive(*arguments, "--backend", "cpu", driver=driver_of(driver))
    assert code == 0, error
    found = kind.made(CpuBackend(CpuBackend.devices()[0]), Solo()).run(kind.stop)
    assert re.search(r"hash ([0-9a-f]{16}) of", said)[1] == found.hash
    assert re.search(rf"\b{found.cost}\b", said)
