"""Dynamic programming by waves (`oconnell2014`): an engine, and three problems with kernels of their own."""

from core.search.dp.grid import Grid, GridEngine, GridResult
from core.search.dp.lcs import Common, LongestCommonSubsequence
from core.search.dp.rows import Rows
from core.search.dp.waves import Decisions, WaveEngine, WaveResult, Waves

__all__ = [
    "Common",
    "Decisions",
    "Grid",
    "GridEngine",
    "GridResult",
    "LongestCommonSubsequence",
    "Rows",
    "WaveEngine",
    "WaveResult",
    "Waves",
]
