"""Measurements of the ranks of a job: messages and reductions.

`ping_pong` measures each `Link`, `reductions` each `Reduction`. With a `RankSpeed` of each rank they are a
`ClusterMeasurement`; `anomalies` finds slow ranks. `drivers.cluster_programs.check` runs them.
"""
