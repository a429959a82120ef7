"""Options of ant colony optimisation, and the settings that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from core.search.ant_colony import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings
from drivers.options.declaration import Options
from drivers.options.output_files import OutputFile

if TYPE_CHECKING:
    from core.search.stop import Stop

ITERATIONS = 100
"""What ends a search that nobody limits."""

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
class AntOptions(
    Options,
    table="ant_colony",
    usual=Settings(),
    most_iterations=ITERATIONS,
    local_searches=LOCAL_SEARCHES,
    strategies=STRATEGIES,
    variants=VARIANTS,
    grows="--ants",
):
    """What ant colony optimisation understands; an option of `Settings` that is not given is None."""

    ants: int | None = None
    alpha: float | None = None
    beta: float | None = None
    candidates: int | None = None
    local_search: str | None = None
    strategy: str = STRATEGIES[-1]
    mapping: str = "native"
    rho: float | None = None
    variant: str | None = None
    best_every: int | None = None
    stagnation: int | None = None
    smoothing: float | None = None
    colonies: int | None = None
    exchange: int | None = None
    iterations: int | None = None
    seconds: float | None = None
    target: int | None = None
    scaled: int | None = None
    tour: OutputFile | None = None
    svg: OutputFile | None = None
    history: bool = False
    curve: OutputFile | None = None
    plot: OutputFile | None = None

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
