"""Functions and classes that `onekernel.py` exports: `minimize`, `run`, `compare`, `check`, `main`, and results."""
