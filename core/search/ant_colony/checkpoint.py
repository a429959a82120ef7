"""Checkpoint of ant colonies, from which any ranks, backend and mapping can resume.

Pheromone and tours are in the instance's own numbers, since each mapping numbers the cities in its own way. Weights are
no part of a state: they follow from the pheromone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.kernels.ant_colony.ants import STATES
from core.search.ant_colony.colony import Colony
from core.search.ant_colony.group import ColonyGroup
from core.search.ant_colony.settings import MOST_SETTING, Settings
from core.search.checkpoint import Checkpoint, CheckpointArray, history_array, permutation_fault

MOST_LENGTH = 2**31 - 1
HISTORY = "history"
OF_COLONIES = ("pheromone", "best", "numbers", "digest")
"""Arrays of a state with a row for each colony."""


def make_checkpoint(group: ColonyGroup, curve: np.ndarray, history: list[list[Any]] | None) -> Checkpoint | None:
    """Return the state of all colonies of all ranks, on the first rank; all ranks call this.

    Parameters
    ----------
    group
    curve : ndarray, shape (iterations,)
        See `ColonyGroup.curve`.
    history : list of list, optional
        `ColonyOutcome.history` up to here.

    """
    ranks = group.ranks
    if group.is_shared:
        # Of a colony that ranks share each has all pheromone, a part of the digest, and perhaps the best tour.
        (colony,) = group.colonies
        rows = {
            "numbers": group.backend.download(colony.memory.state),
            "best": ranks.sum(group.ground.order[colony.found.tour()] * colony.found.is_here()),
            "digest": ranks.sum(group.backend.download(colony.memory.digest)),
        }
        every = [[{**rows, "pheromone": read_pheromone(colony)}]] if ranks.rank == 0 else None
    else:
        every = ranks.gather([colony_rows(colony) for colony in group.colonies])
    if every is None:
        return None
    found = {name: np.stack([row[name] for rows in every for row in rows]) for name in OF_COLONIES}
    more = {} if history is None else {HISTORY: np.array(history).reshape(-1, 4)}
    return {**found, "curve": curve, "winner": np.array(group.winner, np.int64), **more}


def layout(
    settings: Settings, n: int, most: int, history_s: float | None, state: Checkpoint
) -> Iterator[CheckpointArray]:
    """Declare the state of all colonies.

    Parameters
    ----------
    settings, n
        Settings, and number of cities.
    most
        Iterations of the whole run.
    history_s
        Seconds up to the state, of a run with a history; None: it has none.
    state
        Read as far as it is declared.

    """
    number, ants, exchange = settings.colonies, settings.ants, settings.exchange
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


def resume_colonies(group: ColonyGroup, state: Checkpoint) -> int:
    """Set the colonies of this rank, which have begun, to a state. Return the number of iterations made."""
    group.winner = tuple(int(one) for one in state["winner"])
    for colony in group.colonies:
        row = {name: state[name][colony.number] for name in OF_COLONIES}
        restore_colony(colony, row, state["curve"], not group.is_shared or group.ranks.rank == 0)
    return len(state["curve"])


def restore_colony(colony: Colony, row: dict[str, np.ndarray], curve: np.ndarray, has_digest: bool) -> None:
    """Write a colony's part of a state to its memory, and weigh anew; one rank has the digest."""
    write, memory = colony.backend.write, colony.memory
    place = np.argsort(colony.ground.order)
    write(memory.state, row["numbers"])
    # Every rank has the tour, and says that it has it if its ants made it.
    write(memory.best, place[row["best"]].astype(np.uint16))
    write(memory.digest, row["digest"] * np.uint64(has_digest))
    colony.make_places(len(curve))
    colony.backend.put(memory.curve, 0, curve)
    write_pheromone(colony, row["pheromone"])
    colony.weigh()


def colony_rows(colony: Colony) -> dict[str, np.ndarray]:
    """Return the checkpoint rows of a colony with all ants on this rank."""
    return {
        "pheromone": read_pheromone(colony),
        "best": colony.ground.order[colony.found.tour()],
        "numbers": colony.backend.download(colony.memory.state),
        "digest": colony.backend.download(colony.memory.digest),
    }


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
