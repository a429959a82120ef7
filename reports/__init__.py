"""From run records (JSON Lines) to statistics, tables, plots and Markdown."""
