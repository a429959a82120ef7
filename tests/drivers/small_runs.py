"""Runs of all workloads that take no time, and searches that claim what is not so."""

import importlib
from dataclasses import replace
from types import SimpleNamespace

from cluster import Solo
from drivers.workload.declaration import RepetitionResult, Task, Workload

QUICK = {
    "ihc": "--instance uniform:9:seed=1 --climbers 2 --backend cpu",
    "aco": "--instance uniform:9:seed=1 --ants 2 --iterations 1 --backend cpu",
    "tsp": "--instance uniform:9:seed=1 --iterations 1 --backend cpu",
    "qap": "--instance taillard:9:seeds=1,2 --iterations 1 --backend cpu",
    "ppp": "--instance 11-13:seed=5 --iterations 1 --backend cpu",
    "weierstrass": "--instance 2 --points 3 --iterations 1 --backend cpu",
    "exact": "--instance uniform:8:seed=1 --backend cpu",
    "heldkarp": "--instance uniform:8:seed=1 --backend cpu",
    "lcs": "--text ABCBDAB BDCABA --backend cpu",
    "knapsack": "--items 5 --capacity 50 --backend cpu",
}

SAVES = {
    **dict.fromkeys(QUICK, "--solution"),
    **dict.fromkeys(("ihc", "aco", "exact", "heldkarp"), "--tour"),
    **dict.fromkeys(("lcs", "knapsack"), "--output"),
}

LOCAL = ("core.local_search", "LocalSearch", "cost")
SEARCHES = {
    "ihc": ("core.hill_climbing.search", "HillClimbing", "length"),
    "aco": ("core.ant_colony", "AntColony", "length"),
    "tsp": ("core.three_opt", "IteratedThreeOpt", "cost"),
    "qap": LOCAL,
    "ppp": LOCAL,
    "weierstrass": LOCAL,
    "exact": ("core.exact", "ExactSearch", "length"),
    "heldkarp": ("core.tables.held_karp.search", "HeldKarp", "length"),
    "lcs": ("core.tables.lcs.search", "LongestCommonSubsequence", "length"),
    "knapsack": ("core.tables.knapsack.search", "KnapsackSearch", "value"),
}
"""The search of each driver, and the claim of its outcome on the solution."""

FAR = 10**6
"""Error of a cost that is claimed for a Weierstrass function. Its scorer is less exact than others, which find 1."""


class FirstOfTwo(Solo):
    """The first of two ranks; the other one's replies are equal."""

    size = 2
    seconds = 0.0
    sent_bytes = 0

    def gather(self, item):
        return [item, item]

    def reset(self):
        self.seconds = 0.0


def found(words, cost=7, **more):
    """The result of a repetition that did one step."""
    return RepetitionResult(
        SimpleNamespace(cost=cost, evaluations=1, hash=f"{0xBEEF:016x}", history=None), words, **more
    )


class Idle(Workload):
    name = "nothing"
    title = "repetitions of no work"
    unit = "steps"
    hash_scope = "result"
    doing = "resting"

    def __init__(self, options, once=lambda run, callback: "found"):
        self.options = options
        self.once = once

    def load(self, options, ranks):
        return Task(options, None, "made here")

    def make_search(self, place, problem, options):
        return None

    def warm_up(self, search, options):
        """There is nothing to compile."""

    def result(self, run, outcome):
        return found(outcome)

    def verify(self, run, outcome, result):
        return iter(())


def idle_backend(seconds_in_collectives=lambda: 0.0):
    timings = SimpleNamespace(compile_s=0.0, transfer_s=0.0, kernel_s=0.0, copied_bytes=0)
    device = SimpleNamespace(kind="core", index="0", name="a core", part="", driver="", compiler="")
    facts = {"name": "cpu", "device": device, "why_ranks_are_slow": "", "synchronize": lambda: None}
    return SimpleNamespace(timings=timings, seconds_in_collectives=seconds_in_collectives, **facts)


def driver_of(name):
    return importlib.import_module(f"drivers.{name}")


def workload_of(name):
    return getattr(driver_of(name), name.upper())


def claim_another_cost(setattr, name):
    """Make a driver's search claim another cost than its solution has; `setattr` may be a monkeypatch's."""
    module, kind, field = SEARCHES[name]
    search = getattr(importlib.import_module(module), kind)
    run = search.run

    def wrong(self, *arguments, **more):
        outcome = run(self, *arguments, **more)
        return replace(outcome, **{field: getattr(outcome, field) - (FAR if name == "weierstrass" else 1)})

    setattr(search, "run", wrong)
