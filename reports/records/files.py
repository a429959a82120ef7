"""Files of run records: a JSON object per line, fsynced per repetition, so that a killed run resumes.

A repetition appends one line with itself in `repetitions`; `merge_lines` turns the lines of a finished run into one.
Several processes may append to one file: each takes the file's lock for its single write.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from msgspec.structs import replace

from core.atomic_files import atomic_write
from core.errors import UserError, refusal, warn_caller
from reports.records.schema import Record, RecordError, Repetition

T = TypeVar("T")
_START = b'{"schema": '
REFERENCE_SOLVERS = "reference_solvers"
"""Key of their measurements in the details of a record."""

COMPARED = ("workload", "instance_sha256", "parameters", "seed", "hash_scope", "hash", "best_cost", "best_index")
"""Fields that are equal in runs of the same work, for all execution settings."""
MEASURED = ("started_at", "compile_s", "transfer_s", "kernel_s", "total_s")
"""Fields of a repetition that no other repetition of its run shares: times have all their digits."""


O_BINARY = getattr(os, "O_BINARY", 0)
"""Flag by which Windows leaves ends of lines as they are."""
REPLACES_OPEN_FILES = os.name != "nt"
"""True if a file that a process has open can be replaced."""


class UnequalWorkError(UserError):
    """Records of different work, which must not be compared."""


def append(path: str | os.PathLike[str], record: Record) -> None:
    """Add one line to a file of records; it is on the disk when this returns.

    An incomplete last line is cut off first. Raises `RecordError` if the file cannot be written, or ends in something
    that no record begins with.
    """
    line = record.to_line().encode()
    with _locked(path) as descriptor:
        _mend_tail(descriptor, path)
        try:
            if os.write(descriptor, line) != len(line):
                raise RecordError(f"{os.fspath(path)}: the disk took only a part of a record")
            os.fsync(descriptor)
        except OSError as error:
            raise RecordError(f"{os.fspath(path)}: cannot write records: {refusal(error) or error.strerror}") from None


def load(path: str | os.PathLike[str]) -> list[Record]:
    """Read a file of records, a record per line, as they were appended.

    An incomplete last line is ignored with a warning. Raises `RecordError` with file and line if the file cannot be
    read, or a line is no record of a known schema version.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
            raise RecordError(f"{os.fspath(path)}: expected a regular file of records")
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise RecordError(f"{os.fspath(path)}: cannot read the records: {error.strerror}") from None
    return distinct(record for record, _ in _parse(content, os.fspath(path)))


def load_existing(path: str | os.PathLike[str]) -> list[Record]:
    """Read a file of records that may be missing: then there are none. Raises as `load`."""
    return load(path) if os.path.exists(path) else []


def distinct(records: Iterable[Record]) -> list[Record]:
    """Leave out each repetition that was there before: a file may be named twice, or be a copy of parts of others.

    A repetition is known by its run, its start and its times; one without a recorded start is always kept.
    """
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for record in records:
        new = []
        for one in record.repetitions:
            key = (record.identity, *(getattr(one, name) for name in MEASURED))
            if one.started_at is None or key not in seen:
                new.append(one)
            seen.add(key)
        if new or not record.repetitions:
            kept.append(record.with_repetitions(tuple(new), record.verified))
    return kept


def merge(records: Iterable[Record]) -> list[Record]:
    """Join the distinct repetitions of each run into one record, in the order of the runs' first lines.

    Reference solvers run once after each repetition, so their measurements are those of the last record. Raises
    `UnequalWorkError` if repetitions of one run differ in their results.
    """
    runs = group_by(distinct(records), lambda record: record.identity)
    for run in runs:
        require_equal_work(run)
    return [
        _with_last_solvers(run).with_repetitions(
            tuple(repetition for record in run for repetition in record.repetitions),
            all(record.verified for record in run),
        )
        for run in runs
    ]


def _with_last_solvers(run: Sequence[Record]) -> Record:
    """Return the first record of a run, with the last measurements of reference solvers that made most repetitions."""
    measured = [record.details[REFERENCE_SOLVERS] for record in run if REFERENCE_SOLVERS in record.details]
    if len(measured) < 2:
        return run[0]

    def repetitions(solvers: Iterable[object]) -> int:
        return sum(one.get("repetitions") or 0 for one in solvers if isinstance(one, dict))

    return replace(run[0], details={**run[0].details, REFERENCE_SOLVERS: max(measured, key=repetitions)})


def families(records: Iterable[Record]) -> list[list[Record]]:
    """Group runs that differ only in the seed; repetitions of a run are joined.

    Returns families in the order of their first lines, a run per seed in the order of the seeds. Raises
    `UnequalWorkError` as `merge` does.
    """
    grouped = group_by(merge(records), lambda run: replace(run, seed=0).identity)
    return [sorted(family, key=lambda run: run.seed) for family in grouped]


def group_by(items: Iterable[T], key: Callable[[T], Any]) -> list[list[T]]:
    """Group items by a key of plain JSON values; groups are in the order of their first items."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(json.dumps(key(item), sort_keys=True), []).append(item)
    return list(groups.values())


def find_run(path: str | os.PathLike[str], run: str) -> Record | None:
    """Return the run of a file with this `identity`, its repetitions joined, or None; raises as `load` and `merge`."""
    merged = merge(record for record in load_existing(path) if record.identity == run)
    return merged[0] if merged else None


def repetitions_of_work(
    path: str | os.PathLike[str], workload: str, instance_sha256: str, parameters: Mapping[str, Any], seed: int
) -> list[Repetition]:
    """Return the repetitions of the same work in a file, on any machine and with any settings; raises as `load`."""
    # The file's content comes from JSON, where tuples are lists.
    work = json.loads(json.dumps([workload, instance_sha256, parameters, seed]))
    return [
        repetition
        for record in load_existing(path)
        if [record.workload, record.instance_sha256, record.parameters, record.seed] == work
        for repetition in record.repetitions
    ]


def refuse_namesake(
    path: str | os.PathLike[str], workload: str, instance: str, sha256: str, advice: str = "another file"
) -> None:
    """Refuse a file with runs of another instance of the same name, which pages would show as one.

    The file need not exist; ``workload``, ``instance`` and ``sha256`` are of the new runs, ``advice`` is the message's
    alternative. Raises `RecordError` if the content of the instances differs, or the file cannot be read.
    """
    for record in load_existing(path):
        if (record.workload, record.instance) == (workload, instance) and record.instance_sha256 != sha256:
            raise RecordError(
                f"{os.fspath(path)}: found runs of {workload} on {instance}, an instance of that name with other "
                f"content (digest {record.instance_sha256[:12]}, here {sha256[:12]}): expected {advice}, or another "
                "name for this instance"
            )


def merge_lines(path: str | os.PathLike[str], run: str) -> None:
    """Join all lines of a finished run into one; other lines stay byte for byte.

    The file is replaced in one step (written beside, fsynced, renamed), so a crash leaves the old or the new one;
    Windows cannot replace an open file, which is written anew there.
    Raises as `load` and `merge`, with the file unchanged.
    """
    with _locked(path) as descriptor:
        _mend_tail(descriptor, path)
        lines = _parse(_content(descriptor), os.fspath(path))
        own = [record for record, _ in lines if record.identity == run]
        if len(own) < 2:
            return
        whole = merge(own)[0].to_line().encode()
        kept = [raw for record, raw in lines if record.identity != run]
        position = next(i for i, (record, _) in enumerate(lines) if record.identity == run)
        content = b"".join([*kept[:position], whole, *kept[position:]])
        if REPLACES_OPEN_FILES:
            _replace(path, content)
        else:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, content)


def require_equal_work(records: Sequence[Record]) -> None:
    """Refuse records of unequal work.

    Runs of equal parameters and equal hashes did the same work under any execution settings, perhaps with fewer
    evaluations (a pruned scan leaves out useless ones, meeting in the middle takes half of Held and Karp's
    transitions). Runs of equal settings must have equal numbers of evaluations too, unless their hash covers only the
    result: the number of nodes of a search with bounds depends on when its incumbent improves. Counts of a pruned scan
    are compared on one device only: each lane of a team prunes by its own best move.
    """
    counted: dict[str, Record] = {}
    for record in records:
        _require_equal(records[0], record, COMPARED)
        place = (record.backend, record.device) if record.execution.get("scan") == "pruned" else None
        alike = counted.setdefault(json.dumps([record.execution, place], sort_keys=True), record)
        if record.hash_scope != "result":
            _require_equal(alike, record, ("evaluations",))


def _require_equal(record: Record, other: Record, names: Sequence[str]) -> None:
    for name in names:
        ours, theirs = getattr(record, name), getattr(other, name)
        if ours != theirs:
            if name == "parameters":
                ours, theirs = _differing(ours, theirs), _differing(theirs, ours)
            raise UnequalWorkError(
                f"unequal work cannot be compared: {name} is {ours!r} in {record.label} but {theirs!r} in {other.label}"
            )


def _differing(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return our parameters that the other record lacks, or has with another value."""
    return {name: value for name, value in ours.items() if name not in theirs or theirs[name] != value}


def _parse(content: bytes, name: str) -> list[tuple[Record, bytes]]:
    """Return every record of a file with the bytes of its line; warn of an incomplete last line."""
    *whole, tail = content.split(b"\n")
    if tail and _is_json(tail):
        whole, tail = [*whole, tail], b""
    elif tail and _may_be_torn(tail):
        warn_caller(f"{name}:{len(whole) + 1}: the last line is incomplete (writing it was interrupted): left out")
    elif tail:
        raise RecordError(f"{name}:{len(whole) + 1}: expected a run record, found {tail[:40]!r}")
    return [
        (Record.from_line(_decoded(line, f"{name}:{number}"), f"{name}:{number}"), line + b"\n")
        for number, line in enumerate(whole, 1)
        if line.strip()
    ]


def _decoded(line: bytes, origin: str) -> str:
    """Return a line as text; a damaged byte is an error, not replaced by another character."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise RecordError(f"{origin}: expected a run record in UTF-8, found {line[:40]!r}") from None


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _may_be_torn(tail: bytes) -> bool:
    """True if a last line may be the incomplete beginning of a record."""
    if not tail.startswith(_START):
        return _START.startswith(tail)
    try:
        json.JSONDecoder().raw_decode(tail.decode(errors="replace"))
    except (ValueError, RecursionError):
        return True
    return False


def _mend_tail(descriptor: int, path: str | os.PathLike[str]) -> None:
    content = _content(descriptor)
    if content.strip() and not content.lstrip().startswith(b"{"):
        raise RecordError(f"{os.fspath(path)}: not a file of records: it begins with {content[:40]!r}")
    end = content.rfind(b"\n") + 1
    tail = content[end:]
    if not tail:
        return
    if _is_json(tail):
        os.write(descriptor, b"\n")
    elif _may_be_torn(tail):
        os.ftruncate(descriptor, end)
    else:
        raise RecordError(f"{os.fspath(path)}: not a file of records: it ends in {tail[:40]!r}; nothing was written")


def _content(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


@contextmanager
def _locked(path: str | os.PathLike[str]) -> Iterator[int]:
    """Open a file for appending, created if missing, locked against other processes."""
    from filelock import lock_descriptor

    try:
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | O_BINARY, 0o644)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise RecordError(f"{os.fspath(path)}: expected a regular file for records")
            lock_descriptor(descriptor)
            # `merge_lines` may have replaced the file while we waited for its lock.
            if os.path.exists(path) and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                break
            os.close(descriptor)
    except OSError as error:
        raise RecordError(f"{os.fspath(path)}: cannot write records: {error.strerror}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _replace(path: str | os.PathLike[str], content: bytes) -> None:
    try:
        with atomic_write(path) as file:
            file.write(content)
    except OSError as error:
        raise RecordError(f"{os.fspath(path)}: cannot rewrite the records: {error.strerror}") from None
