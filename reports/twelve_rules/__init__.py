"""Check of a report against the twelve rules of Hoefler and Belli (SC 2015), from its records and its page.

`ReportProperties` and records are `RuleInputs`. A `Rule` of `rules.toml` decides on them, and `decide_rules` returns a
`RuleVerdict` for each. The required statistics belong in `reports.statistics`.
"""
