"""Kernels that divide the neighbourhood of a walk among teams and ranks: refresh, scan and step."""

from __future__ import annotations

from core.lang import *
from core.lang.library import team_min
from core.local_search.kernels.hooks import NO_KEY, D, Evaluation, Rules
from core.local_search.kernels.peers import P, first_of_rank
from core.local_search.kernels.walk_kernels import is_stale, last_move_function, neighbour_count_function
from core.local_search.kernels.walks import RUNNING, R, Share, W, WalkSettings

# The walk's number is an argument of the launch, or the constant 0 with `is_only_walk`: PPP is 3 to 5 % faster on an
# H200 if the compiler knows that the walk's rows begin at the start of their buffers.


def refresh_kernel(evaluation: Evaluation, rules: Rules) -> Kernel:
    """Make the kernel that refreshes the data of `quick` for a share of the neighbours."""
    last_move = last_move_function(evaluation, rules)

    @kernel
    def refresh_shared(
        is_only_walk: Const[boolean],
        number: i32,
        first: u32,
        end: u32,
        walks: Rows[W],
        run: WalkSettings,
        problem: Rows[D],
    ):
        """Refresh the data of `quick` after a walk's last move, for neighbours ``first`` to ``end - 1``."""
        w = 0 if is_only_walk else number
        walk = walks[w]
        if is_stale(walk):
            worker, workers = team_rank() * team_size() + lane(), team_count() * team_size()
            last_move(Share(worker, workers, first, min(end, run.sizes[0])), walk, problem[w])

    return refresh_shared


def scan_kernel(rules: Rules, scan: Function) -> Kernel:
    """Make the kernel that scans a rank's share of a walk's neighbours."""
    neighbours_of = neighbour_count_function(rules.draws)

    @kernel
    def scan_shared(
        is_only_walk: Const[boolean],
        number: i32,
        rank: i32,
        ranks: i32,
        keys: Array[u64],
        walks: Rows[W],
        run: R,
        problem: Rows[D],
    ):
        """Write the smallest key of a rank's share of a walk's neighbours into ``keys[0]``; all teams scan."""
        w = 0 if is_only_walk else number
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        walk = walks[w]
        if walk.status.stop == RUNNING:
            neighbours = neighbours_of(walk, run)
            first = u32(u64(neighbours) * u64(rank) // u64(ranks))
            end = u32(u64(neighbours) * u64(rank + 1) // u64(ranks))
            lane_key = scan(Share(team_rank(), team_count(), first, end), walk, run, sums, problem[w])
            team_key = team_min(lane_key, scratch)
            if lane() == 0 and team_key != u64(NO_KEY):
                atomic_min(keys, 0, team_key)

    return scan_shared


def step_kernel(take_step: Function, exchange: Function | None = None) -> Kernel:
    """Make the kernel of the move after a scan; with ``exchange``, ranks first agree on the smallest key."""

    @kernel
    def step_shared(
        is_only_walk: Const[boolean],
        number: i32,
        keys: Array[u64],
        peers: P,
        walks: Rows[W],
        run: WalkSettings,
        problem: Rows[D],
    ):
        """Make the move chosen by the scan; one team."""
        w = 0 if is_only_walk else number
        key = keys[0]
        walk = walks[w]
        if walk.status.stop == RUNNING:
            if exchange is not None:
                key = exchange(key, keys, peers)
            take_step(key, walk, run, problem[w])
            if lane() == 0:
                keys[0] = u64(NO_KEY)

    return step_shared


def scan_and_step_kernel(rules: Rules, scan: Function, take_step: Function, exchange: Function | None = None) -> Kernel:
    """Make the kernel that scans and makes the move in one launch; with ``exchange``, of all ranks together."""
    neighbours_of = neighbour_count_function(rules.draws)

    @kernel
    def scan_and_step(finished: Array[u64], keys: Array[u64], peers: P, walks: Rows[W], run: R, problem: Rows[D]):
        """Scan and make the move in one launch; the last team to finish its scan makes the move.

        ``finished`` counts the teams that have scanned.
        """
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        outcome = shared_array(2, u64)
        walk = walks[0]
        if walk.status.stop == RUNNING:
            if exchange is None:
                share = Share(team_rank(), team_count(), u32(0), neighbours_of(walk, run))
            else:
                neighbours = neighbours_of(walk, run)
                first = first_of_rank(neighbours, peers.rank, peers.ranks)
                end = first_of_rank(neighbours, peers.rank + 1, peers.ranks)
                share = Share(team_rank(), team_count(), first, end)
            lane_key = scan(share, walk, run, sums, problem[0])
            team_key = team_min(lane_key, scratch)
            if lane() == 0:
                # The lower half of the word counts teams. The upper half only makes the addition depend on the
                # minimum: devices may reorder independent atomics of two addresses.
                old_key = atomic_min(keys, 0, team_key)
                old_count = atomic_add(finished, 0, (old_key << u64(32)) + u64(1))
                outcome[0] = u64(u32(old_count)) + u64(1)
                if outcome[0] == u64(team_count()):
                    outcome[1] = atomic_min(keys, 0, u64(NO_KEY))
            barrier()
            if outcome[0] == u64(team_count()):
                key = outcome[1]
                if exchange is not None:
                    key = exchange(key, keys, peers)
                take_step(key, walk, run, problem[0])
                if lane() == 0:
                    keys[0] = u64(NO_KEY)
                    finished[0] = u64(0)

    return scan_and_step
