"""The CUDA backend in numba's simulator, on machines without a GPU."""

import json

import pytest

from tests.backends.small_searches import SEARCHES
from tests.backends.test_conformance import CASES

IN_THE_SIMULATOR = [name for name in SEARCHES if name.startswith(("subsequence", "knapsack", "shortest", "restricted"))]
IN_THE_SIMULATOR += ["diagonals", "tour by layers", "published climbs"]
QUICK = ("atomics of u64", "barriers in loops", "bundles of i16", "set bits", "random numbers")
"""Kernels of the conformance suite that `make test` runs in the simulator."""
CONFORMS = """
import json
from tests.backends.small_searches import SEARCHES
from tests.backends.test_conformance import CASES, after, replayed, same

def told(run, *arguments):
    try:
        return run(*arguments)
    except Exception as error:
        return repr(error)

def conforms(name, *team_sizes):
    for team_size in team_sizes:
        same(*CASES[name](backend, team_size))
    return "agrees"

"""
SMALL = f"""
from tests.backends.test_tables import reads_as_numpy

def sequence():
    same(replayed(backend, 2), after(2))
    return backend.timings.kernel_s > 0

found = {{name: told(conforms, name, 3) for name in {QUICK}}}
found |= {{place: told(reads_as_numpy, backend, place, "u16", 7) for place in ("readonly", "shared", "image")}}
found |= {{"sequence": told(sequence), "climb": repr(told(SEARCHES["published climbs by worklist"], backend))}}
print(json.dumps(found))
"""


def test_the_simulator_computes_what_numpy_computes_and_climbs_as_a_core_does(cpu, simulated):
    """One process, since its start takes seconds."""
    assert json.loads(simulated(CONFORMS + SMALL)) == {
        **dict.fromkeys(QUICK, "agrees"),
        **{"readonly": True, "shared": True, "image": False, "sequence": True},
        "climb": repr(SEARCHES["published climbs by worklist"](cpu)),
    }


@pytest.mark.slow
def test_the_simulator_finds_and_computes_what_a_core_does(cpu, simulated):
    searches = f"print(json.dumps({{name: repr(SEARCHES[name](backend)) for name in {IN_THE_SIMULATOR}}}))"
    conformance = "print(json.dumps({name: told(conforms, name, 7) for name in CASES}))"
    outcomes, agreements = map(json.loads, simulated(f"{CONFORMS}{searches}\n{conformance}").splitlines())
    assert outcomes == {name: repr(SEARCHES[name](cpu)) for name in IN_THE_SIMULATOR}
    assert agreements == dict.fromkeys(CASES, "agrees")
