"""The template of local search (algorithms 1 and 2 of `luong2013`) as kernels, made for one problem and one rule.

An iteration scans the neighbours of the current solution (`core.local_search.kernels.neighbour_scans`), chooses one by
a rule, and makes the move (`core.local_search.kernels.walk_steps`). `walk` does all of it in one team (a team per walk:
the algorithmic level). `scan` and `step` divide one walk's neighbourhood among teams and ranks (the iteration level),
`scan_and_step` among teams alone. With ``exchange`` in their names, kernels of ranks in one memory agree on the move
themselves. All call the same functions, so all trajectories are equal.
"""

from __future__ import annotations

from functools import lru_cache

from core.local_search.kernels.fitness_kernels import copied_kernel, fitness_kernel
from core.local_search.kernels.hooks import Evaluation, Rules
from core.local_search.kernels.neighbour_scans import scan_function
from core.local_search.kernels.peers import least_of_ranks
from core.local_search.kernels.shared_walk_kernels import refresh_kernel, scan_and_step_kernel, scan_kernel, step_kernel
from core.local_search.kernels.walk_kernels import adopt_kernel, begin_kernel, keep_walks, walk_kernel
from core.local_search.kernels.walk_steps import step_function


class SearchKernels:
    """The kernels of a search, from the functions of its problem and the rules of its algorithm."""

    def __init__(self, evaluation: Evaluation, rules: Rules) -> None:
        scan, take_step = scan_function(evaluation, rules), step_function(evaluation, rules)
        self.begin = begin_kernel(evaluation.begin, rules.lag)
        self.walk = walk_kernel(evaluation, rules, scan, take_step)
        self.refresh = refresh_kernel(evaluation, rules)
        self.scan = scan_kernel(rules, scan)
        self.step = step_kernel(take_step)
        self.scan_and_step = scan_and_step_kernel(rules, scan, take_step)
        self.exchange_and_step = step_kernel(take_step, least_of_ranks)
        self.scan_exchange_step = scan_and_step_kernel(rules, scan, take_step, least_of_ranks)
        self.fitness = fitness_kernel(evaluation, rules)
        self.copied = copied_kernel(evaluation, rules)
        self.keep = keep_walks
        self.adopt = adopt_kernel(evaluation.begin)


search_kernels = lru_cache(maxsize=32)(SearchKernels)
"""Returns the kernels of a search, made at the first call."""
