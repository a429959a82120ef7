"""Checks of a problem's functions against its `cost`: move sequences, executors, and the comparisons along them.

Other packages import `validation`; the search also imports `rules`. Nothing here searches. Errors that the checks raise
are in `problem_errors`; those of a neighbourhood in `neighbourhoods`, of a function's parameters in `signatures`.
"""
