"""Iterative hill climbing with random restart for the TSP (`oneil2011`), its 2-opt scans and heuristic start tours.

`HillClimbing` distributes climbers over ranks. A `ClimbLauncher` launches them with a `Scan` that fits device and
instance; the results are a `HillClimbOutcome`.

Other packages import `search`, `scans` and `start_tours`, other searches the latter two.
Kernels of climbs belong to `core.kernels`; hill climbing on any problem is in `core.search.local_search`.
"""
