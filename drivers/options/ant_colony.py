"""Options of ant colony optimisation, and the settings that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from core.search.ant_colony import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings
from drivers.options.declaration import OptionGroup, Options, mapping_option, scaled_option
from drivers.options.output_files import OutputFile
from drivers.options.shared import curve_option, history_option, plot_option, svg_option, tour_option
from drivers.options.values import natural, number, positive

if TYPE_CHECKING:
    from core.search.stop import Stop

DEFAULTS = Settings()
ITERATIONS = 100
"""What ends a search that nobody limits."""
ANTS = OptionGroup("ants", decides="search")
STOP = OptionGroup("stop", "the search ends at the first one reached", decides="search")
PHEROMONE = OptionGroup("pheromone", decides="search")
MMAS = OptionGroup("Max-Min Ant System", "only with --variant mmas", decides="search")
COLONIES = OptionGroup("several colonies", decides="search")

NEEDS: tuple[tuple[tuple[str, ...], Callable[[Settings], bool], str], ...] = (
    (
        ("best_every", "stagnation", "smoothing", "exchange"),
        lambda settings: settings.variant == "mmas",
        "--variant mmas",
    ),
    (("smoothing",), lambda settings: settings.stagnation > 0, "--stagnation of at least 1"),
    (("exchange",), lambda settings: settings.colonies > 1, "--colonies of at least 2"),
)
"""Options that change nothing alone, when they do change something, and that in words."""


@dataclass(frozen=True)
class AntOptions(Options):
    """What ant colony optimisation understands; an option of `Settings` that is not given is None."""

    ants: int | None = ANTS.option(None, f"number of ants of each colony ({DEFAULTS.ants})", positive, "M")
    alpha: float | None = ANTS.option(None, f"exponent of the pheromone ({DEFAULTS.alpha:g})", number, "A")
    beta: float | None = ANTS.option(None, f"exponent of 1 / distance ({DEFAULTS.beta:g})", number, "B")
    candidates: int | None = ANTS.option(
        None,
        "choose among the K nearest cities while one of them is unvisited, at most 32; 0: all cities "
        f"({DEFAULTS.candidates})",
        natural,
        "K",
    )
    local_search: str | None = ANTS.option(
        None,
        "improve every tour to a local optimum: by the best of all 2-opt moves (2opt), or with neighbour lists, many "
        f"times faster (2opt-near) ({DEFAULTS.local_search})",
        choices=LOCAL_SEARCHES,
    )
    strategy: str = ANTS.option(
        STRATEGIES[-1],
        "one lane per ant (coarse), a group of lanes (fine), or a group that also updates the pheromone "
        "(fine-deposit); same tours, different times (%(default)s)",
        choices=STRATEGIES,
        decides="way",
    )
    mapping: str = mapping_option(
        "one lane per ant or per city, weights recomputed in every step, one lane chooses; only for plain Ant System",
        ANTS,
    )
    rho: float | None = PHEROMONE.option(
        None, f"fraction of the pheromone that evaporates in an iteration ({DEFAULTS.rho:g})", number, "R"
    )
    variant: str | None = PHEROMONE.option(
        None,
        "as: Ant System, all ants deposit; mmas: Max-Min Ant System, only the best ant deposits, within limits "
        f"({DEFAULTS.variant})",
        choices=VARIANTS,
    )
    best_every: int | None = MMAS.option(
        None,
        "every N iterations the best ant so far deposits, instead of the iteration's best; 0: never "
        f"({DEFAULTS.best_every})",
        natural,
        "N",
    )
    stagnation: int | None = MMAS.option(
        None,
        f"smooth the pheromone after every N iterations without a better tour; 0: never ({DEFAULTS.stagnation})",
        natural,
        "N",
    )
    smoothing: float | None = MMAS.option(
        None,
        f"with --stagnation: strength of the smoothing, from 0 to 1 (the upper limit) ({DEFAULTS.smoothing:g})",
        number,
        "D",
    )
    colonies: int | None = COLONIES.option(
        None, f"number of colonies, each with separate pheromone ({DEFAULTS.colonies})", positive, "C"
    )
    exchange: int | None = COLONIES.option(
        None,
        f"with --colonies: every N iterations all colonies adopt the best tour; 0: never ({DEFAULTS.exchange})",
        natural,
        "N",
    )
    iterations: int | None = STOP.option(
        None,
        f"number of iterations, a tour per ant in each (default: {ITERATIONS}, or unlimited with --seconds)",
        positive,
        "N",
        decides="work",
    )
    seconds: float | None = STOP.option(
        None, "wall-clock time in seconds; runs then end at different iterations", number, "S"
    )
    target: int | None = STOP.option(
        None, "length at which the search ends, checked after every iteration", int, "LENGTH"
    )
    scaled: int | None = scaled_option("--ants")
    tour: OutputFile | None = tour_option()
    svg: OutputFile | None = svg_option()
    history: bool = history_option()
    curve: OutputFile | None = curve_option()
    plot: OutputFile | None = plot_option()

    def settled(self) -> AntOptions:
        """These options with what the command line left open filled in.

        Raises
        ------
        UserError
            An option changes nothing without another, or a criterion that is none.

        """
        unlimited = self.iterations is None and self.seconds is None
        given = replace(self, ants=self.settings().ants, iterations=ITERATIONS if unlimited else self.iterations)
        given.chosen_stop().check()
        return given

    def chosen_stop(self) -> Stop:
        """The stop criteria, combined."""
        from core.search.stop import Iterations, Seconds, Stop, Target

        stop = Stop()
        criteria: tuple[tuple[Any, Callable[[Any], Stop]], ...] = (
            (self.iterations, Iterations),
            (self.seconds, Seconds),
            (self.target, Target),
        )
        for value, made in criteria:
            if value is not None:
                stop |= made(value)
        return stop

    def settings(self) -> Settings:
        """The settings, after a look at options that would change nothing.

        Raises
        ------
        UserError
            An option changes nothing without another.

        """
        given = {name: getattr(self, name) for name in Settings._fields if getattr(self, name) is not None}
        settings = Settings(**given)
        for names, holds, needed in NEEDS:
            for name in names:
                if name in given and not holds(settings):
                    raise UserError(f"--{name.replace('_', '-')} changes nothing here: expected with {needed}")
        return settings
