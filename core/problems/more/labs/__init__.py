"""Low autocorrelation binary sequences (LABS): signs whose autocorrelations have the least energy.

Others import `problem` (class `Labs`), which also holds the published optima.
An instance is a number of signs, so there is neither a reader nor a generator.
"""
