"""Checkpoint of ant colonies, from which any ranks, backend and mapping can resume.

Pheromone and tours are in the instance's own numbers, since each mapping numbers the cities in its own way. Weights are
no part of a state: they follow from the pheromone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.kernels.ant_colony.ants import STATES
from core.search.ant_colony.colony import UNKNOWN, Colony
from core.search.ant_colony.settings import MOST_SETTING
from core.search.checkpoint_layout import Checkpoint, CheckpointArray, history_array, permutation_fault

MOST_LENGTH = 2**31 - 1
HISTORY = "history"
OF_COLONIES = ("pheromone", "best", "numbers", "digest")
"""Arrays of a state with a row for each colony."""


def make_checkpoint(search: Any, done: int, history: np.ndarray | None) -> Checkpoint | None:
    """The state of all colonies of all ranks after so many iterations, on the first rank; all call this.

    Parameters
    ----------
    search
        A `core.search.ant_colony.search.AntColony`.
    done
        Iterations of every colony.
    history : ndarray, shape (rows, 4), optional
        `Outcome.history` up to there.

    """
    ranks = search.communicator
    curve = shortest_of_iterations(search, done)
    if search.shared:
        # Of a colony that ranks share each has all pheromone, a part of the digest, and perhaps the best tour.
        (colony,) = search.colonies
        rows = {
            "numbers": search.backend.download(colony.memory.state),
            "best": ranks.sum(search.ground.order[colony.tour_of_best()] * has_best_ant(colony)),
            "digest": ranks.sum(search.backend.download(colony.memory.digest)),
        }
        every = [[{**rows, "pheromone": read_pheromone(colony)}]] if ranks.rank == 0 else None
    else:
        every = ranks.gather([colony_rows(search, colony) for colony in search.colonies])
    if every is None:
        return None
    found = {name: np.stack([row[name] for rows in every for row in rows]) for name in OF_COLONIES}
    more = {} if history is None else {HISTORY: history}
    return {**found, "curve": curve, "winner": np.array(search.winner, np.int64), **more}


def layout(search: Any, most: int, history_s: float | None, state: Checkpoint) -> Iterator[CheckpointArray]:
    """Declare the state of all colonies.

    Parameters
    ----------
    search
        A `core.search.ant_colony.search.AntColony`.
    most
        Iterations of the whole run.
    history_s
        Seconds up to the state, of a run with a history; None: it has none.
    state
        Read as far as it is declared.

    """
    n, number, ants, exchange = search.n, *(getattr(search.settings, name) for name in ("colonies", "ants", "exchange"))
    lengths = (0, MOST_LENGTH)

    def some_iterations(curve: np.ndarray) -> str | None:
        return None if 1 <= len(curve) <= most else f"found {len(curve)} iterations, expected 1 to {most}"

    yield CheckpointArray("curve", np.uint32, (None,), [lengths], some_iterations)
    done = len(state["curve"])
    found = [(0, done - 1), (0, ants - 1)]
    yield CheckpointArray("numbers", np.uint32, (number, STATES), [(done, done), lengths, *found])
    yield CheckpointArray("best", np.int64, (number, n), [(0, n - 1)], permutation_fault)
    yield CheckpointArray("pheromone", np.uint32, (number, n * (n - 1) // 2), [(1, MOST_SETTING)])
    yield CheckpointArray("digest", np.uint64, (number, 1))
    has_winner = 0 < exchange <= done
    winner = [lengths, (0, number - 1), *found] if has_winner else ()
    yield CheckpointArray("winner", np.int64, (4 if has_winner else 0,), winner)
    if history_s is not None:
        yield history_array(HISTORY, done - 1, done * number * ants * n * n, history_s, int(state["curve"].min()))


def resume_colonies(search: Any, state: Checkpoint) -> int:
    """Let the colonies of this rank, which have begun, stand where the state has them; returns the iterations made."""
    done = len(state["curve"])
    search.winner = tuple(int(one) for one in state["winner"])
    for colony in search.colonies:
        row = {name: state[name][colony.number] for name in OF_COLONIES}
        restore_colony(search, colony, row, state["curve"])
    return done


def restore_colony(search: Any, colony: Colony, row: dict[str, np.ndarray], curve: np.ndarray) -> None:
    """Write a colony's part of a state to its memory, and weigh anew."""
    write, memory = search.backend.write, colony.memory
    place = np.argsort(search.ground.order)
    write(memory.state, row["numbers"])
    # Every rank has the tour, and says that it has it if its ants made it.
    write(memory.best, place[row["best"]].astype(np.uint16))
    # Sums of all ranks: one has what there was.
    write(memory.digest, row["digest"] * np.uint64(not search.shared or search.communicator.rank == 0))
    colony.make_places(len(curve))
    search.backend.put(memory.curve, 0, curve)
    write_pheromone(colony, row["pheromone"])
    colony.weigh()


def colony_rows(search: Any, colony: Colony) -> dict[str, np.ndarray]:
    """What a state has of a colony whose ants are all here."""
    return {
        "pheromone": read_pheromone(colony),
        "best": search.ground.order[colony.tour_of_best()],
        "numbers": search.backend.download(colony.memory.state),
        "digest": search.backend.download(colony.memory.digest),
    }


def has_best_ant(colony: Colony) -> bool:
    """Whether the ant with the best tour is one of this rank's."""
    _, _, ant = colony.best_so_far()
    return 0 <= ant - colony.ants.bundle.first < colony.ants.count


def shortest_of_iterations(search: Any, done: int) -> np.ndarray:
    """Length of the shortest tour of each iteration, over all colonies of all ranks, on every rank."""
    nothing = np.full(done, UNKNOWN, np.uint32)
    curve = np.minimum.reduce([nothing, *(colony.lengths_of_best(done) for colony in search.colonies)])
    curves = search.communicator.gather(curve)
    shortest: np.ndarray = search.communicator.bcast(None if curves is None else np.minimum.reduce(curves))
    return shortest


def read_pheromone(colony: Colony) -> np.ndarray:
    """The pheromone of every edge, of a city of the instance to all smaller ones after another: (n (n - 1) / 2,)."""
    trails = colony.backend.download(colony.trails.pheromone)
    return np.concatenate([trails[here] for here, _ in edge_places(colony)])


def write_pheromone(colony: Colony, pheromone: np.ndarray) -> None:
    """Write the pheromone of every edge, as `read_pheromone` has it."""
    trails = colony.backend.download(colony.trails.pheromone)
    begin = 0
    for here, there in edge_places(colony):
        trails[here] = trails[there] = pheromone[begin : begin + len(here)]
        begin += len(here)
    colony.backend.write(colony.trails.pheromone, trails)


def edge_places(colony: Colony) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each city of the instance where a colony has the edges to all smaller ones, and those from them to it."""
    place = np.argsort(colony.ground.order)
    for city in range(1, len(place)):
        yield colony.edges(place[city], place[:city]), colony.edges(place[:city], place[city])
