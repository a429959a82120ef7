"""Papers as data (a TOML file each) and the engine that puts our runs into their tables and figures.

The report of a paper belongs in `reports.pages.paper`.
"""
