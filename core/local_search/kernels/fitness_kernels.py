"""Kernels that write the fitness of every neighbour, for a separate selection (`luong2013`, section 3)."""

from __future__ import annotations

from core.lang import *
from core.local_search.kernels.hooks import TABU, D, Evaluation, Rules
from core.local_search.kernels.moves import ASSIGN, INSERT, NEVER, REVERSE, SEGMENT, is_tabu
from core.local_search.kernels.neighbour_functions import difference_function, element_function
from core.local_search.kernels.walks import AnyMove, Move, S, Share, Walk


def fitness_function(rules: Rules) -> Function:
    """Make ``fitness_of(index, difference, move, walk) -> i32``, the fitness of a neighbour."""
    change_kind, memory_kind, rule = rules.change, rules.memory, rules.rule

    @function
    def fitness_of(index: u32, difference: i32, move: Move, walk: Walk) -> i32:
        """Return the difference of a neighbour, or `NEVER` if it is tabu and not better than the best solution."""
        if rule == TABU:
            aspires = difference < walk.status.best_cost - walk.status.cost
            if not aspires and is_tabu(memory_kind, change_kind, walk, index, move, walk.status.iteration):
                return NEVER
        return difference

    return fitness_of


def fitness_kernel(evaluation: Evaluation, rules: Rules) -> Kernel:
    """Make the kernel that writes the fitness of all neighbours of a share."""
    quick, change_kind = evaluation.quick, rules.change
    element_at = element_function(rules.shapes, rules.decode)
    difference_of, fitness_of = difference_function(evaluation), fitness_function(rules)

    @kernel
    def write_fitness(
        use_quick: Const[boolean],
        level: i32,
        share: Share,
        fitnesses: Array[i32],
        walks: Rows[Walk],
        problem: Rows[D],
    ):
        """Write the fitness of every neighbour of the share (algorithm 2, section 3.2)."""
        walk = walks[0]
        worker = u32(team_rank() * team_size() + lane())
        for offset in range(worker, share.end - share.first, u32(team_count() * team_size())):
            index = share.first + offset
            i = element_at(0, level, index, 0, 0, walk)
            j = element_at(1, level, index, i, 0, walk)
            move = AnyMove(i, j, element_at(2, level, index, i, j, walk), change_kind)
            difference = 0
            if use_quick and quick is not None:
                difference = quick(walk.solution, index, move, problem[0])
            else:
                difference = difference_of(walk.solution, move, walk.status.cost, problem[0])
            fitnesses[offset] = fitness_of(index, difference, move, walk)

    return write_fitness


def copied_kernel(evaluation: Evaluation, rules: Rules) -> Kernel:
    """Make the kernel that writes the fitness of neighbours copied as whole solutions."""
    change_kind = rules.change
    is_run = change_kind in (REVERSE, SEGMENT, INSERT)  # the neighbour differs in a run of places
    difference_of, fitness_of = difference_function(evaluation), fitness_function(rules)

    @kernel
    def write_copied(
        first: u32, end: u32, neighbours: Array[S], fitnesses: Array[i32], walks: Rows[Walk], problem: Rows[D]
    ):
        """Write the fitness of neighbours copied as whole solutions (section 3.1); a lane finds the move of each."""
        walk = walks[0]
        worker = u32(team_rank() * team_size() + lane())
        for offset in range(worker, end - first, u32(team_count() * team_size())):
            i, j, k = -1, -1, -1
            for p in range(walk.length):
                if neighbours[offset * u32(walk.length) + u32(p)] != walk.solution[p]:
                    if i < 0:
                        i = p
                    elif j < 0 or is_run:
                        j = p
                    else:
                        k = p
            fitness = NEVER
            if i >= 0:
                if change_kind == ASSIGN:
                    j = i32(neighbours[offset * u32(walk.length) + u32(i)])
                if change_kind == REVERSE:  # of positions i + 1 to j
                    i -= 1
                if (
                    change_kind == INSERT
                ):  # the last element of the run moved to its beginning, or the first one to its end
                    if j > i + 1 and neighbours[offset * u32(walk.length) + u32(i)] == walk.solution[j]:
                        i, j = j, i
                move = AnyMove(i, j, k, change_kind)
                difference = difference_of(walk.solution, move, walk.status.cost, problem[0])
                fitness = fitness_of(first + offset, difference, move, walk)
            fitnesses[offset] = fitness

    return write_copied
