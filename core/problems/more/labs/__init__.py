"""Low autocorrelation binary sequences (LABS): signs with the least energy of autocorrelations.

Others import `problem` (class `Labs`), which also has the published optima. An instance is a number of signs, so there
is neither a reader nor a generator.
"""
