"""Subset sum by enumeration: the subset of numbers whose sum is nearest to a part of their sum."""
