"""What the ways of a run mean, and what a hash is made of, in a sentence each: one table of words for all reports.

A way decides the speed alone. Names and values are those that drivers record; a way that a user's own workload adds has
no sentence here and is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.text.formatting import grouped, size

SETTING_MEANINGS: dict[str, dict[Any, str]] = {
    "mapping": {
        "native": "the work is laid on the device by the project's own kernels",
        "published": "the work is laid on the device as the paper describes it",
    },
    "pin_cores": {True: "every rank is pinned to cores of its own"},
    "distribute": {"always": "the work is distributed over the ranks even if one of them is faster alone"},
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
        "histogram": "each lane counts the products of its neighbour in a histogram of its own, O(n) a neighbour",
        "bit-parallel": "32 rows of the matrix are evaluated at once, as the bits of a word",
        "table": "distances are read from a table",
        "coordinates": "distances are computed from coordinates",
        "full": "the objective function is computed anew for each neighbour",
        "part-weights": "the weights from every vertex to every part are stored, O(1) a neighbour",
        "autocorrelations": "the autocorrelation of every lag is stored and updated after each move, O(n) a neighbour",
        "literal-counts": "numbers of true literals are stored; a neighbour reads its variable's clauses",
        "heads-tails": "heads and tails of the schedule are stored; a neighbour runs the jobs between its positions",
        "prefix-sums": "prefix sums of losses are stored and updated after each move, O(1) a neighbour",
        "local-fields": "the local field of each bit is stored and updated after each move, O(1) a neighbour",
        "delta": "the problem's own `delta` is computed for each neighbour",
        "value": "the problem's own `value` scores each neighbour as a whole",
    },
    "layout": {
        "local": "a lane's histogram lies in its local memory",
        "columns": "histograms lie in global memory, element by element for all lanes, so that accesses are coalesced",
        "rows": "histograms lie in global memory, lane by lane, so that accesses are not coalesced",
        None: "no lane keeps a histogram",
    },
    "level": {
        "iteration": "the neighbours of one walk are shared out over all lanes",
        "algorithm": "several walks run side by side, each in one team",
        "solution": "the evaluation of each single neighbour is shared out over a team",
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
        "readonly": "the problem's data are read through the cache for what is only read",
        "shared": "the problem's data are copied to the memory that a team shares",
        "image": "the problem's data lie in an image, which texture units read",
    },
    "shape": {
        "fixed": "the shape of launches follows from the sizes",
        "tuned": "shapes of launches are tried during the first iterations, and the fastest stays",
    },
    "bound": {
        "one-tree": "a branch is cut by Held and Karp's bound from 1-trees",
        "edges": "a branch is cut by the shortest edge of every city that is left",
        "none": "no branch is cut: all tours are looked at",
        "host": "there are so few tours that the host looks at all of them, without the device",
    },
    "enumerate": {
        "worklist": "lanes share out beginnings of tours",
        "permutations": "every lane computes its tour from the tour's number",
        None: "nothing is enumerated: a bound cuts branches",
    },
    "depth": {None: "how many cities an item of the worklist has is chosen for the device, or there is no worklist"},
    "unrolled": {
        True: "the last three, two and one cities are searched by functions of their own",
        False: "the last cities are searched as all others",
        None: "only the published mapping of a worklist has a choice of how the last cities are searched",
    },
    "tiling": {
        "auto": "the table is computed by the kernel made for this problem, in few launches",
        "tiles": "the table is computed in tiles, a launch for each diagonal of tiles",
        "none": "the table is computed wave by wave, a launch for each, as in the paper",
        None: "there is no table: branch and bound",
    },
    "device_memory": {None: "kept decisions may take half of the device's memory"},
    "spill": {
        True: "decisions or cells that leave the device go to files",
        False: "decisions or cells that leave the device, if any, go to the host's memory",
    },
}
"""What each value of each way means."""

_NUMBERS = {
    "batch": "{} draws of annealing are looked at side by side",
    "depth": "an item of the worklist has {} cities",
}
"""Ways whose values are numbers; they stand for the braces."""

HASH_MEANINGS = {
    "moves": "the index and the cost of every move of every walk",
    "climbs": "the number, length and steps of every climb",
    "tours": "the length of every ant's tour in every iteration",
    "answer": "what was found, and not the way to it: equal hashes prove equal answers and not equal work",
}
"""What a hash is made of, by what `Record.hash_covers` says."""


def explain_setting(name: str, value: Any) -> str:
    """Say what a way means, without its name and a full stop; empty where nobody knows."""
    if isinstance(value, list | dict):
        return ""
    meaning = SETTING_MEANINGS.get(name, {}).get(value)
    if meaning is None and not isinstance(value, bool) and isinstance(value, int):
        if name == "device_memory":
            return f"kept decisions may take {size(value)} of the device's memory"
        return _NUMBERS[name].format(grouped(value)) if name in _NUMBERS else ""
    return meaning or ""


def setting_sentences(ways: Mapping[str, Any]) -> list[str]:
    """Word ways in the order of their names, each as `name = value: what it means`."""
    found = []
    for name, value in sorted(ways.items()):
        meaning = explain_setting(name, value)
        found.append(f"{name} = {value_text(value)}" + (f": {meaning}" if meaning else ""))
    return found


def value_text(value: Any) -> str:
    """Word the value of a way or a parameter as people write it."""
    for plain, word in ((None, "none chosen"), (True, "yes"), (False, "no")):
        if value is plain:
            return word
    return str(value)
