"""Statistics of measured samples: medians with intervals.

IOHanalyzer and IOHinspector compute success rates, times to targets and rank tests, from the files of
`reports.records.iohprofiler`.
"""
