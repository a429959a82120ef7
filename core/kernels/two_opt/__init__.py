"""2-opt hill climbing of tours (`oneil2011`): start tours, what all climbs share, and a module for each kind of scan.

A team or lane climbs from the start tour of its climber number; all climbs report to the totals and the best length of
`climbs`.

The searches of `core.search` launch the `climb_*` kernels; ants and local search use `climbs.splitmix64`.
The choice of a scan for a device and an instance belongs in `core.search`.
"""
