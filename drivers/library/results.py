"""Results of `onekernel.minimize` and `onekernel.run`, for one seed or several, with plots."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from core.arguments import refuse, sequence
from core.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Result:
    """Result of one run.

    Attributes
    ----------
    name
        Name of the instance.
    cost
        Cost of the best solution; its value if the workload maximises.
    solution
        The best solution; None if the run did not compute it.
    evaluations
        Amount of work, in the unit `unit`.
    seconds, compile_seconds
        Time of the run from end to end without compilation, and time of compilation.
    confirmed
        True if the plain scorer finds the same cost; None if there is no scorer. If it finds another cost, the run
        raises `Unconfirmed` and has no result.
    hash
        16 hexadecimal digits, equal on every backend and number of ranks for equal work.
    history
        Rows [iteration, evaluations, seconds, best cost], one for each improvement; None without ``history=True``.
    seed
        Random seed.
    backend, device
        Names of backend and device.
    ranks
        Number of ranks.
    unit
        Unit of `evaluations`, plural.
    optimum
        The best known cost; None if unknown.
    maximises
        True if the workload maximises `cost`.
    interrupted
        True if Ctrl-C or the callback ended the run.
    words
        The line that programs print: result, work, times and verifiers.
    """

    name: str
    cost: int
    solution: Any
    evaluations: int
    seconds: float
    compile_seconds: float
    confirmed: bool | None
    hash: str
    history: list[list[Any]] | None
    seed: int
    backend: str
    device: str
    ranks: int
    unit: str
    optimum: int | None
    maximises: bool
    interrupted: bool
    words: str

    def __repr__(self) -> str:
        return f"Result({self.name!r}, cost={self.cost}, seconds={self.seconds:.6f}, backend={self.backend!r})"

    def __str__(self) -> str:
        return self.words

    def plot(self, axes: Sequence[Axes] | np.ndarray | None = None) -> np.ndarray:
        """Draw the best cost against evaluations and against seconds.

        Parameters
        ----------
        axes : two matplotlib Axes, optional
            Axes to draw in; by default those of a new figure.

        Returns
        -------
        ndarray of matplotlib Axes, shape (2,)

        Raises
        ------
        UserError
            There is no history, or matplotlib is not installed.
        """
        return Results([self]).plot(axes)


class Results(Sequence[Result]):
    """Results of several runs, in the order of their seeds; `cost`, `solution` and `history` are those of the best.

    Parameters
    ----------
    runs
        Results of the runs, at least one.
    """

    def __init__(self, runs: Sequence[Result]) -> None:
        self.runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Results: ...

    def __getitem__(self, index: int | slice) -> Result | Results:
        return Results(self.runs[index]) if isinstance(index, slice) else self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __str__(self) -> str:
        return "\n".join(map(str, self.runs))

    def __repr__(self) -> str:
        listed = "".join(f"    {run!r},\n" for run in self.runs)
        return f"Results(\n{listed})"

    @property
    def best(self) -> Result:
        """The run with the least cost, or the largest value; the first one of equal ones."""
        return min(self.runs, key=lambda run: -run.cost if run.maximises else run.cost)

    @property
    def cost(self) -> int:
        return self.best.cost

    @property
    def costs(self) -> list[int]:
        return [run.cost for run in self.runs]

    @property
    def solution(self) -> Any:
        return self.best.solution

    @property
    def history(self) -> list[list[Any]] | None:
        return self.best.history

    @property
    def evaluations(self) -> int:
        return sum(run.evaluations for run in self.runs)

    @property
    def seconds(self) -> float:
        return sum(run.seconds for run in self.runs)

    @property
    def confirmed(self) -> bool | None:
        return None if None in [run.confirmed for run in self.runs] else True

    @property
    def interrupted(self) -> bool:
        return any(run.interrupted for run in self.runs)

    @property
    def hash(self) -> str:
        """Hash of seeds and hashes of all runs."""
        return hashlib.sha256(" ".join(f"{run.seed} {run.hash}" for run in self.runs).encode()).hexdigest()[:16]

    def plot(self, axes: Sequence[Axes] | np.ndarray | None = None) -> np.ndarray:
        """Draw every run's best cost against evaluations and against seconds: see `Result.plot`."""
        from reports.plots.history import SIZE, HistoryCurve, draw_histories
        from reports.plots.style import user_pyplot

        courses = [
            HistoryCurve(f"seed {run.seed}" if len(self) > 1 else "best cost", run.history, run.evaluations)
            for run in self.runs
            if run.history
        ]
        if not courses:
            raise UserError(f"{self.best.name}: there is no history to draw: expected a run with history=True")
        best = self.best
        if axes is not None and len(sequence("axes", axes, "two axes of matplotlib")) != 2:
            refuse("axes", axes, "two axes of matplotlib")
        if axes is None:
            figure, axes = user_pyplot().subplots(1, 2, sharey=True, figsize=SIZE, layout="constrained")
            figure.suptitle(f"{best.name}, {best.backend}", fontsize=11)
        draw_histories(axes, courses, best.unit, known={} if best.optimum is None else {"optimum": best.optimum})
        return np.asarray(axes)
