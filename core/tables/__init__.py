"""Dynamic programming by waves (`oconnell2014`): a generic engine, and three problems with custom kernels.

Other packages import this package, and of each problem `search` and `problem` (instances and scorer).
"""

from core.tables.engine.decisions import DecisionRows
from core.tables.engine.kernels.grid import Near
from core.tables.engine.kernels.waves import Window
from core.tables.engine.recurrences import Grid, WaveResult, Waves
from core.tables.engine.waves import WaveEngine
from core.tables.lcs.search import CommonSubsequence, LongestCommonSubsequence

__all__ = [
    "CommonSubsequence",
    "DecisionRows",
    "Grid",
    "LongestCommonSubsequence",
    "Near",
    "WaveEngine",
    "WaveResult",
    "Waves",
    "Window",
]
