"""Model of the run time of a search on ranks of a network, from alpha, beta and compute rates.

Drivers and reports import `run_time` and `interconnects`; networks are data in `interconnects.toml`.
Measuring belongs to `cluster.measure`, pages belong to `reports`.
"""
