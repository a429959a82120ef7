"""Measurements of the ranks of a job: messages, reductions, compute rates, clocks, and their file.

`drivers.cluster_programs.check` runs them; model and drivers import `measurement_file`, pages import `anomalies`.
Modelled times belong to `cluster.model`.
"""
