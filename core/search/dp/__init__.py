"""Dynamic programming by waves (`oconnell2014`): an engine, and three problems with kernels of their own."""

from core.kernels.grid import Near
from core.kernels.waves import Window
from core.search.dp.grid import Grid, GridEngine, GridResult
from core.search.dp.lcs import Common, LongestCommonSubsequence
from core.search.dp.rows import DecisionRows
from core.search.dp.waves import Decisions, WaveEngine, WaveResult, Waves

__all__ = [
    "Common",
    "Decisions",
    "Grid",
    "GridEngine",
    "GridResult",
    "LongestCommonSubsequence",
    "Near",
    "DecisionRows",
    "WaveEngine",
    "WaveResult",
    "Waves",
    "Window",
]
