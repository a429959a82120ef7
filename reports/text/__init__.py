"""Numbers, times and ratios as text, and tables that become Markdown or LaTeX.

Imported by all reports and by drivers: `formatting`, `tables`.
Whole pages and their contents do not belong here: see `reports.pages`.
"""
