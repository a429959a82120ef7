"""Records of runs: schema, check, files, environment, programs, meters, data frames, CSV and IOHprofiler's format.

A finished run is a `Record` with a `Repetition` each; `files` appends and loads them, `Meter` measures conditions and
energy, and `frame` makes data frames. It imports no other part of reports. Conclusions from records belong in
`reports.rates` and `reports.statistics`.
"""
