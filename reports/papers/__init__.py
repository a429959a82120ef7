"""Papers as data (a TOML file each) and the engine that puts our runs into their tables and figures.

Imported by drivers: `files` (`load`), `paper`, `exhibits`, `placement`, `plots`.
The report of a paper does not belong here: see `reports.pages.paper`.
"""
