"""Compilation of all launches of a search, with smaller teams where a kernel needs more registers."""

from __future__ import annotations

from math import inf

from core.errors import LaunchRefused
from core.local_search.host_loop import HostLoop
from core.local_search.launcher import WalkLauncher
from core.local_search.shape import even_team
from core.local_search.slices import is_long, needs_parts, whole_s


def settle_shape(launcher: WalkLauncher, host_loop: HostLoop | None) -> None:
    """Compile all launches of a run, with the largest teams that the device accepts."""
    bind_or_shrink(launcher, host_loop)
    if even_out(launcher):
        bind_or_shrink(launcher, host_loop)


def bind_or_shrink(launcher: WalkLauncher, host_loop: HostLoop | None) -> None:
    """Compile all launches, with smaller teams if a kernel needs more registers than the device has for all lanes."""
    while True:
        try:
            bind_all(launcher, host_loop)
            return
        except LaunchRefused:
            if not launcher.shape.shrink():
                raise


def bind_all(launcher: WalkLauncher, host_loop: HostLoop | None) -> None:
    """Compile all launches of a run."""
    backend, kernels, on, shape = launcher.backend, launcher.kernels, launcher.memory, launcher.shape
    backend.bind(kernels.begin, 1, shape.step_size, (on.walkers, on.data))
    backend.bind(kernels.keep, 1, shape.step_size, (on.walkers,))
    if shape.in_one_team:
        bind_walk(launcher)
        if launcher.plan.settings.exchange:
            backend.bind(kernels.adopt, 1, shape.step_size, (0, on.adopted, on.walkers, on.data))
    elif host_loop is None:
        with backend.record():
            launcher.iteration()
    else:
        with backend.record():
            launcher.step()
        host_loop.bind()


def bind_walk(launcher: WalkLauncher, from_first: bool = True) -> object:
    """Compile the launch that makes all iterations of a walk in one team; return the executable."""
    on = launcher.memory
    arguments = (from_first, 0, 1, 1, on.walkers, on.shared, on.data)
    return launcher.backend.bind(launcher.kernels.walk, 1, launcher.shape.team_size, arguments).executable


def even_out(launcher: WalkLauncher) -> bool:
    """Reduce the team size if all walks then fit the device at a time. Return True if the shape has changed."""
    limits, count, shape = launcher.backend.capabilities, launcher.memory.count, launcher.shape
    if not launcher.plan.settings.by_walks or limits.lanes_resident == 1 or not count:
        return False
    walks = -(-count // limits.compute_units)
    size = even_team(walks, launcher.backend.resident_lanes(bind_walk(launcher)), shape.team_size)
    is_other = size != shape.team_size
    shape.team_size = size
    return is_other


def bind_slices(launcher: WalkLauncher, iteration_s: float, limit_s: float) -> None:
    """Compile the launches of slices, if a run of this limit may make some; before the clock begins.

    ``iteration_s`` is the duration of an iteration of the walks that run side by side.
    """
    is_cut = limit_s != inf and not launcher.plan.settings.is_host_driven
    if not is_cut or not is_long(whole_s(launcher, iteration_s), limit_s):
        return
    if needs_parts(launcher, iteration_s, limit_s):
        with launcher.backend.record():
            launcher.refresh()
            launcher.part(0, 0, 1)
            launcher.step()
    else:  # slices of walks, which begin elsewhere than at the first
        bind_walk(launcher, from_first=False)
