"""Model of the run time of a search on ranks of a network, from alpha, beta and compute rates.

`interconnects` reads or fits an `Interconnect`, and `run_time` computes from it, from `Work` and from a `Speed` a
`ScalingPoint` for each number of ranks; `allreduce` has the time of reductions.

Drivers and reports import `run_time` and `interconnects`; networks are data in `interconnects.toml`.
Measuring belongs to `cluster.measure`, pages belong to `reports`.
"""
