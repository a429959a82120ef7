"""Dynamic programming by waves (`oconnell2014`): a generic engine, and three problems with custom kernels.

Other packages import this package, and of each problem `search` and `problem` (instances and scorer).
"""

from core.tables.engine.kernels.grid import Near
from core.tables.engine.kernels.waves import Window
from core.tables.engine.recurrences import Grid, Waves
from core.tables.engine.waves import WaveEngine
from core.tables.lcs.search import LongestCommonSubsequence

__all__ = ["Grid", "LongestCommonSubsequence", "Near", "WaveEngine", "Waves", "Window"]
