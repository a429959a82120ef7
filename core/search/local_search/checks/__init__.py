"""Checks of a problem's functions against its `cost`: move sequences, executors, and the comparisons along them.

Other packages import `validation`; the search also imports `rules`. Nothing here searches. Errors that the checks raise
belong to `core.problems`.
"""
