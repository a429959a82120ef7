"""Statistics of measured samples: medians with bootstrap intervals, rank tests, runs over seeds, targets, start-up.

`summarise` makes a `Summary` of repetitions, with `Estimate`s. A `SeedFamily` has the runs of several seeds, and
`TargetAttempts` their time to a `Target`. Speed-ups over a baseline belong in `reports.comparison`.
"""
