"""Statistics of measured samples: medians with bootstrap intervals, and start-up.

`summarise` makes a `Summary` of repetitions, with `Estimate`s. Speed-ups over a baseline and runs over seeds belong in
`reports.comparison`. IOHanalyzer and IOHinspector compute success rates,
times to targets and rank tests, from the files of `reports.records.iohprofiler`.
"""
