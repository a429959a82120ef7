"""Numbers, times and ratios as text, and tables that become Markdown, LaTeX or text for a terminal.

`formatting` makes text of values, and a `TextTable` prints itself as Markdown, LaTeX or aligned columns. It imports no
other part of reports. Whole pages and their contents belong in `reports.pages`.
"""
