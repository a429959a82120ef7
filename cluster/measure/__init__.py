"""Measurements of ranks at hand: messages, reductions, compute rates, clocks, and the file that keeps them.

`drivers.cluster_programs.check` runs them; model and drivers import `measurement_file`, pages import `anomalies`.
Modelled times belong to `cluster.model`.
"""
