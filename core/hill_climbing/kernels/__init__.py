"""2-opt hill climbing of tours (`oneil2011`): `climbs` has the common parts, each other module a kind of scan.

Every climber has a number and a start tour. A team or a lane makes its climb, and adds the outcome to the totals.
Searches launch the `climb_*` kernels and choose a scan for the device and the instance.
"""
