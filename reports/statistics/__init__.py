"""Statistics of measured samples: medians with bootstrap intervals, runs over seeds, start-up.

`summarise` makes a `Summary` of repetitions, with `Estimate`s, and `merge_seeds` one record of the runs of several
seeds. Speed-ups over a baseline belong in `reports.comparison`. IOHanalyzer and IOHinspector compute success rates,
times to targets and rank tests, from the files of `reports.records.iohprofiler`.
"""
