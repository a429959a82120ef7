"""Options of Held and Karp's dynamic programming, and of the restricted search that takes more cities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from core.errors import UserError
from drivers.cli.messages import print_note
from drivers.options.dynamic_programming import DpOptions
from drivers.options.output_files import OutputFile

DEFAULT_K = 8
"""Of instances that are too large for a proof, if `--k` is not given."""
MOST_ASYMMETRIC = 20
"""Cities up to which `--verify` has another algorithm for asymmetric distances."""


@dataclass(frozen=True)
class HeldKarpOptions(
    DpOptions, table="held_karp", matrix="a matrix of distances, symmetric or not", default_k=DEFAULT_K
):
    """What Held and Karp's dynamic programming understands."""

    matrix: str | None = None
    k: int | None = None
    rotations: int | None = None
    improve: bool = False
    verify: bool = False
    tour: OutputFile | None = None
    svg: OutputFile | None = None

    @property
    def sized(self) -> bool:
        """True if an instance is named."""
        return bool(self.instance or self.matrix)

    def refuse_idle(self) -> None:
        """Refuse options that would change nothing, whatever the instance."""
        self.refuse_seed()
        if self.spill is not None and not self.published:
            raise UserError("--spill changes nothing here: nothing leaves the device without --mapping published")
        super().refuse_idle()
        for name in ("tour", "svg"):
            if getattr(self, name) is not None and not self.trace:
                raise UserError(f"--{name} needs --trace: without it there is a length and no tour")

    def settled(self, instance: Any) -> HeldKarpOptions:
        """These options with k where a proof is not possible.

        Raises
        ------
        UserError
            Options that would change nothing for this instance, or a check that is not possible.

        """
        from core.search.dp.held_karp.search import MOST_CITIES

        k = self.k
        if self.published and (k is not None or instance.n > MOST_CITIES):
            why = f"--k {k} is another search" if k is not None else f"{instance.name} has {instance.n} cities"
            raise UserError(
                f"--mapping published is the paper's recursion over all subsets, of at most {MOST_CITIES} cities; {why}"
            )
        if k is None and instance.n > MOST_CITIES:
            k = DEFAULT_K
            print_note(
                f"{instance.name} has {instance.n} cities, and a proof is possible for at most {MOST_CITIES}: "
                f"restricted search with --k {k}"
            )
        if k is None:
            if self.improve or self.rotations is not None:
                raise UserError("--improve and --rotations change nothing here: expected with --k")
            self.check_others(instance)
            return self
        for name, given in (("--verify", self.verify), ("--peers", self.peers), ("--no-trace", not self.trace)):
            if given:
                raise UserError(
                    f"{name} with a restricted search (--k {k}): its tour is always traced and proves no optimum"
                )
        return replace(self, k=k)

    def check_others(self, instance: Any) -> None:
        """Refuse checks by others that cannot take so many cities."""
        from core.problems.tsp.distances import is_symmetric
        from core.search.exact import MOST_CITIES

        most = MOST_CITIES if is_symmetric(instance.distances) else MOST_ASYMMETRIC
        if self.verify and instance.n > most:
            raise UserError(f"--verify: found {instance.n} cities in {instance.name}, expected at most {most}")
