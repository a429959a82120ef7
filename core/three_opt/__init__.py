"""Iterated local search of tours by 2-opt and Or-3opt moves (`search`), also of one large tour in parts (`windows`)."""

from core.three_opt.search import IteratedThreeOpt
from core.three_opt.windows import WindowedThreeOpt

__all__ = ["IteratedThreeOpt", "WindowedThreeOpt"]
