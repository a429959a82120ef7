"""Measurements of the ranks of a job: messages, reductions, compute rates, clocks, and their file.

Each module measures one kind of values: `Link`, `Reduction`, `Pace` and `RankSpeed`. Together they are a
`ClusterMeasurement`, which `measurement_file` writes and reads, and `anomalies` searches for slow ranks.

`drivers.cluster_programs.check` runs them; model and drivers import `measurement_file`, pages import `anomalies`.
Modelled times belong to `cluster.model`.
"""
