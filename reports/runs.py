"""Records as one reads them in Python: a list that becomes a table of pandas, or the rows of a CSV file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from core.arguments import checked_call, path
from core.errors import UserError
from reports.records import files, frame
from reports.records.schema import Record

if TYPE_CHECKING:
    import pandas

    from reports.rates import RateSection


class Runs(list[Record]):
    """Records of runs, see `reports.records.schema.Record`."""

    def to_pandas(self) -> pandas.DataFrame:
        """A `pandas.DataFrame` with a row for each repetition; ``onekernel report csv --help`` explains its columns.

        Raises
        ------
        UserError
            pandas is not installed.
        """
        return frame.frame(self)

    def compared(self) -> list[RateSection]:
        """Return the rates of the runs, and their ratios, a section for each instance and host.

        Raises
        ------
        RecordError, UnequalWorkError
            No records, several workloads, or unequal work.
        """
        from reports.rates import rate_sections

        return rate_sections(self)


@checked_call
def load(*paths: str | os.PathLike[str]) -> Runs:
    """Read files of records; repetitions of a run are joined, also those of several files.

    Raises
    ------
    RecordError, UnequalWorkError
        As `reports.records.files.load` and `reports.records.files.merge`.
    UserError
        No file, or an argument that is no path.
    """
    if not paths:
        raise UserError("load(): expected the name of a file of records, or several")
    return Runs(files.merge(record for one in paths for record in files.load(path("paths", one))))
