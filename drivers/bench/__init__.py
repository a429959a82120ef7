"""Benchmark of the speeds that the project promises (`onekernel bench`).

`cases.toml` has the cases, which `drivers.experiments.presets.bench` runs and reports. C programs for reference are in
`reference_programs/`.
"""
