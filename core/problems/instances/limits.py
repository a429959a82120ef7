"""Limits that the instances of several problems share."""

LARGEST_COST = 2**31 - 1
"""A cost fits a signed 32-bit integer, so that kernels need no wider one."""
LARGEST_SEED = 2**63 - 1
"""A seed of a generator fits a signed 64-bit integer."""
