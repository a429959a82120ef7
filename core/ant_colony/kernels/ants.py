"""Tours of ants (`menezes2019`, algorithms 4 and 5): their construction and their lengths."""

from __future__ import annotations

from core.ant_colony.kernels.roulette import (
    COLUMNS,
    ChoiceWeights,
    RouletteTeam,
    WheelLayout,
    choose_any,
    choose_near,
    visit,
)
from core.lang import *
from core.lang.library import philox, splitmix64, team_sum

D = Generic("D")


class ColonyProgress(NamedArray):
    """Progress of a colony."""

    iteration: u32
    """Next iteration."""
    best: u32
    """Length of the best tour."""
    found_at: u32
    """Iteration that found the best tour."""
    ant: u32
    """Ant that found the best tour."""


@bundle
class Ant:
    """An ant's tour of ``n`` cities and its length. The ant in the first row has the number ``first``."""

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
        Together with the numbers of iteration, ant and step, they determine every draw.
    best : Array, n
        The best tour so far.
    least : Array, 1
        Length << 32 | ant of the iteration's shortest tour.
    curve : Array, iterations
        The length of each iteration's shortest tour.
    digest : Array, 1
        A sum over every (colony, iteration, ant, length), independent of the order in which teams finish.
    ticket : Array, 1
        0, for the local search of the next iteration.
    """

    number: u32
    seed: u64
    state: ColonyProgress
    best: Array[u16]
    least: Array[u64]
    curve: Array[u32]
    digest: Array[u64]
    ticket: Array[u32]


@function
def draw_words(counter: u32, ant: i32, colony: ColonyState, draws: Array[u32]):
    """Draw four random words per lane, for the ant's steps 4 * ``counter`` and on."""
    words = local_array(4, u32)
    words[0] = counter
    words[1] = colony.state.iteration
    words[2] = u32(ant)
    words[3] = colony.number
    philox(words, u32(colony.seed), u32(colony.seed >> 32))
    for k in range(4):
        draws[lane() * 4 + k] = words[k]


@kernel
def construct(ants: Rows[Ant], choice: ChoiceWeights, colony: ColonyState, layout: WheelLayout):
    """Construct a tour of every ant: from a random city, each next city drawn by equation 1.

    Algorithm 4 has one lane per ant, algorithm 5 several. An ant leaves its candidate list only when all cities of the
    list are visited; then the whole team chooses for it.
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
    own = lane() // share
    member = lane() % share
    for begin in range(team_rank() * layout.ants, ants.count, team_count() * layout.ants):
        row = min(begin + own, ants.count - 1)
        ant = ants[row]
        for k in range(lane(), layout.ants * layout.pieces * layout.words * COLUMNS, team_size()):
            team.unvisited[k] = 0xFFFFFFFF
        for step in range(ant.n):
            turn = step % (4 * share)
            if turn == 0:
                draw_words(u32((step >> 2) + member), ant.first + row, colony, draws)
                barrier()
            draw = draws[own * share * 4 + turn]
            if step == 0:
                if member == 0:
                    team.chosen[own] = i32(mulhi(draw, u32(ant.n)))
            elif layout.near_columns == 0:
                choose_any(draw, own, lane() - member, team, choice)
            else:
                choose_near(draw, own, team, choice)
                barrier()
                for other in range(layout.ants):
                    if team.chosen[other] < 0:
                        choose_any(draws[other * share * 4 + turn], other, 0, team, choice)
            if member == 0:
                city = team.chosen[own]
                ant.tour[step] = u16(city)
                visit(city, own, team)
            barrier()


@kernel
def measure(distances: Array[D], ants: Rows[Ant], colony: ColonyState):
    """Compute the lengths of the tours, the least (length, ant), and the digest."""
    scratch = shared_array(team_size(), u32)
    for row in range(team_rank(), ants.count, team_count()):
        ant = ants[row]
        length = u32(0)
        for p in range(lane(), ant.n, team_size()):
            next_step = p + 1 if p + 1 < ant.n else 0
            length += u32(distances[i32(ant.tour[p]) * ant.n + i32(ant.tour[next_step])])
        length = team_sum(length, scratch)
        if lane() == 0:
            number = u64(ant.first + row)
            ant.length[0] = length
            atomic_min(colony.least, 0, (u64(length) << 32) | number)
            identity = splitmix64(number + (u64(colony.state.iteration) << 32) + u64(0x9E3779B97F4A7C15))
            atomic_add(colony.digest, 0, splitmix64(identity ^ ((u64(colony.number) << 32) | u64(length))))
