"""Searches from Python: later."""
