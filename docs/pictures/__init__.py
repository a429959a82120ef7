"""Pictures that are drawn by `draw`."""
