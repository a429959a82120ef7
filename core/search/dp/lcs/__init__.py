"""Longest common subsequence of two byte strings: bit-parallel table, trace, ranks and checkpoints.

Other packages import `search`.
Strings and their scorer belong to `core.problems`; the paper's mapping is in `core.search.dp.diagonals`.
"""
