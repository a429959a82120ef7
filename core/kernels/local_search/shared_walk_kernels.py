"""Kernels that share the neighbourhood of a walk out over teams and ranks: refresh, scan and step."""

from __future__ import annotations

from core.kernels.local_search.hooks import NO_KEY, D, Hooks, Rules
from core.kernels.local_search.walk_kernels import is_stale, last_move_function, neighbour_count_function
from core.kernels.local_search.walks import RUNNING, STOP, R, Share, W, WalkSettings
from core.lang import *
from core.lang.library import team_min

# The walk's number is an argument of the launch, or a constant if there is `alone` one: PPP is 3 to 5 % faster on an
# H200 if the compiler knows that its rows begin at the start of their buffers.


def refresh_kernel(hooks: Hooks, rules: Rules) -> Kernel:
    """Make the kernel that refreshes the data of `quick` for a share of the neighbours."""
    last_move = last_move_function(hooks, rules)

    @kernel
    def refresh_shared(
        alone: Const[boolean], walk: i32, first: u32, end: u32, walks: Rows[W], run: WalkSettings, problem: Rows[D]
    ):
        """Refresh the data of `quick` after a walk's last move, for the neighbours of this rank."""
        w = 0 if alone else walk
        one = walks[w]
        if is_stale(one):
            worker, workers = team_rank() * team_size() + lane(), team_count() * team_size()
            last_move(Share(worker, workers, first, min(end, run.sizes[0])), one, problem[w])

    return refresh_shared


def scan_kernel(rules: Rules, scan: Function) -> Kernel:
    """Make the kernel that scans a rank's share of a walk's neighbours."""
    neighbours_of = neighbour_count_function(rules.draws)

    @kernel
    def scan_shared(
        alone: Const[boolean],
        walk: i32,
        rank: i32,
        ranks: i32,
        keys: Array[u64],
        walks: Rows[W],
        run: R,
        problem: Rows[D],
    ):
        """Write the smallest key of a rank's share of a walk's neighbours into ``keys[0]``; all teams scan."""
        w = 0 if alone else walk
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        one = walks[w]
        if one.control[STOP] == RUNNING:
            all_of_them = neighbours_of(one, run)
            first = u32(u64(all_of_them) * u64(rank) // u64(ranks))
            end = u32(u64(all_of_them) * u64(rank + 1) // u64(ranks))
            mine = scan(Share(team_rank(), team_count(), first, end), one, run, sums, problem[w])
            least = team_min(mine, scratch)
            if lane() == 0 and least != u64(NO_KEY):
                atomic_min(keys, 0, least)

    return scan_shared


def step_kernel(take_step: Function) -> Kernel:
    """Make the kernel of the move after a scan."""

    @kernel
    def step_shared(
        alone: Const[boolean], walk: i32, keys: Array[u64], walks: Rows[W], run: WalkSettings, problem: Rows[D]
    ):
        """Make the move of a walk that the scan chose; one team."""
        w = 0 if alone else walk
        key = keys[0]
        one = walks[w]
        if one.control[STOP] == RUNNING:
            take_step(key, one, run, problem[w])
            if lane() == 0:
                keys[0] = u64(NO_KEY)

    return step_shared


def scan_and_step_kernel(rules: Rules, scan: Function, take_step: Function) -> Kernel:
    """Make the kernel of a scan and its move in one launch."""
    neighbours_of = neighbour_count_function(rules.draws)

    @kernel
    def scan_and_step(finished: Array[u64], keys: Array[u64], walks: Rows[W], run: R, problem: Rows[D]):
        """Scan and make the move in one launch of one rank; the last team to finish its scan makes the move.

        ``finished`` counts the teams that have scanned.
        """
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        of_all = shared_array(2, u64)
        one = walks[0]
        if one.control[STOP] == RUNNING:
            share = Share(team_rank(), team_count(), u32(0), neighbours_of(one, run))
            mine = scan(share, one, run, sums, problem[0])
            least = team_min(mine, scratch)
            if lane() == 0:
                # Teams count themselves in the lower half of the word. The upper half is unused; with it the sum waits
                # for the minimum: devices may reorder independent atomics of two addresses.
                before = atomic_min(keys, 0, least)
                counted = atomic_add(finished, 0, (before << u64(32)) + u64(1))
                of_all[0] = u64(u32(counted)) + u64(1)
                if of_all[0] == u64(team_count()):
                    of_all[1] = atomic_min(keys, 0, u64(NO_KEY))
            barrier()
            if of_all[0] == u64(team_count()):
                take_step(of_all[1], one, run, problem[0])
                if lane() == 0:
                    keys[0] = u64(NO_KEY)
                    finished[0] = u64(0)

    return scan_and_step
