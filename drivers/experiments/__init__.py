"""Plans of many runs, and their execution in processes of their own: comparisons, overviews and reproductions."""
