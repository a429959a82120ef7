"""Longest common subsequence of two byte strings: bit-parallel table, trace, ranks and checkpoints.

Other packages import `search` and, for the paper's mapping, `diagonals`.
Strings and their scorer belong to `core.problems`.
"""
