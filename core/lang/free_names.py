"""Free names of a kernel and of the functions that it calls: constants, functions and bundles from outside.

An earlier translation is reused only while all of them refer to the same objects.
"""

from __future__ import annotations

from operator import attrgetter, is_, itemgetter
from typing import TYPE_CHECKING, Any

from core.lang.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

contents = attrgetter("cell_contents")


class FreeNames:
    """Values of the free names of a function and of all functions that it may call.

    All variables of outer functions must be assigned.
    """

    def __init__(self, source: Source) -> None:
        scopes: dict[int, tuple[dict[str, Any], set[str]]] = {}
        cells: dict[int, Any] = {}
        pending, seen = [source], {source}
        while pending:
            python = pending.pop().python
            scope, names = scopes.setdefault(id(python.__globals__), (python.__globals__, set()))
            # The other names are builtins and attributes.
            defined = [name for name in python.__code__.co_names if name in scope]
            names.update(defined)
            cells |= {id(cell): cell for cell in python.__closure__ or ()}
            values = [*map(scope.get, defined), *map(contents, python.__closure__ or ())]
            called = {each for each in sources_among(values) if each not in seen}
            pending += called
            seen |= called
        # One name twice, since `itemgetter` of a single name returns no tuple.
        readers = [(scope, itemgetter(min(names), *names)) for scope, names in scopes.values() if names]
        self.scopes = [(scope, read, read(scope)) for scope, read in readers]
        self.cells = list(cells.values())
        self.contents = tuple(map(contents, self.cells))

    def are_unchanged(self) -> bool:
        """Return True if every name still refers to the same object."""
        try:
            return all(all(map(is_, read(scope), values)) for scope, read, values in self.scopes) and all(
                map(is_, map(contents, self.cells), self.contents)
            )
        except (KeyError, ValueError):  # a variable was deleted
            return False


def sources_among(values: Iterable[Any]) -> Iterable[Source]:
    """Yield the functions of the kernel language among some values and in tuples of them."""
    for value in values:
        if isinstance(value, Source):
            yield value
        elif isinstance(value, tuple):
            yield from sources_among(value)
