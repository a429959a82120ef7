"""The devices of this machine on which a problem of one's own is tried: see `core.search.local_search.check`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from backends import NAMES, backend_class, create
from backends.base import Backend, Unavailable


@contextlib.contextmanager
def backends_here(names: tuple[str, ...] = NAMES) -> Iterator[list[Backend]]:
    """Make every backend that is usable here, and close them at the end.

    Left out are plain Python, which `check` runs in any case, and those that run the same programs on the same
    processors as another.

    Parameters
    ----------
    names
        Those to look for.

    """
    with contextlib.ExitStack() as stack:
        made = []
        for name in names:
            kind = backend_class(name)
            if kind.oracle or (kind.same_as and kind.same_as in names):
                continue
            with contextlib.suppress(Unavailable):
                made.append(create(name))
                stack.callback(made[-1].close)
        yield made
