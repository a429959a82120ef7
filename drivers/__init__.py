"""The programs of the suite: one for each workload, a comparison of all backends, and a benchmark."""

import sys

if sys.argv[:1] == ["-m"]:
    # `python -m drivers.NAME` imports this first: an interrupt among the imports that follow is no crash either.
    from drivers.interrupts import install

    install()
