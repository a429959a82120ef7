"""Longest common subsequence of two byte strings: bit-parallel table, trace, ranks and checkpoints.

Other packages import `search`.
Strings and their scorer belong to `core.problems`, kernels to `core.kernels.dp`.
"""
