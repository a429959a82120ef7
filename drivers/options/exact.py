"""Options of exact search, and what excludes what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import UserError
from core.search.exact import BOUNDS, ENUMERATIONS
from drivers.options.declaration import CHECKS, OptionGroup, Options, instance_option, mapping_option
from drivers.options.output_files import OutputFile
from drivers.options.shared import (
    curve_option,
    history_option,
    matrix_option,
    plot_option,
    refuse_seed,
    svg_option,
    tour_option,
)
from drivers.options.values import positive

DEFAULT_INSTANCE, GENERATED_INSTANCE = "bays29", "uniform:25:seed=1"
MOST_VERIFIED = 20
"""Cities up to which `--verify` has another algorithm to ask: its memory doubles with each."""
SEARCH = OptionGroup("search", decides="search")


@dataclass(frozen=True)
class ExactOptions(Options):
    """What exact search understands; an option of the search that is not given is None."""

    instance: str | None = instance_option(
        "uniform:20:seed=1", f"{DEFAULT_INSTANCE} if it is found, else {GENERATED_INSTANCE}"
    )
    matrix: str | None = matrix_option(directed=False)
    bound: str | None = SEARCH.option(
        None,
        "bound that cuts branches: Held and Karp's 1-trees (one-tree), the shortest edge of every remaining city, as "
        f"in the thesis (edges), or none (default: {BOUNDS[0]}; up to 7 cities: all tours, on the host)",
        choices=BOUNDS,
    )
    enumerate: str | None = SEARCH.option(
        None,
        "with --bound none: distribute beginnings of tours (worklist), or let each lane derive a tour from its "
        f"number (permutations) ({ENUMERATIONS[0]})",
        choices=ENUMERATIONS,
    )
    depth: int | None = SEARCH.option(
        None,
        "with --bound edges or none: number of cities in a worklist item (default: chosen for the device; with "
        "--mapping published 7, or n - 4 for fewer than 11 cities)",
        positive,
        "D",
        decides="way",
    )
    mapping: str = mapping_option(
        "with --bound edges or none: one lane per worklist item or tour; up to 7 cities on the host",
        SEARCH,
    )
    unrolled: bool | None = SEARCH.option(
        None,
        "with --mapping published and a worklist: use separate functions for the last three, two and one cities, as "
        "the thesis's final version does",
        bool,
    )
    count: bool = SEARCH.option(False, "count all shortest tours", bool, decides="work")
    verify: bool = CHECKS.option(
        False, f"verify the optimum by another algorithm, without kernels (up to {MOST_VERIFIED} cities)", bool
    )
    tour: OutputFile | None = tour_option()
    svg: OutputFile | None = svg_option()
    history: bool = history_option()
    curve: OutputFile | None = curve_option()
    plot: OutputFile | None = plot_option()

    def refuse_idle(self) -> None:
        """Refuse options that would change nothing, whatever the instance.

        Raises
        ------
        UserError
            Names the option and what it is expected with.

        """
        if self.enumerate is not None and self.bound != "none":
            raise UserError("--enumerate changes nothing here: expected with --bound none")
        if self.depth is not None and (self.bound not in ("edges", "none") or self.enumerate == "permutations"):
            raise UserError("--depth changes nothing here: expected with --bound edges, or none and a worklist")
        if self.mapping == "published" and self.bound not in ("edges", "none"):
            raise UserError("--mapping published: the thesis has no 1-trees; expected with --bound edges or none")
        if self.unrolled is not None and (self.mapping != "published" or self.enumerate == "permutations"):
            raise UserError(
                f"--{'' if self.unrolled else 'no-'}unrolled changes nothing here: expected with --mapping published "
                "and a worklist"
            )
        refuse_seed(self)

    def refuse_checks_of(self, instance: Any) -> None:
        """Refuse a check that takes fewer cities.

        Raises
        ------
        UserError
            Names how many.

        """
        if self.verify and instance.n > MOST_VERIFIED:
            raise UserError(
                f"--verify: found {instance.n} cities in {instance.name}, expected at most {MOST_VERIFIED}: the "
                "memory of Held and Karp's dynamic programming doubles with each city (--peers has exact solvers for "
                "more)"
            )
