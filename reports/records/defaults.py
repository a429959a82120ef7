"""What a record means that does not name a way, or names it by a word of old.

A way that drivers came to have later is not named in records from before that; until then there was no other. A record
that names all its ways and one from before that are runs of one kind: they share a row's label, a baseline's likeness
and an identity, by which a run that was cut short goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MAPPING = {"mapping": "native"}
SETTING_DEFAULTS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("ihc", "aco", "qap", "tsp", "weierstrass", "lcs", "knapsack"), _MAPPING),
    "ppp": {**_MAPPING, "layout": None},
    "exact": {**_MAPPING, "unrolled": None},
    "heldkarp": {**_MAPPING, "spill": False},
}
"""Ways and what their absence means, by workload; of any other workload nobody knows."""
LOCAL_HISTOGRAMS = {"evaluation": "histogram"}, {"layout": "local"}
"""Ways of old, and what else they meant: histograms lay in a lane's local memory before there was a choice."""
RENAMED_SETTINGS = {"threads": "shape"}
"""Ways by the names that they had before; who read `threads` took it for a number of threads."""
SHAPES = ("fixed", "tuned")
"""What a way called `threads` said where it meant the shape of launches; another way of that name is a user's own."""


def complete_settings(workload: str, ways: Mapping[str, Any]) -> dict[str, Any]:
    """The ways of a run by their names of today, and those that its record does not name."""
    ways = {RENAMED_SETTINGS.get(name, name) if value in SHAPES else name: value for name, value in ways.items()}
    unsaid = SETTING_DEFAULTS.get(workload, {})
    said, meant = LOCAL_HISTOGRAMS
    if "layout" in unsaid and said.items() <= ways.items():
        unsaid = unsaid | meant
    return {**ways, **{name: value for name, value in unsaid.items() if name not in ways}}
