"""Records of runs: schema, check, files, environment, meters, data frames, CSV and IOHprofiler's format.

Drivers import `schema`, `files`, `check`, `environment`, `meters`, `iohprofiler`. It imports no other part of reports.
Conclusions from records belong in `reports.statistics` and `reports.comparison`.
"""
