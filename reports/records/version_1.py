"""What a record of schema version 1 says in the words of version 2.

Version 1 had the ways to do a work among its parameters, and neither said what its hash covers nor, beyond GPU or
processor, what the device was. Names of backends stand here as what they stood for in those records; nothing compares
with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMA = 1

_SEARCH_WAYS = ("evaluation", "level", "generate", "select", "tables", "threads")
_TABLE_WAYS = ("tiling", "device_memory", "spill")
SETTINGS = {
    "ihc": ("scan",),
    "qap": _SEARCH_WAYS,
    "ppp": _SEARCH_WAYS,
    "tsp": _SEARCH_WAYS,
    "weierstrass": _SEARCH_WAYS,
    "aco": ("strategy",),
    "exact": ("bound", "enumerate", "depth"),
    "lcs": _TABLE_WAYS,
    "knapsack": _TABLE_WAYS,
    "heldkarp": _TABLE_WAYS,
}
"""Parameters that were ways, by workload."""

_MOVES, _CLIMBS, _TOURS, _ANSWER = "moves", "climbs", "tours", "answer"
HASH_SCOPES = {"ihc": _CLIMBS, "aco": _TOURS, "qap": _MOVES, "ppp": _MOVES, "tsp": _MOVES, "weierstrass": _MOVES}
"""What a workload's hash covered; that of any other is taken to cover the least, the answer."""

_NEIGHBOURS, _CELLS, OTHER_UNIT = "neighbours", "cells", "evaluations"
UNITS = {
    "ihc": "moves",
    **dict.fromkeys(("qap", "ppp", "tsp", "weierstrass"), _NEIGHBOURS),
    "aco": "selections",
    "exact": "nodes",
    **dict.fromkeys(("lcs", "knapsack"), _CELLS),
    "heldkarp": "transitions",
}
"""What a workload counts as its evaluations, where a line does not say; that of any other is `OTHER_UNIT`."""

ONE_CORE = ("cpu", "python")
REFERENCE = ("python",)
GPU = ("cuda",)
"""Backends by the kind of their devices; those of any other backend were all cores, or the GPU that they said."""


def upgraded(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object of a line of version 1 as one of version 2; what is missing or wrong stays so.

    Over several ranks version 1 kept the longest compilation and the longest total, which may be two ranks': the
    difference is at most the time that the slowest rank ran. ``details["schema_read"]`` lets reports say so.
    """
    workload, backend = content.get("workload"), content.get("backend")
    parameters, details = content.get("parameters"), content.get("details", {})
    ways = {}
    if isinstance(parameters, dict):
        among = SETTINGS.get(workload, ()) if isinstance(workload, str) else ()
        ways = {name: value for name, value in parameters.items() if name in among}
        parameters = {name: value for name, value in parameters.items() if name not in among}
    kind = "core" if backend in ONE_CORE else "gpu" if backend in GPU else "cores"
    if isinstance(details, dict):
        kind = "gpu" if details.get("device_type") == "gpu" else kind
        details = {name: value for name, value in details.items() if name != "device_type"}
        details |= {"schema_read": SCHEMA} | ({"oracle": True} if backend in REFERENCE else {})
    upgrade: dict[str, Any] = {
        "schema": SCHEMA + 1,
        "ways": ways,
        "device_kind": kind,
        "hash_covers": HASH_SCOPES.get(workload, _ANSWER) if isinstance(workload, str) else _ANSWER,
        "details": details,
    }
    return {**content, **upgrade} | ({"parameters": parameters} if "parameters" in content else {})
