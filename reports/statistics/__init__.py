"""Statistics of measured samples: medians with bootstrap intervals, rank tests, runs over seeds, targets, start-up.

Imported by drivers: `medians`, `startup`. Their text is made by
`reports.text.formatting`.
Speed-ups over a baseline do not belong here: see `reports.comparison`.
"""
