"""Tours of ants (`menezes2019`, algorithms 4 and 5): who they are, how they are made and measured."""

from __future__ import annotations

from core.kernels.ant_colony.roulette import (
    COLUMNS,
    ChoiceWeights,
    RouletteTeam,
    WheelLayout,
    choose_any,
    choose_near,
    visit,
)
from core.kernels.two_opt.climbs import splitmix64
from core.lang import *
from core.lang.library import philox, team_sum

D = Generic("D")
ITERATION, BEST, FOUND_AT, ANT = 0, 1, 2, 3
STATES = 4


@bundle
class Ant:
    """An ant's tour of ``n`` cities, and its length. The ant in the first row has number ``first``."""

    tour: Array[u16] = Row("n")
    length: Array[u32] = Row(1)
    n: i32
    first: i32


@bundle
class ColonyState:
    """Identity and progress of a colony.

    Attributes
    ----------
    number, seed
        With the numbers of the iteration, of the ant and of the step they decide every draw.
    state : Array, STATES
        The next iteration, and the best tour's length, iteration and ant.
    best : Array, n
        The best tour so far.
    least : Array, 1
        Length << 32 | ant of the iteration's shortest tour.
    curve : Array, iterations
        The length of each iteration's shortest tour.
    digest : Array, 1
        A sum over every (colony, iteration, ant, length), so it does not depend on the order in which teams finish.
    ticket : Array, 1
        0, for the local search of the next iteration.
    """

    number: u32
    seed: u64
    state: Array[u32]
    best: Array[u16]
    least: Array[u64]
    curve: Array[u32]
    digest: Array[u64]
    ticket: Array[u32]


@function
def draw_words(counter: u32, ant: i32, colony: ColonyState, draws: Array[u32]):
    """Four random words per lane: the draws of the ant's steps 4 * ``counter`` and on."""
    words = local_array(4, u32)
    words[0] = counter
    words[1] = colony.state[ITERATION]
    words[2] = u32(ant)
    words[3] = colony.number
    philox(words, u32(colony.seed), u32(colony.seed >> 32))
    for k in range(4):
        draws[lane() * 4 + k] = words[k]


@kernel
def construct(ants: Rows[Ant], choice: ChoiceWeights, colony: ColonyState, layout: WheelLayout):
    """Let every ant make a tour: from a random city always to one that equation 1 draws.

    Algorithm 4 is the layout of one lane an ant, algorithm 5 that of several. An ant with a candidate list looks at
    others only when all of it is visited; then the whole team chooses for it.
    """
    share = team_size() // layout.ants
    team = RouletteTeam(
        layout,
        shared_array(layout.ants * layout.pieces * layout.words * COLUMNS, u32),
        shared_array(2 * team_size(), u32),
        shared_array(layout.depth // layout.rows * layout.columns * team_size(), u32),
        shared_array(layout.ants, i32),
        shared_array(layout.ants, i32),
    )
    draws = shared_array(4 * team_size(), u32)
    mine = lane() // share
    member = lane() % share
    for begin in range(team_rank() * layout.ants, ants.count, team_count() * layout.ants):
        row = min(begin + mine, ants.count - 1)
        one = ants[row]
        for k in range(lane(), layout.ants * layout.pieces * layout.words * COLUMNS, team_size()):
            team.unvisited[k] = 0xFFFFFFFF
        for step in range(one.n):
            turn = step % (4 * share)
            if turn == 0:
                draw_words(u32((step >> 2) + member), one.first + row, colony, draws)
                barrier()
            draw = draws[mine * share * 4 + turn]
            if step == 0:
                if member == 0:
                    team.chosen[mine] = i32(mulhi(draw, u32(one.n)))
            elif layout.near_columns == 0:
                choose_any(draw, mine, lane() - member, team, choice)
            else:
                choose_near(draw, mine, team, choice)
                barrier()
                for ant in range(layout.ants):
                    if team.chosen[ant] < 0:
                        choose_any(draws[ant * share * 4 + turn], ant, 0, team, choice)
            if member == 0:
                city = team.chosen[mine]
                one.tour[step] = u16(city)
                visit(city, mine, team)
            barrier()


@kernel
def measure(distances: Array[D], ants: Rows[Ant], colony: ColonyState):
    """Measure the tours: their lengths, the least (length, ant), and the digest."""
    scratch = shared_array(team_size(), u32)
    for row in range(team_rank(), ants.count, team_count()):
        one = ants[row]
        length = u32(0)
        for p in range(lane(), one.n, team_size()):
            after = p + 1 if p + 1 < one.n else 0
            length += u32(distances[i32(one.tour[p]) * one.n + i32(one.tour[after])])
        length = team_sum(length, scratch)
        if lane() == 0:
            number = u64(one.first + row)
            one.length[0] = length
            atomic_min(colony.least, 0, (u64(length) << 32) | number)
            name = splitmix64(number + (u64(colony.state[ITERATION]) << 32) + u64(0x9E3779B97F4A7C15))
            atomic_add(colony.digest, 0, splitmix64(name ^ ((u64(colony.number) << 32) | u64(length))))
