"""Emitters: one typed tree, printed for each kind of compiler, and the words that the printed text uses."""
