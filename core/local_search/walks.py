"""Walks of one rank: start, best solution, and the results of all ranks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from core.errors import UserError
from core.lang.named_arrays import size_of
from core.local_search.algorithms import SimulatedAnnealing
from core.local_search.kernels import moves, walks
from core.local_search.kernels.hooks import NO_KEY
from core.local_search.kernels.moves import start_solutions
from core.local_search.kernels.walks import Share, WalkLimits, WalkStatus, WalkTotals
from core.local_search.launcher import WalkLauncher
from core.local_search.memory import WalkMemory
from core.local_search.outcome import Outcome, mix_digests
from core.local_search.plan import Plan
from core.ranks import Ranks, gather_on_all
from core.run.partition import parts_by_speed
from core.run.stop import Stop

FIRST_NEIGHBOURS = 1000
"""Neighbours of a start solution for the default temperature, their mean difference."""


class Walks:
    """Walks of one rank, on its device."""

    def __init__(self, plan: Plan, launcher: WalkLauncher) -> None:
        self.plan, self.launcher = plan, launcher

    @property
    def memory(self) -> WalkMemory:
        return self.launcher.memory

    # --- start ---

    def begin(self, stop: Stop, initial: np.ndarray | None) -> None:
        """Set start solutions, their costs by the NumPy scorer, and a blank memory."""
        plan, memory = self.plan, self.memory
        problem, encoding = plan.problem, plan.problem.encoding
        if initial is None:
            self.draw_starts()
        else:
            memory.write(memory.walkers.solution, np.ascontiguousarray(initial[memory.first : memory.end]))
        costs = problem.costs(memory.rows(memory.walkers.solution, encoding.n))
        for cost in costs[plan.costs.is_astray(costs)][:1]:
            raise UserError(f"{problem.name}: a start solution costs {cost}: expected {plan.costs.text}")
        status = np.zeros((memory.count, size_of(WalkStatus)), np.int32)
        status[:, WalkStatus.cost] = status[:, WalkStatus.best_cost] = costs
        status[:, WalkStatus.home_cost] = moves.NEVER
        status[:, WalkStatus.changed] = walks.EVERYTHING
        status[:, WalkStatus.stop] = np.where(costs <= stop.target, walks.TARGET_REACHED, walks.RUNNING)
        memory.write(memory.walkers.status, status)
        memory.write(memory.walkers.totals, np.zeros((memory.count, size_of(WalkTotals)), np.uint64))
        memory.backend.write(memory.keys, np.full(1, NO_KEY, np.uint64))
        memory.backend.write(memory.finished, np.zeros(1, np.uint64))
        memory.backend.write(memory.shared.limits, limits_of(plan, stop))
        self.launcher.begin()
        if isinstance(plan.algorithm, SimulatedAnnealing):
            temperature = plan.algorithm.temperature or self.usual_difference()
            memory.write(memory.walkers.heat, np.full(memory.count, temperature, np.float32))
            if plan.algorithm.restart:
                memory.backend.write(memory.shared.cooling, plan.algorithm.cooling_table(temperature))

    def draw_starts(self) -> None:
        plan, memory = self.plan, self.memory
        limits = memory.backend.capabilities
        lanes = min(64, limits.max_team_size)
        teams = max(1, min(-(-memory.count // lanes), 16 * limits.compute_units))
        code, seed = plan.problem.encoding.code, plan.settings.seed
        memory.backend.launch(start_solutions, teams, lanes, code, memory.walkers, seed)

    def usual_difference(self) -> float:
        """Return the mean absolute difference of the first neighbours of the first walk's start solution."""
        mean, backend = np.ones(1), self.memory.backend
        if self.memory.first == 0 and self.memory.count:
            count = min(FIRST_NEIGHBOURS, self.plan.sizes[0])
            fitnesses = backend.allocate(count, np.int32)
            self.launcher.fitness(False, 0, Share(0, 1, 0, count), fitnesses, self.launcher.shape.teams)
            differences = backend.download(fitnesses).astype(np.int64)
            allowed = np.abs(differences[differences != moves.NEVER])
            mean[0] = max(1.0, allowed.mean()) if allowed.size else 1.0
        return float(self.from_its_rank(mean, 0)[0])

    # --- results ---

    def evaluations(self) -> int:
        """Return the number of neighbours that this rank's walks have evaluated, as a sequential run counts them."""
        return int(self.memory.totals()[:, WalkTotals.evaluations].sum())

    def best_here(self, status: np.ndarray) -> tuple[int, int]:
        """Return the least cost of this rank's walks and the first walk that has it.

        A rank without a walk returns the largest number of 32 bits, which no walk costs, and a walk behind all others.
        """
        if not self.memory.count:
            return moves.NEVER, self.plan.settings.walks
        w = int(np.argmin(status[:, WalkStatus.best_cost]))
        return int(status[w, WalkStatus.best_cost]), self.memory.first + w

    def best_solution(self, walk: int, status: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the best solution of a walk and the iteration in which it was found, on every rank."""
        encoding, memory = self.plan.problem.encoding, self.memory
        size = encoding.n * np.dtype(encoding.dtype).itemsize
        words = np.zeros(1 + -(-size // 8), np.uint64)
        self.launcher.keep()
        if memory.first <= walk < memory.end:
            w = walk - memory.first
            words[0] = status[w, WalkStatus.best_at]
            best = memory.backend.read(memory.walkers.best, w * encoding.n, encoding.n)
            words[1:].view(np.uint8)[:size] = best.view(np.uint8)
        words = self.from_its_rank(words, walk)
        return words[1:].view(np.uint8)[:size].view(encoding.dtype), int(words[0])

    def from_its_rank(self, words: np.ndarray, walk: int) -> np.ndarray:
        """Return words of 64 bits of the rank that has this walk, on every rank."""
        if not self.memory.first <= walk < self.memory.end:
            words = np.zeros_like(words)
        self.launcher.walk_ranks.reduce(words.view(np.uint64), "sum")
        return words

    def adopt_best(self, status: np.ndarray) -> None:
        """Continue every walk that is worse than the best of all ranks from that one."""
        cost, walk = self.launcher.walk_ranks.minloc(*self.best_here(status))
        self.memory.backend.write(self.memory.adopted, self.best_solution(walk, status)[0])
        self.launcher.adopt(cost)

    def outcome(self, history: list[list[Any]] | None) -> Outcome:
        """Return the outcome of all walks of all ranks."""
        memory, ranks = self.memory, self.launcher.walk_ranks
        status, totals = memory.status(), memory.totals()
        cost, walk = ranks.minloc(*self.best_here(status))
        digest = mix_digests(totals[:, WalkTotals.digest], np.arange(memory.first, memory.end, dtype=np.uint64))
        iterations, evaluations = status[:, WalkStatus.iteration].sum(), totals[:, WalkTotals.evaluations].sum()
        sums = np.array([iterations, evaluations, digest], np.uint64)
        ranks.reduce(sums, "sum")
        iterations, evaluations, digest = (int(x) for x in sums)
        solution, found_at = self.best_solution(walk, status)
        for row in history or ():
            row[1] = min(row[1], evaluations)  # an estimate, if walks evaluate different numbers of neighbours
        return Outcome(cost, walk, found_at, iterations, evaluations, digest, solution, history)


def limits_of(plan: Plan, stop: Stop) -> np.ndarray:
    """Return a run's limits, shape (columns of `WalkLimits`,), int32."""
    algorithm = plan.algorithm
    limits = {
        WalkLimits.most_iterations: stop.iterations,
        WalkLimits.target: stop.target,
        WalkLimits.patience: stop.patience,
        WalkLimits.tenure: plan.tabu.tenure,
        WalkLimits.tenure_span: plan.tabu.span,
        WalkLimits.strength: algorithm.strength,
        WalkLimits.plateau: algorithm.plateau,
        WalkLimits.batch: algorithm.batch,
        WalkLimits.seed: plan.settings.seed,
        WalkLimits.restart: algorithm.restart,
    }
    return np.array([limits[column] for column in range(size_of(WalkLimits))], np.int32)


REHEARSAL_S, REHEARSAL_BATCH_S = 0.1, 0.01
"""Seconds of the batches for a rank's speed, that of its fastest batch, and seconds of the last batches."""
EQUAL_SPEED_RATIO = 1.2
"""Largest ratio of ranks' speeds for equal shares: a few iterations do not show smaller differences."""


def share_by_speed(count: int, ranks: Ranks, own_speed: float) -> tuple[int, int] | None:
    """Return this rank's first walk of ``count`` and the first behind its share; None: ranks are equally fast.

    All ranks call this. The slowest may get no walk.
    """
    speeds = gather_on_all(ranks, own_speed)
    if max(speeds) <= EQUAL_SPEED_RATIO * min(speeds):
        return None
    parts = parts_by_speed(count, speeds)
    return sum(parts[: ranks.rank]), sum(parts[: ranks.rank + 1])


def measure_speed(memory: WalkMemory, iterate: Callable[[int], object]) -> float:
    """Return the iterations per second of this rank's walks together, in a few that count for nothing."""
    done, count, best = 0, 1, 0.0
    began = time.perf_counter()
    while time.perf_counter() - began < REHEARSAL_S:
        before = time.perf_counter()
        iterate(count)
        status = memory.status()
        spent = time.perf_counter() - before
        since, done = done, int(status[:, WalkStatus.iteration].sum())
        best = max(best, (done - since) / max(spent, 1e-9))
        if done == since:
            break
        if spent < REHEARSAL_BATCH_S:
            count *= 2
    return best
