"""Records as one reads them in Python."""

from __future__ import annotations

import os

from core.arguments import checked_call, path
from core.errors import UserError
from reports.records import files
from reports.records.schema import Record


@checked_call
def load(*paths: str | os.PathLike[str]) -> list[Record]:
    """Read files of records, `reports.records.schema.Record`; repetitions of a run are joined, also of several files.

    Raises
    ------
    RecordError, UnequalWorkError
        As `reports.records.files.load` and `reports.records.files.merge`.
    UserError
        No file, or an argument that is no path.
    """
    if not paths:
        raise UserError("load(): expected the name of a file of records, or several")
    return files.merge(record for one in paths for record in files.load(path("paths", one)))
