"""Printers of typed programs: one per compiler, and the operations that the printed text uses.

Backends import a printer where they compile; `backends.show` imports printers by the names in its `DIALECTS`.
Devices, launches and caches do not belong here.
"""
