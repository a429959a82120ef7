"""Results of `onekernel.minimize` and `onekernel.run`, for one seed or several, with plots."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from core.arguments import refuse, sequence
from core.errors import UserError


@dataclass(frozen=True)
class Result:
    """What one run found.

    Attributes
    ----------
    name : str
        Of the instance.
    cost : int
        Of the best solution, or its value where that is sought.
    solution : ndarray or None
        The best solution; None: it was not asked for.
    evaluations : int
        Units of work that were done, see `unit`.
    seconds, compile_seconds : float
        Of the run from end to end without compilation, and of the compilation.
    confirmed : bool or None
        True if the plain scorer finds the same cost; None if there was no scorer. What the scorer contradicts is no
        result: it is raised as `Unconfirmed`.
    hash : str
        16 hexadecimal digits, equal on every backend and number of ranks where the same work was done.
    history : list of list, optional
        Rows [iteration, evaluations, seconds, best cost] where the best cost improved; None: not asked for.
    seed : int
    backend, device : str
        Where it ran.
    ranks : int
    unit : str
        What `evaluations` counts.
    optimum : int, optional
        The best known cost, where one is known.
    is_value : bool
        Whether `cost` is a value, of which a large one is sought.
    interrupted : bool
        Whether Ctrl-C or the callback ended it early.
    words : str
        What was found, and who confirms it, as the programs print it.

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
    is_value: bool
    interrupted: bool
    words: str

    def __repr__(self) -> str:
        return f"Result({self.name!r}, cost={self.cost}, seconds={self.seconds:.6f}, backend={self.backend!r})"

    def __str__(self) -> str:
        """Word it as the programs do."""
        return self.words

    def plot(self, axes: Any = None) -> Any:
        """Draw the best cost against evaluations and against seconds.

        Parameters
        ----------
        axes : two matplotlib Axes, optional
            Where to draw; by default in a figure of its own.

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
    """What runs with several seeds found, in their order; its own `cost`, `solution` and `history` are the best's.

    Parameters
    ----------
    runs
        At least one.

    """

    def __init__(self, runs: Sequence[Result]) -> None:
        self.runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Results: ...

    def __getitem__(self, index: int | slice) -> Result | Results:
        """One of the runs, or several."""
        return Results(self.runs[index]) if isinstance(index, slice) else self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.runs)

    def __str__(self) -> str:
        """Word them, a line each."""
        return "\n".join(map(str, self.runs))

    def __repr__(self) -> str:
        listed = "".join(f"    {run!r},\n" for run in self.runs)
        return f"Results(\n{listed})"

    @property
    def best(self) -> Result:
        """The run with the least cost, or the largest value where that is sought; the first of several."""
        return min(self.runs, key=lambda run: -run.cost if run.is_value else run.cost)

    @property
    def cost(self) -> int:
        """Of the best run."""
        return self.best.cost

    @property
    def costs(self) -> list[int]:
        """The cost of each run."""
        return [run.cost for run in self.runs]

    @property
    def solution(self) -> Any:
        """The best solution of all runs."""
        return self.best.solution

    @property
    def history(self) -> list[list[Any]] | None:
        """The history of the best run."""
        return self.best.history

    @property
    def evaluations(self) -> int:
        """Of all runs together."""
        return sum(run.evaluations for run in self.runs)

    @property
    def seconds(self) -> float:
        """Of all runs together, without compilation."""
        return sum(run.seconds for run in self.runs)

    @property
    def confirmed(self) -> bool | None:
        """True if every run is; None if there was no scorer for one of them."""
        return None if None in [run.confirmed for run in self.runs] else True

    @property
    def interrupted(self) -> bool:
        """Whether any run was."""
        return any(run.interrupted for run in self.runs)

    @property
    def hash(self) -> str:
        """A hash of the hashes of all runs, seed by seed."""
        told = " ".join(f"{run.seed} {run.hash}" for run in self.runs)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def plot(self, axes: Any = None) -> Any:
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
        return axes
