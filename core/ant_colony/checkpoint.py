"""Checkpoint of ant colonies, from which any ranks, backend and mapping can resume.

Pheromone and tours are in the instance's own numbers, since each mapping has another order of cities. Weights follow
from the pheromone, so they are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.ant_colony.colony import Colony
from core.ant_colony.group import ColonyGroup
from core.ant_colony.kernels.ants import ColonyProgress
from core.ant_colony.settings import MOST_SETTING, Settings
from core.lang.named_arrays import size_of
from core.run.checkpoint import Checkpoint, CheckpointArray, history_array, permutation_fault

MOST_LENGTH = 2**31 - 1
HISTORY = "history"
OF_COLONIES = ("pheromone", "best", "numbers", "digest")
"""Arrays of a state with a row for each colony."""


def make_checkpoint(group: ColonyGroup, curve: np.ndarray, history: list[list[Any]] | None) -> Checkpoint | None:
    """Return the state of all colonies of all ranks, on the first rank; all ranks call this.

    ``curve`` is that of `ColonyGroup.curve`, ``history`` that of `ColonyOutcome` up to here.
    """
    ranks = group.ranks
    if group.is_shared:
        # Of a colony that ranks share each has all pheromone, a part of the digest, and perhaps the best tour.
        row = colony_rows(group.colonies[0])
        row.update((name, ranks.sum(row[name])) for name in ("best", "digest"))
        parts = [[row]] if ranks.rank == 0 else None
    else:
        parts = ranks.gather([colony_rows(colony) for colony in group.colonies])
    if parts is None:
        return None
    state = {name: np.stack([row[name] for rows in parts for row in rows]) for name in OF_COLONIES}
    more = {} if history is None else {HISTORY: np.array(history).reshape(-1, 4)}
    return {**state, "curve": curve, "winner": np.array(group.winner, np.int64), **more}


def layout(
    settings: Settings, n: int, most: int, history_s: float | None, state: Checkpoint
) -> Iterator[CheckpointArray]:
    """Declare the state of all colonies.

    ``most`` is the number of iterations of the whole run. ``history_s`` is the run time at the checkpoint in seconds;
    None for a run without a history.
    """
    number, ants, exchange = settings.colonies, settings.ants, settings.exchange
    lengths = (0, MOST_LENGTH)

    def some_iterations(curve: np.ndarray) -> str | None:
        return None if 1 <= len(curve) <= most else f"found {len(curve)} iterations, expected 1 to {most}"

    yield CheckpointArray("curve", np.uint32, (None,), [lengths], some_iterations)
    done = len(state["curve"])
    origin = [(0, done - 1), (0, ants - 1)]
    yield CheckpointArray("numbers", np.uint32, (number, size_of(ColonyProgress)), [(done, done), lengths, *origin])
    yield CheckpointArray("best", np.int64, (number, n), [(0, n - 1)], permutation_fault)
    yield CheckpointArray("pheromone", np.uint32, (number, n * (n - 1) // 2), [(1, MOST_SETTING)])
    yield CheckpointArray("digest", np.uint64, (number, 1))
    has_winner = 0 < exchange <= done
    winner = [lengths, (0, number - 1), *origin] if has_winner else ()
    yield CheckpointArray("winner", np.int64, (4 if has_winner else 0,), winner)
    if history_s is not None:
        yield history_array(HISTORY, done - 1, done * number * ants * n * n, history_s, int(state["curve"].min()))


def resume_colonies(group: ColonyGroup, state: Checkpoint) -> int:
    """Set the colonies of this rank, which have begun, to a checkpoint. Return the number of iterations made."""
    group.winner = tuple(int(number) for number in state["winner"])
    write, curve = group.backend.write, state["curve"]
    place = np.argsort(group.instance.order)
    for colony in group.colonies:
        row, memory = {name: state[name][colony.number] for name in OF_COLONIES}, colony.memory
        write(memory.state, row["numbers"])
        # Every rank has the tour; `Colony.best_tour` returns it on the rank of the ant that made it.
        write(memory.best, place[row["best"]].astype(np.uint16))
        # One rank has the digest of a colony that ranks share.
        write(memory.digest, row["digest"] * np.uint64(not group.is_shared or group.ranks.rank == 0))
        colony.make_places(len(curve))
        colony.backend.put(memory.curve, 0, curve)
        write_pheromone(colony, row["pheromone"])
        colony.weigh()
    return len(curve)


def colony_rows(colony: Colony) -> dict[str, np.ndarray]:
    """Return the checkpoint rows of a colony, or this rank's part of them."""
    return {
        "pheromone": read_pheromone(colony),
        "best": colony.best_tour(),
        "numbers": colony.backend.download(colony.memory.state),
        "digest": colony.backend.download(colony.memory.digest),
    }


def read_pheromone(colony: Colony) -> np.ndarray:
    """Return the pheromone of every edge, city by city to all smaller ones: (n (n - 1) / 2,)."""
    trails = colony.backend.download(colony.trails.pheromone)
    return np.concatenate([trails[places] for places, _ in edge_places(colony)])


def write_pheromone(colony: Colony, pheromone: np.ndarray) -> None:
    """Write the pheromone of every edge, in the order of `read_pheromone`."""
    trails = colony.backend.download(colony.trails.pheromone)
    begin = 0
    for places, back in edge_places(colony):
        trails[places] = trails[back] = pheromone[begin : begin + len(places)]
        begin += len(places)
    colony.backend.write(colony.trails.pheromone, trails)


def edge_places(colony: Colony) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each city of the instance, the places of its edges to all smaller ones, and of those back."""
    place = np.argsort(colony.instance.order)
    for city in range(1, len(place)):
        yield colony.edges(place[city], place[:city]), colony.edges(place[:city], place[city])
