"""Options of exact search, and what excludes what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import UserError
from core.search.exact import BOUNDS, ENUMERATIONS
from drivers.options.declaration import Options
from drivers.options.output_files import OutputFile

DEFAULT_INSTANCE, GENERATED_INSTANCE = "bays29", "uniform:25:seed=1"
MOST_VERIFIED = 20
"""Cities up to which `--verify` has another algorithm to ask: its memory doubles with each."""


@dataclass(frozen=True)
class ExactOptions(
    Options,
    table="exact",
    chosen=f"{DEFAULT_INSTANCE} if it is found, else {GENERATED_INSTANCE}",
    matrix="a symmetric matrix of distances",
    bounds=BOUNDS,
    enumerations=ENUMERATIONS,
    most_verified=MOST_VERIFIED,
):
    """What exact search understands; an option of the search that is not given is None."""

    instance: str | None = None
    matrix: str | None = None
    bound: str | None = None
    enumerate: str | None = None
    depth: int | None = None
    mapping: str = "native"
    unrolled: bool | None = None
    count: bool = False
    verify: bool = False
    tour: OutputFile | None = None
    svg: OutputFile | None = None
    history: bool = False
    curve: OutputFile | None = None
    plot: OutputFile | None = None

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
        self.refuse_seed()

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
