"""Launches of the kernels that `lane_programs` draws, and all that they leave in memory."""

import linecache

import numpy as np

from core.lang.types import BY_NAME
from tests.core.lang.lane_programs import MOST_LOCALS, MOST_SHARED, Lanes
from tests.core.lang.lane_values import FLOATS

RESULTS = {"added": "u64", "least": "i32", "most": "u32", "mixed": "u64", "ticket": "i32"}
"""Arrays of eight elements that all teams share."""


def module_of(drawn: Lanes) -> dict:
    path = f"<random lanes {drawn.seed}>"
    linecache.cache[path] = (len(drawn.source), None, drawn.source.splitlines(keepends=True), path)
    scope = {"__name__": "random_lanes"}
    exec(compile(drawn.source, path, "exec"), scope)
    return scope


def numbers(source: np.random.Generator, kind: str, count: int) -> np.ndarray:
    dtype = BY_NAME[kind].dtype
    if kind in FLOATS:
        return (source.normal(size=count) * 3).astype(dtype)
    info = np.iinfo(dtype)
    anywhere = source.integers(info.min, info.max, count, dtype, endpoint=True)
    return np.where(source.random(count) < 0.5, anywhere % 10, anywhere).astype(dtype)


def launched(backend, scope: dict, drawn: Lanes, team_size: int) -> dict[str, np.ndarray]:
    """Memory after a launch on a backend; all not-a-numbers are equal."""
    source = np.random.default_rng(drawn.seed)
    rows = backend.rows(scope["Walk"](n=drawn.width, inner=scope["Part"]()), drawn.rows)
    walk, names = rows.bundle, drawn.row_names  # a field may be called `count`, as a word of `rows` is
    parts = (getattr(walk, names[0]), getattr(walk, names[1]), getattr(walk.inner, names[2]))
    for buffer, kind in zip(parts, drawn.row_kinds, strict=True):
        backend.write(buffer, numbers(source, kind, buffer.size))
    inner = scope["Inner"](numbers(source, drawn.number_kind, 1)[0].item(), bool(source.integers(2)))
    facts = backend.load(scope["Facts"](3, numbers(source, drawn.table_kind, 11), inner))
    constants, seed = backend.upload(numbers(source, "u32", 16)), int(source.integers(0, 2**63))
    results = [backend.upload(np.zeros(8, BY_NAME[kind].dtype)) for kind in RESULTS.values()]
    size = drawn.teams * (team_size * MOST_LOCALS + MOST_SHARED)
    results += [backend.upload(np.zeros(size, dtype)) for dtype in (np.uint64, np.float64)]
    backend.launch(scope["run"], drawn.teams, team_size, rows, facts, constants, drawn.teams, seed, *results)
    buffers = zip(
        ("first rows", "second rows", "third rows", *RESULTS, "whole", "real"), (*parts, *results), strict=True
    )
    read = {name: backend.download(buffer) for name, buffer in buffers}
    return {n: np.where(np.isnan(v), np.nan, v).astype(v.dtype) if v.dtype.kind == "f" else v for n, v in read.items()}


def difference(results: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> str:
    """First difference of two launches, or an empty text."""
    for name, values in expected.items():
        bits = f"u{values.itemsize}"
        wrong = np.flatnonzero(results[name].view(bits) != values.view(bits))
        if wrong.size:
            return f"{name}[{wrong[0]}] is {results[name][wrong[0]]}, expected {values[wrong[0]]}"
    return ""
