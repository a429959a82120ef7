"""A longest common subsequence of two strings (`oconnell2014`), on any backend and over any number of ranks.

onekernel lcs                                       a first run of some seconds
onekernel lcs A.fasta B.fasta --output common.txt   two FASTA records (or FILE:RECORD) or texts in UTF-8
onekernel lcs --text HUMAN CHIMPANZEE               two words
onekernel lcs random:1000000 --no-trace --peers     the length alone, compared with rapidfuzz
onekernel lcs half:3000 --mapping published         the paper's mapping: every cell is copied to the host
mpirun -n 4 onekernel lcs random:100000             the same table on 4 ranks
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import UserError
from drivers.options.dynamic_programming import DpOptions
from drivers.options.output_files import OutputFile, reporting_write_errors
from drivers.runs.workload_main import driver, exit_with
from drivers.workload.declaration import GENERATOR, SCORER, RepetitionResult, Task, VerifierVerdict
from drivers.workload.dynamic_programming import DpWorkload

if TYPE_CHECKING:
    from core.tables.lcs.problem import StringPair
    from core.tables.lcs.search import CommonSubsequence, LongestCommonSubsequence
    from drivers.workload.declaration import PreparedRun, SearchPlace

    LcsRun = PreparedRun["LcsOptions", StringPair, LongestCommonSubsequence]

DEFAULT_INSTANCE = "half:20000:seed=1"
MOST_VERIFIED_CELLS = 2_000_000_000
"""Most cells for which the plain scorer always computes the length again, in 0.2 s."""


@dataclass(frozen=True)
class LcsOptions(DpOptions, table="lcs", chosen=DEFAULT_INSTANCE, most_verified=MOST_VERIFIED_CELLS):
    """Options of the search for a longest common subsequence."""

    strings: tuple[str, ...] | list[str] = ()
    text: list[str] | None = None
    packed: bool | None = None
    data_memory: str | None = None
    verify: bool = False
    output: OutputFile | None = None

    @property
    def names_instance(self) -> bool:
        return bool(self.strings or self.instance or self.text)

    def refuse_idle(self) -> None:
        super().refuse_idle()
        self.refuse_without(self.published, "--mapping published", "packed", "data_memory")
        self.refuse_seed("strings have their own: random:1000:seed=2")
        if self.output is not None and not self.trace:
            raise UserError("--output needs --trace: without it there is a length and no subsequence")

    def chosen_pair(self) -> StringPair:
        """Return the two strings. Raises `UserError` if they are named twice, or cannot be read."""
        from core.tables.lcs import strings

        sources = [bool(self.strings), self.instance is not None, self.text is not None]
        if sum(sources) > 1 or len(self.strings) > 2:
            chosen = " ".join([*self.strings, *(["--instance"] * sources[1]), *(["--text"] * sources[2])])
            raise UserError(f"found {chosen}: expected two files, or --instance, or --text")
        if self.text is not None:
            return strings.from_texts(*self.text)
        first, second = [*self.strings, None, None][:2]
        return strings.load(first or self.instance or DEFAULT_INSTANCE, second, self.data)


LINE = 70


class LcsWorkload(DpWorkload[LcsOptions, "StringPair", "LongestCommonSubsequence", "CommonSubsequence"]):
    """A table of two strings."""

    name = "lcs"
    title = "a longest common subsequence, by dynamic programming"
    options = LcsOptions
    unit = "cells"
    doing = "waves"
    noun = "length"
    maximises = True
    standard = ("--instance", "random:120000")
    best_core = ("bit-parallel rows", "lcs", "--mapping", "native")
    with_less_room = "the default mapping traces in any memory, and --no-trace stores nothing"
    speeds = {"native": 4e10, "published": 2e7}

    def load(self, options: LcsOptions, ranks: int) -> Task[LcsOptions, StringPair]:
        options.refuse_idle()
        pair = options.chosen_pair()
        return Task(options, pair, pair.source)

    def make_search(self, place: SearchPlace, problem: StringPair, options: LcsOptions) -> LongestCommonSubsequence:
        from core.tables.lcs.search import LongestCommonSubsequence

        return LongestCommonSubsequence(
            *place,
            problem.a,
            problem.b,
            mapping=options.mapping,
            room=options.device_memory,
            folder=options.spill,
            packed=bool(options.packed),
            data_memory=options.data_memory or "readonly",
        )

    def warm_up(self, search: LongestCommonSubsequence, options: LcsOptions) -> None:
        search.warm_up(options.trace)
        if options.trace:
            search.make_room()

    def cells(self, options: LcsOptions, problem: StringPair) -> int:
        return len(problem.a) * len(problem.b)

    def result(self, run: LcsRun, outcome: CommonSubsequence) -> RepetitionResult:
        """Return the length, and the subsequence if traced; all cells count, even if a mapping computes fewer."""
        pair = run.problem
        streamed = f", {outcome.streamed_bytes:,} bytes streamed" if run.options.trace else ""
        return RepetitionResult(
            outcome,
            f"length {outcome.length} of {len(pair.a)} and {len(pair.b)} letters, {outcome.method}{streamed}",
            details={
                "evaluation_definition": "cells of the table, one for a letter of each string",
                "string_lengths": [len(pair.a), len(pair.b)],
                "method": outcome.method,
                "cells": outcome.cells,
                "streamed_bytes": outcome.streamed_bytes,
            },
        )

    def verify(self, run: LcsRun, outcome: CommonSubsequence, result: RepetitionResult) -> Iterator[VerifierVerdict]:
        """Compare with the subsequence's scorer, the generator, and plain Python if requested or quick."""
        from core.tables.lcs.problem import lcs_length

        pair, length = run.problem, outcome.length
        objection = pair.objection(length, outcome.pairs)
        if run.options.trace and outcome.pairs is None:
            objection = "no subsequence"
        if objection is not None or outcome.pairs is not None:
            yield VerifierVerdict(SCORER, None if objection is None else f"the scorer finds {objection}")
        if pair.optimum == length:  # another length is the scorer's objection
            yield VerifierVerdict(GENERATOR)
        if run.options.verify or len(pair.a) * len(pair.b) <= MOST_VERIFIED_CELLS:
            again = run.once("again", lambda: lcs_length(pair.a, pair.b))
            yield VerifierVerdict("plain Python", None if again == length else f"plain Python finds length {again}")

    def save(self, run: LcsRun, outcome: CommonSubsequence) -> None:
        path = run.options.output
        if path is None or outcome.pairs is None:
            return
        common = run.problem.subsequence(outcome.pairs)
        if path.lower().endswith((".fasta", ".fa")):
            header = f">longest common subsequence of {run.problem.name}"
            common = "\n".join([header, *(common[first : first + LINE] for first in range(0, len(common), LINE))])
        with reporting_write_errors(path), open(path, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(common + "\n")


LCS = LcsWorkload()
main = driver(LCS, __doc__)

if __name__ == "__main__":
    exit_with(main)
