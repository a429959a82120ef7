"""Iterative hill climbing with random restart for the TSP (`oneil2011`), and its 2-opt scans.

`HillClimbing` distributes climbers over ranks. A `ClimbLauncher` launches them with a `Scan` that fits device
and instance; the results are a `HillClimbOutcome`.

Other packages import `search`; other searches import `scans` and the kernels. Hill climbing on any problem is in
`core.local_search`.
"""
