"""Options of the longest common subsequence, and the strings that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import UserError
from core.search.dp.lcs.search import TILINGS
from drivers.options.dynamic_programming import DpOptions
from drivers.options.output_files import OutputFile

DEFAULT_INSTANCE = "half:20000:seed=1"
MOST_VERIFIED_CELLS = 2_000_000_000
"""Cells up to which the plain scorer computes the length again without being asked; it takes 0.2 s."""


@dataclass(frozen=True)
class LcsOptions(DpOptions, table="lcs", chosen=DEFAULT_INSTANCE, tilings=TILINGS, most_verified=MOST_VERIFIED_CELLS):
    """What the search for a longest common subsequence understands."""

    strings: tuple[str, ...] | list[str] = ()
    text: list[str] | None = None
    tiling: str = TILINGS[0]
    verify: bool = False
    output: OutputFile | None = None

    @property
    def sized(self) -> bool:
        """Whether the strings are named."""
        return bool(self.strings or self.instance or self.text)

    def refuse_idle(self) -> None:
        """Refuse options that would change nothing.

        Raises
        ------
        UserError
            Names the option and what it is expected with.

        """
        super().refuse_idle()
        self.refuse_seed("strings have their own: random:1000:seed=2")
        if self.output is not None and not self.trace:
            raise UserError("--output needs --trace: without it there is a length and no subsequence")

    def chosen_pair(self) -> Any:
        """The two strings.

        Raises
        ------
        UserError
            They are named twice, or cannot be read.

        """
        from core.problems.tables import strings

        sources = [bool(self.strings), self.instance is not None, self.text is not None]
        if sum(sources) > 1 or len(self.strings) > 2:
            found = " ".join([*self.strings, *(["--instance"] * sources[1]), *(["--text"] * sources[2])])
            raise UserError(f"found {found}: expected two files, or --instance, or --text")
        if self.text is not None:
            return strings.from_texts(*self.text)
        first, second = [*self.strings, None, None][:2]
        return strings.load(first or self.instance or DEFAULT_INSTANCE, second, self.data)
