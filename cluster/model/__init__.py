"""Model of the run time of a local search on ranks of a network, from alpha, beta and the speed of one core.

`interconnects` reads a network from `interconnects.toml`, and `run_time` computes an iteration on it; `allreduce` has
the time of reductions. Reports import `run_time` and `interconnects`.
"""
