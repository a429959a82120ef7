"""Statistics of measured samples: medians with bootstrap intervals, rank tests, runs over seeds, targets, start-up.

Imported by drivers: `medians`, `startup`. Estimates with their intervals become text in `interval_text`.
Speed-ups over a baseline do not belong here: see `reports.comparison`.
"""
