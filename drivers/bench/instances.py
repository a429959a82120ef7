"""The instances of a benchmark, each read once; one of ours that is not at hand is left out, and said to be."""

from __future__ import annotations

from typing import Any


class BenchmarkInstances:
    """Instances of the travelling salesman problem by name.

    Parameters
    ----------
    data
        Folder to search first; None: none.

    """

    def __init__(self, data: str | None) -> None:
        self.data = data
        self.known: dict[str, Any] = {}

    def named(self, name: str) -> Any:
        """An instance that the user named; raises `InstanceError` if it is not at hand."""
        from core.problems import tsp

        if self.known.get(name) is None:
            self.known[name] = tsp.load(name, self.data)
        return self.known[name]

    def at_hand(self, name: str) -> Any:
        """An instance, or None if it is not at hand, and says so once."""
        from core.problems.instances.errors import InstanceError

        if name not in self.known:
            try:
                self.named(name)
            except InstanceError as error:
                self.known[name] = None
                print(f"{name}: not measured ({error})", flush=True)
        return self.known[name]
