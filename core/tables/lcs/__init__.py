"""Longest common subsequence of two strings: bit-parallel table, trace and ranks.

`LongestCommonSubsequence` chooses a strategy and returns a `CommonSubsequence`. Strategies compute an `LcsTable`, two
that meet in the middle (`bidirectional`), blocks that fit memory (`blocks`), or diagonals (`waves`). `problem` has the
strings, their readers and the scorer.

Other packages import `search` and `problem`.
"""
