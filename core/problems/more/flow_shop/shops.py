"""Permutation flow shops: Taillard's ta001 to ta120, any other of his generator, and the plain scorer.

Source: E. Taillard, "Benchmarks for basic scheduling problems", European Journal of Operational Research 64, 1993, with
the seeds of its table. Optima: his list of bounds (those that are proved for up to 10 machines, or 20 jobs).
"""

from __future__ import annotations

import hashlib

import numpy as np

from core.arguments import frozen
from core.problems.instances.errors import InstanceError
from core.problems.instances.instance_cache import cached
from core.problems.instances.limits import LARGEST_COST, integer_array
from core.problems.instances.random_words import MODULUS, lehmer_words
from core.problems.instances.specifications import Quantity, parse_specification

MOST_JOBS = 10_000
MOST_MACHINES = 64
"""Limit of a lane's local memory, which has the completion time on each machine."""
LONGEST_TIME = 99
"""Longest operation of Taillard's instances."""

# Jobs, machines and ten seeds, in the order of ta001 to ta120.
_SEEDS = """
20 5 873654221 379008056 1866992158 216771124 495070989 402959317 1369363414 2021925980 573109518 88325120
20 10 587595453 1401007982 873136276 268827376 1634173168 691823909 73807235 1273398721 2065119309 1672900551
20 20 479340445 268827376 1958948863 918272953 555010963 2010851491 1519833303 1748670931 1923497586 1829909967
50 5 1328042058 200382020 496319842 1203030903 1730708564 450926852 1303135678 1273398721 587288402 248421594
50 10 1958948863 575633267 655816003 1977864101 93805469 1803345551 49612559 1899802599 2013025619 578962478
50 20 1539989115 691823909 655816003 1315102446 1949668355 1923497586 1805594913 1861070898 715643788 464843328
100 5 896678084 1179439976 1122278347 416756875 267829958 1835213917 1328833962 1418570761 161033112 304212574
100 10 1539989115 655816003 960914243 1915696806 2013025619 1168140026 1923497586 167698528 1528387973 993794175
100 20 450926852 1462772409 1021685265 83696007 508154254 1861070898 26482542 444956424 2115448041 118254244
200 10 471503978 1215892992 135346136 1602504050 160037322 551454346 519485142 383947510 1968171878 540872513
200 20 2013025619 475051709 914834335 810642687 1019331795 2056065863 1342855162 1325809384 1988803007 765656702
500 20 1368624604 450181436 1927888393 1759567256 606425239 19268348 1298201670 2041736264 379756761 28837162
"""
SEEDS = {(int(jobs), int(machines)): seeds for jobs, machines, *seeds in map(str.split, _SEEDS.strip().split("\n"))}
OPTIMA = {
    (20, 5): (1278, 1359, 1081, 1293, 1235, 1195, 1234, 1206, 1230, 1108),
    (20, 10): (1582, 1659, 1496, 1377, 1419, 1397, 1484, 1538, 1593, 1591),
    (20, 20): (2297, 2099, 2326, 2223, 2291, 2226, 2273, 2200, 2237, 2178),
    (50, 5): (2724, 2834, 2621, 2751, 2863, 2829, 2725, 2683, 2552, 2782),
    (50, 10): (2991, 2867, 2839, 3063, 2976, 3006, 3093, 3037, 2897, 3065),
    (100, 5): (5493, 5268, 5175, 5014, 5250, 5135, 5246, 5094, 5448, 5322),
    (100, 10): (5770, 5349, 5676, 5781, 5467, 5303, 5595, 5617, 5871, 5845),
}
PUBLISHED = {
    f"ta{10 * place + number:03d}": (*size, int(seed), OPTIMA[size][number - 1] if size in OPTIMA else None)
    for place, (size, seeds) in enumerate(SEEDS.items())
    for number, seed in enumerate(seeds, 1)
}
"""By name: jobs, machines, seed, and the shortest makespan if it is known."""

_JOBS, _MACHINES = Quantity("jobs", 1, MOST_JOBS), Quantity("machines", 1, MOST_MACHINES)
_SEED = Quantity("seed", 1, MODULUS - 1, "1")


class FlowShopInstance:
    """Jobs that pass through all machines in one order, the same on each.

    Parameters
    ----------
    times : array_like, shape (jobs, machines), integers from 0
        Processing times of jobs on machines; kept as int32, C-contiguous.
    optimum : int, optional
        The shortest makespan, if known.
    source : str
        Origin of the instance.

    Attributes
    ----------
    jobs, machines : int
    sha256 : str
        Digest of the content.

    Raises
    ------
    InstanceError
        Wrong shape or size, or times that are no integers, negative, or beyond 31 bits in sum.
    """

    def __init__(
        self, name: str, times: np.ndarray, optimum: int | None = None, source: str = "given by the caller"
    ) -> None:
        self.name, self.optimum, self.source = name, optimum, source
        array = integer_array(name, "times", times)
        if array.ndim != 2 or not (1 <= array.shape[0] <= MOST_JOBS and 1 <= array.shape[1] <= MOST_MACHINES):
            expected = f"1 to {MOST_JOBS} rows, a job each, of 1 to {MOST_MACHINES} machines"
            raise InstanceError(name, None, f"times of shape {array.shape}", expected)
        total = int(array.sum(dtype=object))
        if array.min() < 0 or total > LARGEST_COST:
            fault = f"times from {array.min()} on that sum up to {total}"
            raise InstanceError(name, None, fault, f"0 or more, and at most {LARGEST_COST}, as costs have 32 bits")
        self.times = frozen(array, np.int32)
        self.jobs, self.machines = self.times.shape
        content = hashlib.sha256(f"flow shop {self.jobs} {self.machines}\n".encode())
        content.update(self.times.astype("<i4").tobytes())
        self.sha256 = content.hexdigest()

    def __repr__(self) -> str:
        return f"FlowShopInstance({self.name!r}, jobs={self.jobs}, machines={self.machines})"

    def makespans(self, orders: np.ndarray) -> np.ndarray:
        """Return the makespans of orders: (number of orders, jobs) -> (number of orders,) int64."""
        free = np.zeros((self.machines, len(orders)), np.int64)
        for jobs in orders.T:
            ready = np.zeros(len(orders), np.int64)
            for machine, times in enumerate(self.times[jobs].T):
                ready = free[machine] = np.maximum(ready, free[machine]) + times
        return free[-1]

    @property
    def bounds(self) -> tuple[int, int]:
        """Bounds of the makespan: the work of the busiest machine, and all work."""
        return int(self.times.sum(axis=0, dtype=np.int64).max()), int(self.times.sum(dtype=np.int64))


def load(spec: str) -> FlowShopInstance:
    """Return Taillard's instance ta001 to ta120, or that of taillard:JOBS:MACHINES[:seed=INTEGER].

    Raises `InstanceError` for an unknown name, or a size or seed out of range.
    """
    return cached((load, spec), lambda: _generate(spec))


def _generate(spec: str) -> FlowShopInstance:
    if spec in PUBLISHED:
        jobs, machines, seed, optimum = PUBLISHED[spec]
        return FlowShopInstance(spec, times(jobs, machines, seed), optimum, f"Taillard's generator, seed {seed}")
    if spec.startswith("taillard:"):
        name, (jobs, machines, seed) = parse_specification(spec, [_JOBS, _MACHINES], [_SEED])
        return FlowShopInstance(name, times(jobs, machines, seed), source=f"Taillard's generator, seed {seed}")
    raise InstanceError(spec, None, "no such instance", "ta001 to ta120, or taillard:JOBS:MACHINES:seed=INTEGER")


def times(jobs: int, machines: int, seed: int) -> np.ndarray:
    """Return uniform integers from 1 to 99: (jobs, machines) int64; the words fill machine by machine."""
    drawn = 1 + LONGEST_TIME * lehmer_words(seed, jobs * machines) // MODULUS
    return drawn.reshape(machines, jobs).T
