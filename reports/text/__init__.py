"""Numbers, times and ratios as text, and tables that become Markdown or LaTeX.

Imported by all reports and by drivers: `formatting`, `tables`, `plain_table`. It imports no other part of reports.
Whole pages and their contents do not belong here: see `reports.pages`.
"""
