"""The template of local search (algorithms 1 and 2 of `luong2013`) as kernels, made for one problem and one rule.

An iteration looks at the neighbours of the current solution, takes one by a rule, and makes the move. `walk` does all
of it in one team (a team per walk: the algorithmic level); `scan` and `step` share one walk's neighbourhood out over
teams and ranks (the iteration level). Both are the same functions, so every trajectory is the same.
"""

from __future__ import annotations

from typing import NamedTuple

from core.kernels.moves import NEVER, PAIRS, TRIPLES, change, first_of, forbid, is_tabu, second_of, third_of
from core.kernels.two_opt import scrambled
from core.lang import (
    Array,
    Const,
    Function,
    Generic,
    Kernel,
    Pack,
    atomic_min,
    barrier,
    f32,
    function,
    i32,
    kernel,
    lane,
    part,
    shared_array,
    team_count,
    team_rank,
    team_size,
    u32,
    u64,
    view,
)
from core.lang.library import pack as packed
from core.lang.library import packed_cost, packed_index, random_below, random_word, team_min, team_sum

S = Generic("S")

# Rules: which neighbour is taken.
BEST, FIRST, TABU, ANNEAL = range(4)
# After a local optimum: stop, or restore the best, shake it and go on.
HALT, SHAKE_EVENLY, SHAKE_HARDER = range(3)

# The words of a walk's `control`.
COST, BEST_COST, ITERATION, BEST_AT, STOP, LEVEL, CHANGED, MOVE_I, MOVE_J, MOVE_K, HOME_COST, SHAKES = range(12)
CONTROL = 12
# What CHANGED says of the last iteration.
NOTHING_CHANGED, ONE_MOVE, EVERYTHING = range(3)
# What STOP says.
RUNNING, LOCAL_OPTIMUM, TARGET_REACHED, NO_IMPROVEMENT, ITERATIONS_DONE = range(5)
# The words of a walk's `totals`.
DIGEST, EVALUATIONS = range(2)
TOTALS = 2
# The words of `limits`, the same for all walks.
MOST_ITERATIONS, TARGET, PATIENCE, TENURE, TENURE_SPAN, STRENGTH, PLATEAU, BATCH, SEED = range(9)
LIMITS = 9
# The numbers of `cooling`: the factor, then -ln((r + 1/2) / 4096) for r = 0 ... 4095.
FACTOR, DRAWS = 0, 1
COOLING = 4097

NO_KEY = 0xFFFFFFFFFFFFFFFF
# Streams of random words beside those of the start solutions.
SHAKING, PROPOSING, ACCEPTING, LASTING = (k << 32 for k in range(1, 5))


@function
def nothing(solution: Array[S]):
    """Stands where a problem keeps nothing; never called."""


class Hooks(NamedTuple):
    """What a problem adds to the template, in the kernel language.

    Attributes
    ----------
    data : Pack
        Names and kinds of the problem's arrays and numbers; state of a walk is declared as `Parts`.
    delta : Function
        ``delta(solution, i, j, k, ...) -> i32``: what the move adds to the cost; one lane calls it.
    quick : Function or None
        ``quick(solution, index, i, j, k, ...) -> i32``: the same from what `refresh` has left.
    begin : Function or None
        ``begin(solution, ...)``: build the walk's state; all lanes of one team call it.
    update : Function or None
        ``update(solution, i, j, k, ...)``: follow a move that is about to be made; all lanes of one team call it.
    move : Function or None
        ``move(solution, i, j, k, ...)``: make the move, if it is no change of `core.kernels.moves`.
    refresh : Function or None
        ``refresh(worker, workers, begin, end, changed, i, j, k, solution, ...)``: after the change, by all lanes of
        all teams; what `quick` needs for neighbours ``begin`` to ``end - 1``.
    partial : Function or None
        ``partial(worker, workers, solution, i, j, k, ...) -> i32``: a part of `delta`; the workers' parts add up.

    """

    data: Pack
    delta: Function
    quick: Function | None = None
    begin: Function | None = None
    update: Function | None = None
    move: Function | None = None
    refresh: Function | None = None
    partial: Function | None = None


class Template(NamedTuple):
    """The kernels of one search: see `search_kernels`."""

    begin: Kernel
    walk: Kernel
    refresh: Kernel
    scan: Kernel
    step: Kernel
    fitness: Kernel
    listed: Kernel
    adopt: Kernel


def search_kernels(
    hooks: Hooks,
    shapes: tuple[int, ...],
    change_kind: int,
    memory_kind: int,
    rule: int,
    at_optimum: int,
    by_team: bool = False,
) -> Template:
    """Make the kernels of one search.

    Parameters
    ----------
    hooks
        The problem.
    shapes
        The shape of up to three neighbourhoods, tried in this order (see `core.kernels.moves`).
    change_kind, memory_kind
        What a move does, and what a tabu search remembers of it.
    rule, at_optimum
        Which neighbour is taken, and what happens when there is none.
    by_team
        The lanes of a team evaluate one neighbour together, by `Hooks.partial`: the solution level.

    """
    data = hooks.data
    delta = hooks.delta
    quick, has_quick = hooks.quick or nothing, int(hooks.quick is not None)
    begin, has_begin = hooks.begin or nothing, hooks.begin is not None
    update, has_update = hooks.update or nothing, hooks.update is not None
    move, has_move = hooks.move or nothing, hooks.move is not None
    refresh, has_refresh = hooks.refresh or nothing, hooks.refresh is not None
    partial, by_team = hooks.partial or nothing, by_team and hooks.partial is not None
    levels = len(shapes)
    shape_0, shape_1, shape_2 = (*shapes, -1, -1)[:3]

    @function(pack=data)
    def scan_level(
        shape: Const[i32],
        use_quick: Const[i32],
        first: u32,
        end: u32,
        control: Array[i32],
        memory: Array[i32],
        solution: Array[S],
        sums: Array[i32],
        length: i32,
        choices: i32,
        *data,
    ) -> u64:
        """The smallest key among neighbours ``first + lane()``, ``first + lane() + team_size()`` ... below ``end``.

        If the team evaluates together, every lane looks at all of them.
        """
        found = u64(NO_KEY)
        least = NEVER
        step = 1 if by_team else team_size()
        index = first if by_team else first + u32(lane())
        if index >= end:
            return found
        aspired = control[BEST_COST] - control[COST]
        iteration = control[ITERATION]
        i = first_of(shape, index, length, choices)
        j = second_of(shape, index, i, length, choices, solution)
        k = third_of(shape, index, i, j, length)
        while True:
            difference = 0
            if by_team:
                share = partial(lane(), team_size(), solution, i, j, k, *data)
                difference = team_sum(share, sums)
            elif use_quick != 0:
                difference = quick(solution, index, i, j, k, *data)
            else:
                difference = delta(solution, i, j, k, *data)
            if difference < least:
                if rule == FIRST:
                    if difference < 0:
                        return u64(index)
                elif rule == TABU:
                    tabu = is_tabu(
                        memory_kind, change_kind, memory, solution, index, i, j, k, length, choices, iteration
                    )
                    if tabu == 0 or difference < aspired:
                        least = difference
                        found = packed(difference, index)
                else:
                    least = difference
                    found = packed(difference, index)
            if end - index <= u32(step):
                break
            index += u32(step)
            if shape == PAIRS and step <= max(length, 1):  # a step of few rows is cheaper to walk than to decode
                j += step
                while j >= length:
                    i += 1
                    j += i + 1 - length
            elif shape == TRIPLES and step <= max(length, 1):
                k += step
                while k >= length:
                    j += 1
                    if j >= length - 1:
                        i += 1
                        k += j - length + 1
                        j = i + 1
                    k += j + 1 - length
            else:
                i = first_of(shape, index, length, choices)
                j = second_of(shape, index, i, length, choices, solution)
                k = third_of(shape, index, i, j, length)
        return found

    @function
    def proposed(slot: u32, walk: u64, iteration: i32, limits: Array[i32], sizes: Array[u32]) -> u32:
        """The neighbour that draw ``slot`` after ``iteration`` proposes."""
        return random_below(sizes[0], u64(u32(limits[SEED])), walk + u64(PROPOSING), u32(iteration) + slot)

    @function
    def window(control: Array[i32], limits: Array[i32]) -> i32:
        """Draws that may be tried at the present temperature, before the search ends."""
        iteration = control[ITERATION]
        plateau = limits[PLATEAU] - iteration % limits[PLATEAU]
        patience = limits[PATIENCE] - (iteration - control[BEST_AT])
        return min(min(limits[BATCH], plateau), min(patience, limits[MOST_ITERATIONS] - iteration))

    @function(pack=data)
    def scan_draws(
        first: u32,
        end: u32,
        walk: u64,
        control: Array[i32],
        limits: Array[i32],
        sizes: Array[u32],
        solution: Array[S],
        heat: Array[f32],
        cooling: Array[f32],
        length: i32,
        choices: i32,
        *data,
    ) -> u64:
        """The first of this lane's draws that Metropolis' rule accepts: delta <= -T ln(u)."""
        for slot in range(first + u32(lane()), end, u32(team_size())):
            index = proposed(slot, walk, control[ITERATION], limits, sizes)
            i = first_of(shape_0, index, length, choices)
            j = second_of(shape_0, index, i, length, choices, solution)
            k = third_of(shape_0, index, i, j, length)
            difference = delta(solution, i, j, k, *data)
            if difference != NEVER:
                word = random_word(
                    u64(u32(limits[SEED])), walk + u64(ACCEPTING), u32(control[ITERATION]) + slot, u32(0)
                )
                if difference <= 0 or f32(difference) <= heat[0] * cooling[DRAWS + i32(word >> 20)]:
                    return u64(slot)
        return u64(NO_KEY)

    @function(pack=data)
    def scan_part(
        rank: i32,
        shares: i32,
        first: u32,
        end: u32,
        walk: u64,
        control: Array[i32],
        limits: Array[i32],
        sizes: Array[u32],
        memory: Array[i32],
        solution: Array[S],
        heat: Array[f32],
        cooling: Array[f32],
        sums: Array[i32],
        length: i32,
        choices: i32,
        *data,
    ) -> u64:
        """The smallest key of this lane in its team's part of the neighbours ``first`` to ``end - 1``."""
        if rule == ANNEAL:
            end = min(end, u32(window(control, limits)))
        count = end - first if end > first else u32(0)
        each = (count - 1) // u32(shares) + 1 if count > 0 else u32(0)
        low = min(u32(rank) * each, count)
        high = min(low + each, count)
        low += first
        high += first
        if rule == ANNEAL:
            return scan_draws(low, high, walk, control, limits, sizes, solution, heat, cooling, length, choices, *data)
        if levels > 1 and control[LEVEL] == 1:
            return scan_level(shape_1, 0, low, high, control, memory, solution, sums, length, choices, *data)
        if levels > 2 and control[LEVEL] == 2:
            return scan_level(shape_2, 0, low, high, control, memory, solution, sums, length, choices, *data)
        return scan_level(shape_0, has_quick, low, high, control, memory, solution, sums, length, choices, *data)

    @function
    def first_index(level: i32, index: u32, length: i32, choices: i32) -> i32:
        """The i of neighbour ``index`` of a level."""
        if levels > 1 and level == 1:
            return first_of(shape_1, index, length, choices)
        if levels > 2 and level == 2:
            return first_of(shape_2, index, length, choices)
        return first_of(shape_0, index, length, choices)

    @function
    def second_index(level: i32, index: u32, i: i32, length: i32, choices: i32, solution: Array[S]) -> i32:
        """The j of neighbour ``index`` of a level."""
        if levels > 1 and level == 1:
            return second_of(shape_1, index, i, length, choices, solution)
        if levels > 2 and level == 2:
            return second_of(shape_2, index, i, length, choices, solution)
        return second_of(shape_0, index, i, length, choices, solution)

    @function
    def third_index(level: i32, index: u32, i: i32, j: i32, length: i32) -> i32:
        """The k of neighbour ``index`` of a level."""
        if levels > 1 and level == 1:
            return third_of(shape_1, index, i, j, length)
        if levels > 2 and level == 2:
            return third_of(shape_2, index, i, j, length)
        return third_of(shape_0, index, i, j, length)

    @function(pack=data)
    def make_move(solution: Array[S], i: i32, j: i32, k: i32, *data):
        """Follow and make a move; all lanes of the team meet before and after."""
        barrier()
        if has_update:
            update(solution, i, j, k, *data)
            barrier()
        if has_move:
            move(solution, i, j, k, *data)
        else:
            change(change_kind, solution, i, j, k)
        barrier()

    @function
    def copy_solution(source: Array[S], target: Array[S], length: i32):
        """Copy a solution, shared out over the lanes."""
        for p in range(lane(), length, team_size()):
            target[p] = source[p]

    @function
    def mixed(digest: u64, index: u32, cost: i32) -> u64:
        """The digest of a trajectory after one more move."""
        return scrambled(digest + u64(0x9E3779B97F4A7C15) ^ ((u64(index) << 32) | u64(u32(cost))))

    @function(pack=data)
    def leave_optimum(
        walk: u64,
        control: Array[i32],
        totals: Array[u64],
        limits: Array[i32],
        sizes: Array[u32],
        solution: Array[S],
        best: Array[S],
        home: Array[S],
        length: i32,
        choices: i32,
        *data,
    ):
        """Keep the better of this local optimum and the last one kept, and shake it by random moves."""
        cost = control[COST]
        safe = control[HOME_COST]
        strength = limits[STRENGTH]
        if at_optimum == SHAKE_HARDER:
            strength = 1 if cost < safe else control[SHAKES] % limits[STRENGTH] + 1
        digest = totals[DIGEST]
        iteration = control[ITERATION]
        barrier()
        if cost <= safe:
            copy_solution(solution, home, length)
            safe = cost
        else:
            copy_solution(home, solution, length)
            barrier()
            if has_begin:
                begin(solution, *data)
            cost = safe
        for shake in range(strength):
            barrier()
            draw = u32(iteration) * u32(256) + u32(shake)
            index = random_below(sizes[0], u64(u32(limits[SEED])), walk + u64(SHAKING), draw)
            i = first_of(shape_0, index, length, choices)
            j = second_of(shape_0, index, i, length, choices, solution)
            k = third_of(shape_0, index, i, j, length)
            difference = delta(solution, i, j, k, *data)
            if difference != NEVER:
                make_move(solution, i, j, k, *data)
                cost += difference
                digest = mixed(digest, index, cost)
        barrier()
        is_best = cost < control[BEST_COST]
        if is_best:
            copy_solution(solution, best, length)
        barrier()
        if lane() == 0:
            if is_best:
                control[BEST_COST] = cost
                control[BEST_AT] = iteration + 1
            control[COST] = cost
            control[HOME_COST] = safe
            control[SHAKES] = strength
            control[LEVEL] = 0
            control[CHANGED] = EVERYTHING
            totals[DIGEST] = digest

    @function(pack=data)
    def take_step(
        key: u64,
        walk: u64,
        control: Array[i32],
        totals: Array[u64],
        limits: Array[i32],
        sizes: Array[u32],
        memory: Array[i32],
        solution: Array[S],
        best: Array[S],
        home: Array[S],
        heat: Array[f32],
        cooling: Array[f32],
        length: i32,
        choices: i32,
        *data,
    ):
        """Make the move that ``key`` stands for, and all that follows from it; the whole team calls this."""
        level = control[LEVEL]
        cost = control[COST]
        iteration = control[ITERATION]
        digest = totals[DIGEST]
        looked_at = u64(sizes[level])
        passed = 1
        index = packed_index(key)
        moved = key != u64(NO_KEY)
        if rule == ANNEAL:
            passed = window(control, limits)
            if moved:
                passed = i32(index) + 1
                index = proposed(index, walk, iteration, limits, sizes)
            looked_at = u64(passed)
        elif rule == FIRST:
            if moved:
                looked_at = u64(index) + 1
        elif rule == BEST:
            moved = moved and packed_cost(key) < 0
        barrier()
        if moved:
            i = first_index(level, index, length, choices)
            j = second_index(level, index, i, length, choices, solution)
            k = third_index(level, index, i, j, length)
            if rule == BEST or rule == TABU:
                cost += packed_cost(key)
            else:
                difference = delta(solution, i, j, k, *data)
                cost += difference
            if rule == TABU and lane() == 0:
                word = random_word(u64(u32(limits[SEED])), walk + u64(LASTING), u32(iteration), u32(0))
                tenure = limits[TENURE] + i32(word % u32(limits[TENURE_SPAN] + 1))
                forbid(
                    memory_kind,
                    change_kind,
                    memory,
                    solution,
                    index,
                    i,
                    j,
                    k,
                    length,
                    choices,
                    iteration + 1 + tenure,
                )
            make_move(solution, i, j, k, *data)
            if lane() == 0:
                control[CHANGED] = ONE_MOVE
                control[MOVE_I] = i
                control[MOVE_J] = j
                control[MOVE_K] = k
                control[LEVEL] = 0
                control[COST] = cost
                totals[DIGEST] = mixed(digest, index, cost)
            if cost < control[BEST_COST]:
                copy_solution(solution, best, length)
                barrier()
                if lane() == 0:
                    control[BEST_COST] = cost
                    control[BEST_AT] = iteration + passed
        elif lane() == 0:
            control[CHANGED] = NOTHING_CHANGED
            if level + 1 < levels:
                control[LEVEL] = level + 1
        barrier()
        ended = RUNNING
        if rule == BEST or rule == FIRST:
            if not moved and level + 1 >= levels:
                if at_optimum == HALT:
                    ended = LOCAL_OPTIMUM
                else:
                    leave_optimum(walk, control, totals, limits, sizes, solution, best, home, length, choices, *data)
                    barrier()
        if lane() == 0:
            totals[EVALUATIONS] = totals[EVALUATIONS] + looked_at
            if rule == ANNEAL and iteration % limits[PLATEAU] + passed >= limits[PLATEAU]:
                heat[0] = heat[0] * cooling[FACTOR]
            iteration += passed
            control[ITERATION] = iteration
            if control[BEST_COST] <= limits[TARGET]:
                ended = TARGET_REACHED
            elif iteration >= limits[MOST_ITERATIONS]:
                ended = ITERATIONS_DONE
            elif iteration - control[BEST_AT] >= limits[PATIENCE]:
                ended = NO_IMPROVEMENT
            control[STOP] = ended
        barrier()

    @kernel(pack=data)
    def begin_walks(walks: i32, solutions: Array[S], bests: Array[S], homes: Array[S], length: i32, *data):
        """Build the state of every walk from its solution."""
        for w in range(team_rank(), walks, team_count()):
            copy_solution(view(solutions, w * length), view(bests, w * length), length)
            copy_solution(view(solutions, w * length), view(homes, w * length), length)
            barrier()
            if has_begin:
                begin(view(solutions, w * length), *part(data, w))
            barrier()

    @kernel(pack=data)
    def walk_walks(
        iterations: i32,
        walks: i32,
        first_walk: i32,
        room: i32,
        controls: Array[i32],
        totals: Array[u64],
        limits: Array[i32],
        sizes: Array[u32],
        memories: Array[i32],
        solutions: Array[S],
        bests: Array[S],
        homes: Array[S],
        heats: Array[f32],
        cooling: Array[f32],
        length: i32,
        choices: i32,
        *data,
    ):
        """Up to ``iterations`` further iterations of every walk; ``room`` words of memory each."""
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        for w in range(team_rank(), walks, team_count()):
            number = u64(first_walk + w)
            base = w * CONTROL
            for _ in range(iterations):
                if controls[base + STOP] != RUNNING:
                    break
                if has_refresh and controls[base + CHANGED] != NOTHING_CHANGED and controls[base + LEVEL] == 0:
                    refresh(
                        lane(),
                        team_size(),
                        u32(0),
                        sizes[0],
                        controls[base + CHANGED],
                        controls[base + MOVE_I],
                        controls[base + MOVE_J],
                        controls[base + MOVE_K],
                        view(solutions, w * length),
                        *part(data, w),
                    )
                    barrier()
                end = u32(limits[BATCH]) if rule == ANNEAL else sizes[controls[base + LEVEL]]
                mine = scan_part(
                    0,
                    1,
                    u32(0),
                    end,
                    number,
                    view(controls, base),
                    limits,
                    sizes,
                    view(memories, w * room),
                    view(solutions, w * length),
                    view(heats, w),
                    cooling,
                    sums,
                    length,
                    choices,
                    *part(data, w),
                )
                key = team_min(mine, scratch)
                take_step(
                    key,
                    number,
                    view(controls, base),
                    view(totals, w * TOTALS),
                    limits,
                    sizes,
                    view(memories, w * room),
                    view(solutions, w * length),
                    view(bests, w * length),
                    view(homes, w * length),
                    view(heats, w),
                    cooling,
                    length,
                    choices,
                    *part(data, w),
                )

    @kernel(pack=data)
    def refresh_shared(first: u32, end: u32, controls: Array[i32], sizes: Array[u32], solutions: Array[S], *data):
        """`refresh` by all lanes of all teams, for this rank's neighbours."""
        if controls[STOP] == RUNNING and controls[CHANGED] != NOTHING_CHANGED and controls[LEVEL] == 0:
            refresh(
                team_rank() * team_size() + lane(),
                team_count() * team_size(),
                first,
                min(end, sizes[0]),
                controls[CHANGED],
                controls[MOVE_I],
                controls[MOVE_J],
                controls[MOVE_K],
                solutions,
                *data,
            )

    @kernel(pack=data)
    def scan_shared(
        rank: i32,
        ranks: i32,
        keys: Array[u64],
        controls: Array[i32],
        limits: Array[i32],
        sizes: Array[u32],
        memories: Array[i32],
        solutions: Array[S],
        heats: Array[f32],
        cooling: Array[f32],
        length: i32,
        choices: i32,
        *data,
    ):
        """The smallest key among this rank's share of the neighbours, shared out over all teams, into ``keys[0]``."""
        scratch = shared_array(team_size(), u64)
        sums = shared_array(team_size(), i32)
        if controls[STOP] == RUNNING:
            all_of_them = u32(limits[BATCH]) if rule == ANNEAL else sizes[controls[LEVEL]]
            first = u32(u64(all_of_them) * u64(rank) // u64(ranks))
            end = u32(u64(all_of_them) * u64(rank + 1) // u64(ranks))
            mine = scan_part(
                team_rank(),
                team_count(),
                first,
                end,
                u64(0),
                controls,
                limits,
                sizes,
                memories,
                solutions,
                heats,
                cooling,
                sums,
                length,
                choices,
                *data,
            )
            least = team_min(mine, scratch)
            if lane() == 0 and least != u64(NO_KEY):
                atomic_min(keys, 0, least)

    @kernel(pack=data)
    def step_shared(
        keys: Array[u64],
        controls: Array[i32],
        totals: Array[u64],
        limits: Array[i32],
        sizes: Array[u32],
        memories: Array[i32],
        solutions: Array[S],
        bests: Array[S],
        homes: Array[S],
        heats: Array[f32],
        cooling: Array[f32],
        length: i32,
        choices: i32,
        *data,
    ):
        """The move that the scan found, made by one team."""
        key = keys[0]
        if controls[STOP] == RUNNING:
            take_step(
                key,
                u64(0),
                controls,
                totals,
                limits,
                sizes,
                memories,
                solutions,
                bests,
                homes,
                heats,
                cooling,
                length,
                choices,
                *data,
            )
            if lane() == 0:
                keys[0] = u64(NO_KEY)

    @function
    def note(
        offset: u32,
        index: u32,
        difference: i32,
        i: i32,
        j: i32,
        k: i32,
        control: Array[i32],
        memory: Array[i32],
        fitness: Array[i32],
        tabu: Array[i32],
        solution: Array[S],
        length: i32,
        choices: i32,
    ):
        """Hand a neighbour's difference, and whether it is forbidden, to a host that selects."""
        fitness[offset] = difference
        if rule == TABU:
            tabu[offset] = is_tabu(
                memory_kind, change_kind, memory, solution, index, i, j, k, length, choices, control[ITERATION]
            )

    @kernel(pack=data)
    def write_fitness(
        use_quick: Const[i32],
        level: i32,
        first: u32,
        end: u32,
        controls: Array[i32],
        memories: Array[i32],
        fitness: Array[i32],
        tabu: Array[i32],
        solutions: Array[S],
        length: i32,
        choices: i32,
        *data,
    ):
        """The difference of every neighbour ``first`` to ``end - 1``: for a host that selects (section 3.2)."""
        worker = u32(team_rank() * team_size() + lane())
        for offset in range(worker, end - first, u32(team_count() * team_size())):
            index = first + offset
            i = first_index(level, index, length, choices)
            j = second_index(level, index, i, length, choices, solutions)
            k = third_index(level, index, i, j, length)
            difference = 0
            if use_quick != 0 and has_quick != 0:
                difference = quick(solutions, index, i, j, k, *data)
            else:
                difference = delta(solutions, i, j, k, *data)
            note(offset, index, difference, i, j, k, controls, memories, fitness, tabu, solutions, length, choices)

    @kernel(pack=data)
    def write_listed(
        first: u32,
        end: u32,
        moves: Array[i32],
        controls: Array[i32],
        memories: Array[i32],
        fitness: Array[i32],
        tabu: Array[i32],
        solutions: Array[S],
        length: i32,
        choices: i32,
        *data,
    ):
        """The same for moves that the host has listed as (i, j, k): for a host that generates (section 3.1)."""
        worker = u32(team_rank() * team_size() + lane())
        for offset in range(worker, end - first, u32(team_count() * team_size())):
            i, j, k = moves[3 * offset], moves[3 * offset + 1], moves[3 * offset + 2]
            difference = delta(solutions, i, j, k, *data)
            note(
                offset,
                first + offset,
                difference,
                i,
                j,
                k,
                controls,
                memories,
                fitness,
                tabu,
                solutions,
                length,
                choices,
            )

    @kernel(pack=data)
    def adopt_solution(
        walks: i32, cost: i32, given: Array[S], controls: Array[i32], solutions: Array[S], length: i32, *data
    ):
        """Every walk that is worse than ``cost`` goes on from the solution ``given``."""
        for w in range(team_rank(), walks, team_count()):
            base = w * CONTROL
            if controls[base + COST] > cost:
                copy_solution(given, view(solutions, w * length), length)
                barrier()
                if has_begin:
                    begin(view(solutions, w * length), *part(data, w))
                barrier()
                if lane() == 0:
                    controls[base + COST] = cost
                    controls[base + LEVEL] = 0
                    controls[base + CHANGED] = EVERYTHING
                    if controls[base + STOP] == LOCAL_OPTIMUM:
                        controls[base + STOP] = RUNNING
                barrier()

    return Template(
        begin_walks, walk_walks, refresh_shared, scan_shared, step_shared, write_fitness, write_listed, adopt_solution
    )
