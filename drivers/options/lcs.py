"""Options of the longest common subsequence, and the strings that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import UserError
from core.search.dp.lcs.search import TILINGS
from drivers.options.declaration import CHECKS, RESULTS, instance_option, option
from drivers.options.dynamic_programming import DpOptions, tiling_option
from drivers.options.output_files import OutputFile
from drivers.options.values import PATH

DEFAULT_INSTANCE = "half:20000:seed=1"
MOST_VERIFIED_CELLS = 2_000_000_000
"""Cells up to which the plain scorer computes the length again without being asked; it takes 0.2 s."""


@dataclass(frozen=True)
class LcsOptions(DpOptions):
    """What the search for a longest common subsequence understands."""

    strings: tuple[str, ...] | list[str] = option(
        (),
        "two files: FASTA (the first record, or FILE:RECORD) or any bytes; or one instance, as for --instance",
        PATH,
        "FILE",
        spelled="strings",
        nargs="*",
    )
    instance: str | None = instance_option("random:100000:letters=4:seed=1", DEFAULT_INSTANCE)
    text: list[str] | None = option(None, "two strings, instead of files", metavar=("A", "B"), nargs=2)
    tiling: str = tiling_option(TILINGS)
    verify: bool = CHECKS.option(
        False,
        f"verify the length in plain Python, with rows as large integers (always done up to {MOST_VERIFIED_CELLS:,} "
        "cells; 10^10 cells take a second)",
        bool,
    )
    output: OutputFile | None = RESULTS.option(
        None, "save the subsequence: its bytes, or a FASTA record if FILE ends in .fasta", OutputFile, "FILE"
    )

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
        if self.seed or self.seeds:
            raise UserError(
                "--seed changes nothing here: nothing is random (strings have their own: random:1000:seed=2)"
            )
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
