"""Longest common subsequence of two strings: bit-parallel table, trace and ranks.

`LongestCommonSubsequence` computes an `LcsTable`, two that meet in the middle, or blocks that fit memory, and returns a
`CommonSubsequence`. `problem` has the strings, their readers and the scorer.

Other packages import `search` and `problem`.
"""
