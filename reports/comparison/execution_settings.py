"""Meanings of execution settings and of hash scopes, in a sentence each: one table of words for all reports.

Execution settings affect only the speed. Names and values are those that drivers record; a setting of a user-defined
workload has no sentence here and is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.text.formatting import grouped, size

SETTING_MEANINGS: dict[str, dict[Any, str]] = {
    "mapping": {
        "native": "the work is mapped to the device by this project's mapping",
        "published": "the work is mapped to the device as in the paper",
    },
    "pin_cores": {True: "every rank is pinned to separate cores"},
    "distribute": {"always": "the ranks divide the work even if one rank alone is faster"},
    "scan": {
        "full": "every move of every step is evaluated",
        "pruned": "moves that sorted neighbour lists prove useless are left out; the same moves win",
    },
    "assign": {
        "static": "every lane has its climbers beforehand, equally many each",
        "worklist": "a lane takes its next climber off a worklist when it is done with one",
    },
    "strategy": {
        "coarse": "an ant is one lane; one lane updates the pheromone of all",
        "fine": "an ant is a group of lanes, which share the work of a step; one lane updates the pheromone of all",
        "fine-deposit": "an ant is a group of lanes, which share the work of a step; all lanes update the pheromone",
    },
    "evaluation": {
        "incremental": "differences of all neighbours are stored and updated after each move, O(1) a neighbour",
        "linear": "the difference of a neighbour is computed from the problem's data, O(n) a neighbour",
        "histogram": "each lane counts the products of its neighbour in a private histogram, O(n) a neighbour",
        "bit-parallel": "32 rows of the matrix are evaluated at once, as the bits of a word",
        "table": "distances are read from a table",
        "coordinates": "distances are computed from coordinates",
        "full": "the objective function is computed anew for each neighbour",
        "part-weights": "weights from every vertex to every part are stored and updated after moves, O(1) a neighbour",
        "autocorrelations": "the autocorrelation of every lag is stored and updated after each move, O(n) a neighbour",
        "literal-counts": "numbers of true literals are stored; a neighbour reads the clauses of its variable",
        "heads-tails": "heads and tails of the schedule are stored; a neighbour runs the jobs in between",
        "prefix-sums": "prefix sums of losses are stored and updated after each move, O(1) a neighbour",
        "local-fields": "the local field of each bit is stored and updated after each move, O(1) a neighbour",
        "delta": "the `delta` of the custom problem is computed for each neighbour",
        "value": "the `value` of the custom problem is computed for each neighbour",
    },
    "layout": {
        "local": "a lane's histogram lies in its local memory",
        "columns": "histograms lie in global memory, element by element for all lanes, so that accesses are coalesced",
        "rows": "histograms lie in global memory, lane by lane, so that accesses are not coalesced",
        None: "no lane keeps a histogram",
    },
    "level": {
        "iteration": "the neighbours of one walk are divided among all lanes",
        "algorithm": "several walks run in parallel, each in one team",
        "solution": "the evaluation of each neighbour is divided among a team",
    },
    "generate": {
        "device": "the device lists the neighbours itself",
        "host": "the host makes the neighbours and copies them to the device in every iteration",
    },
    "select": {
        "device": "the device picks the best neighbour",
        "host": "all differences are copied to the host, which picks the best neighbour",
    },
    "data_memory": {
        "global": "the problem's data lie in the device's global memory",
        "readonly": "the problem's data are read through the read-only cache",
        "shared": "the problem's data are copied to the shared memory of a team",
        "image": "the problem's data lie in an image that texture units read",
    },
    "shape": {
        "fixed": "the shape of launches follows from the sizes",
        "tuned": "shapes of launches are tried during the first iterations, and the fastest stays",
    },
    "bound": {
        "one-tree": "a branch is cut by Held and Karp's bound from 1-trees",
        "edges": "a branch is cut by the shortest edge of every city that is left",
        "none": "no branch is cut: all tours are checked",
        "host": "there are so few tours that the host checks all of them, without the device",
    },
    "enumerate": {
        "worklist": "beginnings of tours are divided among the lanes",
        "permutations": "every lane computes its tour from the tour's number",
        None: "nothing is enumerated: a bound cuts branches",
    },
    "depth": {
        None: "the number of cities in an item of the worklist is chosen for the device, or there is no worklist"
    },
    "unrolled": {
        True: "the last three, two and one cities are searched by separate functions",
        False: "the last cities are searched as all others are",
        None: "only the published mapping of a worklist has a choice of how the last cities are searched",
    },
    "tiling": {
        "auto": "the table is computed by the kernel made for this problem, in few launches",
        "tiles": "the table is computed in tiles, a launch for each diagonal of tiles",
        "none": "the table is computed wave by wave, a launch for each, as in the paper",
        None: "there is no table: branch and bound",
    },
    "device_memory": {None: "kept decisions may take half of the device's memory"},
    "spill_to_files": {
        True: "decisions or cells that leave the device go to files",
        False: "decisions or cells that leave the device, if any, go to the host's memory",
    },
}
"""Meaning of each value of each execution setting."""

_NUMBERS = {
    "batch": "{} draws of annealing are evaluated at a time",
    "depth": "an item of the worklist has {} cities",
}
"""Settings whose values are numbers; a number replaces the braces."""

HASH_MEANINGS = {
    "moves": "the index and the cost of every move of every walk",
    "climbs": "the number, length and steps of every climb",
    "tours": "the length of every ant's tour in every iteration",
    "result": "the best solution: equal hashes prove equal results, not equal work",
}
"""Values that a hash covers, by `Record.hash_scope`."""


def explain_setting(name: str, value: Any) -> str:
    """Explain a setting, without its name and a full stop; empty if it has no sentence here."""
    if isinstance(value, list | dict):
        return ""
    meaning = SETTING_MEANINGS.get(name, {}).get(value)
    if meaning is None and not isinstance(value, bool) and isinstance(value, int):
        if name == "device_memory":
            return f"kept decisions may take {size(value)} of the device's memory"
        return _NUMBERS[name].format(grouped(value)) if name in _NUMBERS else ""
    return meaning or ""


def setting_sentences(settings: Mapping[str, Any]) -> list[str]:
    """Word settings in the order of their names, each as `name = value: what it means`."""
    found = []
    for name, value in sorted(settings.items()):
        meaning = explain_setting(name, value)
        found.append(f"{name} = {value_text(value)}" + (f": {meaning}" if meaning else ""))
    return found


def value_text(value: Any) -> str:
    """Word the value of a setting or a parameter as people write it."""
    for plain, word in ((None, "none chosen"), (True, "yes"), (False, "no")):
        if value is plain:
            return word
    return str(value)
