"""Kernels of the knapsack problem: passes over the table, halves of two ranks, branch and bound, expanding core."""
