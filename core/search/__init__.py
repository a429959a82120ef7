"""Searches on the host, and what all of them share: protocol, stop criteria, progress, checkpoints and partition.

Other packages import `protocol`, `stop`, `checkpoint` and the packages; every search imports the rest.
A search receives a backend and a communicator and knows neither's kind. Options and files belong to `drivers`.
"""
