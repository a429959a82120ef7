"""Kernels of Held-Karp: layers of subsets, halves that meet, and the tour of Balas and Simonetti's neighbourhood."""
