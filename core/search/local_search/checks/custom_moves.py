"""The check of all moves of a custom neighbourhood on the device, before a search begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.kernels.local_search.hooks import NO_KEY
from core.kernels.local_search.moves import OWN
from core.kernels.local_search.neighbour_functions import checking_kernel
from core.problems.encodings import Encoding, Neighbourhood
from core.problems.neighbourhood_checks import move_bounds

TRIED = 8
"""Moves at either end of a neighbourhood that are listed in plain Python before the device decodes all of them."""


def check_custom_moves(
    backend: Any, encoding: Encoding, neighbourhoods: Sequence[Neighbourhood], sizes: Sequence[int]
) -> None:
    """Decode all moves once, and refuse one that leads out of a solution.

    The places of a move depend on its number and on the size of a solution alone, so no iteration has to look again.

    Raises
    ------
    UserError
        Names the first such move and the function that returned it.

    """
    limits = backend.capabilities
    lanes = min(64, limits.max_team_size)
    no_solution = np.empty(0)  # on which the moves of a custom neighbourhood do not depend
    for one, size in zip(neighbourhoods, sizes, strict=True):
        if not one.decode or one.change == OWN:
            continue
        # In plain Python a division by zero is an error that names its line; on a device it may end the process.
        for first in sorted({0, max(0, size - TRIED)}):
            one.listed(first, min(size, first + TRIED), encoding, no_solution)
        teams = max(1, min(-(-size // lanes), 16 * limits.compute_units))
        allowed = backend.upload(move_bounds(one.change, encoding.n, encoding.choices).reshape(-1))
        wrong = backend.upload(np.full(1, NO_KEY, np.uint64))
        backend.launch(checking_kernel(one.decode), teams, lanes, size, encoding.n, allowed, wrong)
        number = int(backend.download(wrong)[0])
        if number != NO_KEY:
            one.listed(number, number + 1, encoding, no_solution)  # raises the error that names the move
