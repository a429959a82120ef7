"""Numbers, times and ratios as text, and tables that become Markdown, LaTeX or text for a terminal.

`formatting` makes text of values, and a `TextTable` prints itself as Markdown, LaTeX or aligned columns.

Imported by all reports and by drivers: `formatting`, `tables`. It imports no other part of reports.
Whole pages and their contents do not belong here: see `reports.pages`.
"""
