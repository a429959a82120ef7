"""Options of local search: what the drivers of all its problems understand, and what the engine makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from core.arguments import refuse
from core.errors import UserError
from drivers.options.declaration import OptionGroup, Options, mapping_option, scaled_option
from drivers.options.initial import INITIAL, InitialSolutions
from drivers.options.output_files import OutputFile
from drivers.options.shared import curve_option, history_option, plot_option
from drivers.options.values import ValueType, natural, number, positive

if TYPE_CHECKING:
    from core.problems.encodings import Neighbourhood
    from core.search.local_search.algorithms import Algorithm
    from core.search.stop import Stop

ITERATIONS = 10_000
"""What ends a search that nobody limits."""

DEFAULT_WALKS = 64
"""Walks where no option says what to do: they keep a core, all cores, a GPU and 64 ranks busy."""
WORK_OPTIONS = ("instance", "record", "level", "walks", "exchange", "iterations", "seconds", "target", "patience")
"""Options that say what to do."""

ALGORITHMS = {
    "hill": ("restart",),
    "first": ("restart",),
    "tabu": ("tenure", "tenure_span", "tabu_memory", "restart"),
    "ils": ("strength", "restart"),
    "vns": ("strength", "restart"),
    "annealing": ("temperature", "cooling", "plateau", "batch", "restart"),
}
"""Names for `--algorithm`, and the options that each has for itself."""
MAKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "hill": ("HillClimbing", {}),
    "first": ("HillClimbing", {"first": True}),
    "tabu": ("TabuSearch", {}),
    "ils": ("IteratedLocalSearch", {}),
    "vns": ("VariableNeighbourhoodSearch", {}),
    "annealing": ("SimulatedAnnealing", {}),
}
"""The function of `core.search.local_search` that makes each algorithm, and the parameters that its name implies."""
PARAMETERS = tuple(dict.fromkeys(name for names in ALGORITHMS.values() for name in names))
"""Options of single algorithms."""

SEARCH = OptionGroup("search", decides="search")
TABU = OptionGroup("tabu", decides="search")
PERTURBATION = OptionGroup("ils, vns", decides="search")
ANNEALING = OptionGroup("annealing", decides="search")
STOP = OptionGroup("stop", "the search ends at the first one reached", decides="search")
PARALLEL = OptionGroup("parallel model", decides="search")
EXPERIMENTS = OptionGroup("experiments of the paper", "same trajectory, different times", decides="search")
RESULTS = OptionGroup("results and problem")


CRITERIA = ("iterations", "seconds", "target", "patience")
"""Options that end a search, each with the name of its criterion."""


def check_algorithm(name: str, value: Any) -> Any:
    """Return an algorithm, or the name of one."""
    from core.search.local_search.algorithms import Algorithm

    if not isinstance(value, str | Algorithm):
        refuse(name, value, "an algorithm, or the name of one")
    return value


def check_neighbourhood(name: str, value: Any) -> Any:
    """Return names of neighbourhoods with commas between them, or several names and neighbourhoods."""
    if isinstance(value, str):
        return value
    from core.search.local_search.plan import as_list

    return tuple(as_list(value))


ALGORITHM = ValueType("an algorithm", check_algorithm)
NEIGHBOURHOOD = ValueType("a neighbourhood", check_neighbourhood)


def algorithm_option(default: str) -> Any:
    """Declare `--algorithm` with its default."""
    text = "search algorithm (%(default)s)"
    return SEARCH.option(default, text, ALGORITHM, choices=tuple(ALGORITHMS))


def neighbourhood_option(default: str) -> Any:
    """Declare `--neighbourhood` with its default."""
    text = (
        "neighbourhood of the moves (%(default)s; auto: the problem's first); a descent takes up to three, as in "
        "flip1,flip2"
    )
    return SEARCH.option(default, text, NEIGHBOURHOOD, "NAME")


def algorithm_options(algorithm: Algorithm) -> dict[str, Any]:
    """Return the options by which a program makes an algorithm, as far as there are options for it."""
    if algorithm.name not in ALGORITHMS:
        return {"algorithm": algorithm.name}
    usual = SearchOptions(algorithm=algorithm.name).chosen_algorithm()
    own = {name: getattr(algorithm, name) for name in ALGORITHMS[algorithm.name]}
    said = {name: value for name, value in own.items() if value != getattr(usual, name)}
    return {"algorithm": algorithm.name, **said}


@dataclass(frozen=True)
class SearchOptions(Options):
    """Settings of local search. A program names an algorithm and its parameters; Python gives an `Algorithm`.

    Options that only some algorithms have are None where they are not given, so that one that is given can be told.
    What decides the work is the search's to say (its ``parameters``), because it fills in what is left open.
    """

    algorithm: str | Algorithm = algorithm_option("tabu")
    neighbourhood: str | Sequence[str | Neighbourhood] = neighbourhood_option("exchange2")
    evaluation: str = SEARCH.option("auto", "evaluation of neighbours (%(default)s: the fastest one)", metavar="NAME")
    tenure: int | None = TABU.option(
        None, "number of iterations for which a move stays tabu (default: by the problem)", natural, "T"
    )
    tenure_span: int | None = TABU.option(
        None, "largest random addition to the tenure, in iterations (default: by the problem)", natural, "D"
    )
    tabu_memory: str | None = TABU.option(
        None,
        "tabu list of moves, or of attributes of solutions (auto: attributes if the problem has them)",
        choices=("auto", "attributes", "moves"),
    )
    strength: int | None = PERTURBATION.option(
        None, "largest number of random moves in a perturbation (ils 3, vns 5)", positive, "K"
    )
    temperature: float | None = ANNEALING.option(None, "start temperature (0: derived from random moves)", number, "T")
    cooling: float | None = ANNEALING.option(None, "factor of the temperature after each plateau (0.98)", number, "C")
    plateau: int | None = ANNEALING.option(None, "number of draws at one temperature (1000)", positive, "P")
    batch: int | None = ANNEALING.option(
        None, "number of draws evaluated together (256); same trajectory", positive, "B"
    )
    restart: int | None = SEARCH.option(
        None,
        "iterations without a better solution after which a walk begins again at a random one (hill climbing: 1, at "
        "each local optimum; default: never)",
        natural,
        "N",
    )
    iterations: int | None = STOP.option(
        None,
        f"iterations of each walk (default: {ITERATIONS}, or unlimited with --seconds; some seconds of one core if no "
        "option sets the work)",
        positive,
        "N",
    )
    seconds: float | None = STOP.option(
        None, "wall-clock time in seconds; runs then end at different iterations, with different hashes", number, "S"
    )
    target: int | None = STOP.option(None, "cost at which the search ends", int, "COST")
    patience: int | None = STOP.option(
        None, "number of iterations without improvement at which the search ends", positive, "N"
    )
    level: str | None = PARALLEL.option(
        None,
        "work to distribute: one walk's neighbourhood (iteration), walks (algorithm), or each neighbour's evaluation "
        "too (solution) (default: iteration for one walk, algorithm for several)",
        choices=("iteration", "algorithm", "solution"),
    )
    walks: int | None = PARALLEL.option(
        None,
        f"number of walks over all ranks, sequential with --mapping published (default: 1; {DEFAULT_WALKS} or one per "
        "rank if no option sets the work)",
        positive,
        "W",
    )
    exchange: int | None = PARALLEL.option(
        None, "every K iterations all walks continue from the best one (default: never)", natural, "K"
    )
    initial: str | InitialSolutions | None = SEARCH.option(
        None,
        "start solutions: integers between white space, a solution for all walks, or a line for each walk (default: "
        "random ones)",
        INITIAL,
        "FILE",
    )
    mapping: str = mapping_option(
        "one lane per neighbour in teams of 256, the evaluation of section 6, and selection on the host",
        EXPERIMENTS,
    )
    generate: str = EXPERIMENTS.option(
        "device", "processor that lists the neighbours (section 6.6; %(default)s)", choices=("device", "host")
    )
    select: str | None = EXPERIMENTS.option(
        None,
        "selection of a neighbour: by a reduction on the device, or on the host from all differences (section 6.7; "
        "default: as --generate, or host with --mapping published)",
        choices=("device", "host"),
    )
    shape: str = EXPERIMENTS.option(
        "fixed",
        "teams and lanes of a launch: computed from the sizes (fixed), or tuned during the first iterations (the "
        "paper's thread control, algorithm 3, section 6.5) (default: %(default)s)",
        choices=("fixed", "tuned"),
    )
    data_memory: str = EXPERIMENTS.option(
        "global",
        "memory for the problem's data (section 5; image exists only in OpenCL) (%(default)s)",
        choices=("global", "readonly", "shared", "image"),
    )
    scaled: int | None = scaled_option("--walks")
    solution: OutputFile | None = RESULTS.option(
        None, "save the best solution, one number per line", OutputFile, "FILE"
    )
    history: bool = history_option(RESULTS)
    curve: OutputFile | None = curve_option(RESULTS)
    plot: OutputFile | None = plot_option(RESULTS)

    @property
    def neighbourhoods(self) -> list[str | Neighbourhood]:
        """The neighbourhoods, or their names."""
        return [*(self.neighbourhood.split(",") if isinstance(self.neighbourhood, str) else self.neighbourhood)]

    def named(self) -> dict[str, Any]:
        """See `Options.named`."""
        values = super().named()
        if not isinstance(self.algorithm, str):
            values |= algorithm_options(self.algorithm)
        values["neighbourhood"] = ",".join(one if isinstance(one, str) else one.name for one in self.neighbourhoods)
        return values

    def settled(self, chosen: str | None, ranks: int) -> Self:
        """These options with defaults for a number of ranks; nothing ends the search if no option says what to do."""
        given, published = self, self.mapping == "published"
        usual = type(self).__dataclass_fields__
        is_open = all(getattr(self, name) == usual[name].default for name in WORK_OPTIONS)
        if is_open:
            given = replace(self, walks=1 if published else max(DEFAULT_WALKS, ranks))
        walks = given.walks or 1
        unlimited = given.iterations is None and given.seconds is None and not is_open
        # Where the work grows with the ranks, one rank works on its one walk as each of several does.
        alone = published or (walks == 1 and given.scaled is None)
        return replace(
            given,
            instance=given.instance or chosen,
            walks=walks,
            exchange=given.exchange or 0,
            select=given.select or ("host" if published else given.generate),
            level=given.level or ("iteration" if alone else "algorithm"),
            iterations=ITERATIONS if unlimited else given.iterations,
        )

    def chosen_algorithm(self) -> Algorithm:
        """The algorithm with its parameters.

        Raises
        ------
        UserError
            An option of another algorithm is given, or a parameter is out of range.

        """
        from core.search import local_search

        given = {}
        for name in PARAMETERS:
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(self.algorithm, str):
                raise UserError(f"{name}={value} and algorithm={self.algorithm}: expected it in the algorithm")
            if name not in ALGORITHMS[self.algorithm]:
                owners = [algorithm for algorithm, names in ALGORITHMS.items() if name in names]
                flag = "--" + name.replace("_", "-")
                raise UserError(f"{flag} with --algorithm {self.algorithm}: expected with {' or '.join(owners)}")
            given[name] = value
        if not isinstance(self.algorithm, str):
            return self.algorithm
        maker, implied = MAKERS[self.algorithm]
        made: Algorithm = getattr(local_search, maker)(**implied, **given)
        return made

    def chosen_stop(self) -> Stop:
        """The stop criteria, combined."""
        from core.search.stop import Stop

        return Stop(**{name: value for name in CRITERIA if (value := getattr(self, name)) is not None})
