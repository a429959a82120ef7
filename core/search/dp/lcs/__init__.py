"""Longest common subsequence of two strings: bit-parallel table, trace and ranks.

`LongestCommonSubsequence` computes an `LcsTable`, two that meet in the middle, or blocks that fit memory, and returns a
`CommonSubsequence`.

Other packages import `search`.
Strings and their scorer belong to `core.problems`, kernels to `core.kernels.dp`.
"""
