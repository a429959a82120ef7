"""Options of local search, common to the drivers of all its problems, and their conversion for the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Self, get_type_hints

from core.arguments import checked_class, refuse
from core.errors import UserError
from core.local_search.algorithms import ALGORITHMS, Algorithm
from core.local_search.settings import SearchExecution, SearchSettings
from core.run.stop import CRITERIA
from drivers.options.declaration import HistoryOptions, OptionGroup, Options, Placement, StopOptions
from drivers.options.initial import INITIAL
from drivers.options.output_files import OutputFile
from drivers.options.values import ArrayValue, ValueType

if TYPE_CHECKING:
    from core.local_search.encodings import Neighbourhood
    from core.local_search.plan import Neighbourhoods

ITERATIONS = 10_000
"""Iterations of a search without a stop criterion."""

DEFAULT_WALKS = 64
"""Default number of walks: they keep a core, all cores, a GPU and 64 ranks busy."""
WORK_OPTIONS = ("instance", "record", "level", "walks", "exchange", *CRITERIA)
"""Options that determine the work."""

PARAMETERS = {
    name: tuple(one.name for one in algorithm.parameter_fields() if one.type != "bool")
    for name, algorithm in ALGORITHMS.items()
}
"""Options of each algorithm by its name for `--algorithm`; flags of an algorithm have no option."""

EXPERIMENTS = OptionGroup("experiments of the paper", "same trajectory, different times", decides="search")
RESULTS = OptionGroup("results and problem")
"""Groups to which single problems add options."""


def check_algorithm(name: str, value: object) -> str | Algorithm:
    if not isinstance(value, str | Algorithm):
        refuse(name, value, "an algorithm, or the name of one")
    return value


def check_neighbourhood(name: str, value: Neighbourhoods) -> str | tuple[str | Neighbourhood, ...]:
    if isinstance(value, str):
        return value
    from core.local_search.plan import as_list

    return tuple(as_list(value))


ALGORITHM = ValueType("an algorithm", check_algorithm)
NEIGHBOURHOOD = ValueType("a neighbourhood", check_neighbourhood)


def algorithm_options(algorithm: Algorithm) -> dict[str, Any]:
    """Return the options by which a program makes an algorithm, if there are any."""
    own = {name: getattr(algorithm, name) for name in PARAMETERS.get(algorithm.name, ())}
    unusual = {name: value for name, value in own.items() if value != getattr(ALGORITHMS[algorithm.name], name)}
    return {"algorithm": algorithm.name, **unusual}


@checked_class
@dataclass(frozen=True)
class Execution(Placement, SearchExecution):
    """Execution of a local search: its settings change the speed and not the trajectory.

    Records list them as execution settings, and the device on its own.

    Parameters
    ----------
    device, cores
        Number or name of the backend's device, and number of cores for the backends threads and joblib.
    compiler
        Compiler of the kernels on CUDA devices: ``numba`` or ``nvrtc``; by default numba, where it is installed.
    pin_cores
        True binds each rank to its own cores.
    evaluation
        Evaluation of neighbours; by default the fastest one.
    level
        Level of parallelism: one walk's neighbourhood (``iteration``, for one walk), walks (``algorithm``, for
        several), or each neighbour's evaluation too (``solution``).
    mapping, generate, select, data_memory
        Experiments of `luong2013`: the paper's mapping, the processor that lists the neighbours and the one that
        selects, and the memory of the problem's data; see `core.local_search.settings.SearchExecution`.
    shape
        Teams and lanes of a launch: computed from the sizes (``fixed``), or ``tuned`` during the first iterations.
    """

    shape: Literal["fixed", "tuned"] = "fixed"


@dataclass(frozen=True)
class SearchOptions(
    Options,
    StopOptions,
    Execution,
    HistoryOptions,
    table="local_search",
    optional={
        name: get_type_hints(type(ALGORITHMS[algorithm]))[name]
        for algorithm, names in PARAMETERS.items()
        for name in names
    },
    algorithms=tuple(ALGORITHMS),
    algorithm_object=ALGORITHM,
    neighbourhood_object=NEIGHBOURHOOD,
    initial_solutions=INITIAL,
    usual_iterations=ITERATIONS,
    usual_walks=DEFAULT_WALKS,
):
    """Settings of local search. A program names an algorithm and its parameters; Python gives an `Algorithm`.

    Options of only some algorithms are those of `PARAMETERS`, None by default. The search's ``parameters`` decide the
    work, since it fills in defaults.
    """

    algorithm: str | Algorithm = "tabu"
    neighbourhood: str | Sequence[str | Neighbourhood] = "exchange2"
    patience: int | None = None
    walks: int | None = None
    exchange: int | None = None
    initial: str | ArrayValue | None = None
    solution: OutputFile | None = None

    @property
    def neighbourhoods(self) -> list[str | Neighbourhood]:
        return [*(self.neighbourhood.split(",") if isinstance(self.neighbourhood, str) else self.neighbourhood)]

    def named(self) -> dict[str, Any]:
        values = super().named()
        if not isinstance(self.algorithm, str):
            values |= algorithm_options(self.algorithm)
        values["neighbourhood"] = ",".join(one if isinstance(one, str) else one.name for one in self.neighbourhoods)
        return values

    def settled(self, chosen: str | None, ranks: int) -> Self:
        """Return these options with defaults for a number of ranks; no stop criterion if no option sets the work."""
        options, published = self, self.mapping == "published"
        usual = type(self).__dataclass_fields__
        is_open = all(getattr(self, name) == usual[name].default for name in WORK_OPTIONS)
        if is_open:
            options = replace(self, walks=1 if published else max(DEFAULT_WALKS, ranks))
        walks = options.walks or 1
        unlimited = options.iterations is None and options.seconds is None and not is_open
        return replace(
            options,
            instance=options.instance or chosen,
            walks=walks,
            exchange=options.exchange or 0,
            select=options.select or ("host" if published else "device"),
            level=options.level or ("iteration" if published or walks == 1 else "algorithm"),
            iterations=ITERATIONS if unlimited else options.iterations,
        )

    def chosen_algorithm(self) -> Algorithm:
        """Return the algorithm. Raises `UserError` for an option of another algorithm, or a parameter out of range."""
        named = chain.from_iterable(PARAMETERS.values())
        given = {name: value for name in named if (value := getattr(self, name)) is not None}
        for name, value in given.items():
            if not isinstance(self.algorithm, str):
                raise UserError(f"{name}={value} and algorithm={self.algorithm}: expected it in the algorithm")
            if name not in PARAMETERS[self.algorithm]:
                owners = [algorithm for algorithm, names in PARAMETERS.items() if name in names]
                flag = "--" + name.replace("_", "-")
                raise UserError(f"{flag} with --algorithm {self.algorithm}: expected with {' or '.join(owners)}")
        return replace(ALGORITHMS[self.algorithm], **given) if isinstance(self.algorithm, str) else self.algorithm

    def settings(self) -> dict[str, Any]:
        """Return the fields of `core.local_search.settings.SearchSettings`."""
        return {name: getattr(self, name) for name in SearchSettings.__dataclass_fields__}
