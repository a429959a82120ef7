"""A benchmark: the speeds that the project promises, measured in turn and recorded (`python -m drivers.bench`)."""

from drivers.bench.command_line import main

__all__ = ["main"]
