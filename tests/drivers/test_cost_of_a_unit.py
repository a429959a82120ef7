"""The cost of a unit of work does not depend on the amount, where a workload declares an option that scales it."""

import time
from dataclasses import replace

import pytest

from cluster import Solo
from cluster.mpi.proxies import TimedCommunicator
from drivers.experiments.options import workload_options
from drivers.runs.seeds import build_search
from drivers.workload.declaration import PreparedRun
from drivers.workload.registry import NAMES, get_workload

LEAST_S = 0.3
"""Processor time of the smaller amount: shorter runs show the cost of a call."""
TIMES = 4
MOST = 0.05
TURNS = 7

WALKS = "--walks 16 --iterations 500"
SCALED = {
    **{f"ihc {start}": f"--start {start} --climbers 200" for start in ("oneil2011", "philox")},
    **{f"aco {variant}": f"--variant {variant} --ants 64 --iterations 50" for variant in ("as", "mmas")},
    "tsp 3opt": "--algorithm 3opt --walks 1 --iterations 20000",
    "tsp tabu": f"--algorithm tabu --neighbourhood exchange2 {WALKS}",
    **{f"qap {algorithm}": f"--algorithm {algorithm} {WALKS}" for algorithm in ("tabu", "ils", "vns")},
    "weierstrass tabu": "--walks 16 --iterations 2",
    # The first iterations cost more, see docs/design/speeds.md.
    "ppp tabu": "--walks 16 --iterations 300",
}
WHOLE = {
    "qap annealing": f"--algorithm annealing {WALKS}",
    "qap first": f"--algorithm first {WALKS}",
    "aco 2opt": "--ants 64 --iterations 50 --local-search 2opt",
    **dict.fromkeys(("exact", "heldkarp"), "--instance uniform:8:seed=1"),
    "lcs": "--text ABCBDAB BDCABA",
    "knapsack": "--items 5 --capacity 50",
}


def unit_of(name, words):
    workload = get_workload(name.split()[0])
    task = workload.load(replace(workload_options(workload, words.split()), backend="cpu"), 1)
    workload = workload.variant(task.options)
    return workload, task, workload.work_unit(task.options, task.problem)


@pytest.mark.parametrize("name", [*SCALED, *WHOLE])
def test_each_workload_declares_whether_an_option_scales_its_work(name):
    _, _, unit = unit_of(name, (SCALED | WHOLE)[name])
    assert bool(unit.option) == (name in SCALED)
    assert {one.split()[0] for one in (*SCALED, *WHOLE)} == set(NAMES)


@pytest.mark.long
@pytest.mark.parametrize("name", SCALED)
def test_a_unit_of_a_scaled_amount_costs_what_it_costs_of_a_smaller_one(name):
    """Least processor times of a core in turns, which other programs change little."""
    workload, task, unit = unit_of(name, SCALED[name])
    search = build_search(workload, Solo(), task.problem, task.options)
    run = PreparedRun(task.options, task.problem, task.source, search, TimedCommunicator(Solo()))

    def seconds(amount):
        began = time.process_time()
        workload.once(replace(run, options=replace(task.options, **{unit.option: amount})), None)
        return time.process_time() - began

    seconds(unit.amount)
    amount = unit.amount
    while (took := seconds(amount)) < LEAST_S:
        amount = max(amount + 1, int(amount * min(64, 1.1 * LEAST_S / max(took, 1e-6))))
    turns = [(seconds(amount), seconds(TIMES * amount)) for _ in range(TURNS)]
    least, most = map(min, zip(*turns, strict=True))
    assert most / (TIMES * least) == pytest.approx(1, abs=MOST)
