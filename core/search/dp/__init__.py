"""Dynamic programming by waves (`oconnell2014`): a generic engine, and three problems with custom kernels.

Other packages import this package and the `search` of each problem.
Recurrences and traces as kernels belong to `core.kernels`; instances and scorers belong to `core.problems`.
"""

from core.kernels.dp.grid import Near
from core.kernels.dp.waves import Window
from core.search.dp.engine.decisions import DecisionRows
from core.search.dp.engine.recurrences import Grid, WaveResult, Waves
from core.search.dp.engine.waves import WaveEngine
from core.search.dp.lcs.search import CommonSubsequence, LongestCommonSubsequence

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
