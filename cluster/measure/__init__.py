"""Measurements of the ranks of a job: messages, reductions, compute rates, clocks.

Each module measures one kind of values: `Link`, `Reduction`, `Pace` and `RankSpeed`. Together they are a
`ClusterMeasurement`, of which `anomalies` finds slow ranks. `drivers.cluster_programs.check` runs them.
"""
