"""Known-answer test of a device: atomics, barriers, shared memory, reductions and 32 and 64-bit arithmetic.

It runs once per device, driver and version of the suite; a file in the cache marks a device that has passed.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import numpy as np

from backends.cache import cache_folder, write_once
from backends.cpu_info import cpu_tag
from core.errors import UserError
from core.lang import *
from core.lang.library import random_below, team_max, team_min, team_sum

if TYPE_CHECKING:
    from backends.launch import Backend


@kernel
def known_answer(values: Array[i32], n: i32, sums: Array[u64], extremes: Array[i32], draws: Array[u32]):
    """Compute sum and extremes of ``values`` by atomics and reductions, a minimum of ``~``, and random draws."""
    scratch = shared_array(team_size(), i32)
    low, high, total = values[0], values[0], 0
    for i in range(team_rank() * team_size() + lane(), n, team_count() * team_size()):
        low = min(low, values[i])
        high = max(high, values[i])
        total += values[i] // 7 + values[i] % 7
        atomic_add(sums, 0, u64(values[i]))
    low = team_min(low, scratch)
    high = team_max(high, scratch)
    total = team_sum(total, scratch)
    barrier()
    if lane() == 0:
        atomic_min(extremes, 0, low)
        atomic_max(extremes, 1, high)
        atomic_add(extremes, 2, total)
    if team_rank() == 0 and lane() < 1:
        extremes[3] = min(~values[1], values[2])
        for k in range(4):
            draws[k] = random_below(u32(1000), u64(42), u64(k), u32(7))


def find_cached_failure(backend: Backend) -> str:
    """Test a device unless it has passed before; returns the reason of a failure, or an empty text."""
    with open(__file__, "rb") as file:
        version = file.read()
    device = backend.device._replace(memory_bytes=0)  # PoCL's results vary between runs
    facts = (backend.name, device, np.__version__, cpu_tag())  # machines of several kinds may share the user's cache
    identity = hashlib.sha256(version + repr(facts).encode()).hexdigest()[:24]
    mark = os.path.join(cache_folder("self-test"), f"{backend.name}-{identity}")
    if os.path.exists(mark):
        return ""
    try:
        wrong = find_failure(backend)
    except UserError as error:
        return str(error).splitlines()[0]
    except Exception as error:  # any error of a broken driver excludes the device
        return f"{type(error).__name__}: {error}".splitlines()[0]
    if not wrong:
        write_once(mark, b"passed\n")
    backend.timings.reset()
    return wrong


def find_failure(backend: Backend) -> str:
    """Compare a device with NumPy; returns the difference, or an empty text."""
    values = (np.arange(1000, dtype=np.int64) * 7919 % 2003 - 1001).astype(np.int32)
    expected = [int(values.min()), int(values.max()), int((values // 7 + values % 7).sum()), int(~values[1])]
    draws = [358, 298, 329, 396]
    for lanes in (1, 32):
        if lanes > backend.capabilities.max_team_size:
            continue
        sums = backend.upload(np.zeros(1, np.uint64))
        extremes = backend.upload(np.array([2**31 - 1, -(2**31), 0, 0], np.int32))
        drawn = backend.upload(np.zeros(4, np.uint32))
        uploaded = backend.upload(values)
        backend.launch(known_answer, 3, lanes, uploaded, values.size, sums, extremes, drawn)
        total = int(backend.download(sums)[0])
        if total != int(values.astype(np.int64).sum()) % 2**64:
            return f"atomic sum {total} with teams of {lanes}"
        if backend.download(extremes).tolist() != expected:
            return f"reductions {backend.download(extremes).tolist()}, not {expected}, with teams of {lanes}"
        if backend.download(drawn).tolist() != draws:
            return f"random draws {backend.download(drawn).tolist()}, not {draws}"
    return ""
