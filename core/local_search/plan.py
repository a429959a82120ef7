"""Plan of a search, checked before compilation: neighbourhoods, evaluation, tabu memory, range of costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack

import numpy as np

from core.arguments import refuse, sequence
from core.errors import UserError, did_you_mean, shown
from core.local_search.algorithms import Algorithm, HillClimbing, TabuSearch
from core.local_search.checks.neighbourhoods import MOST_NEIGHBOURS
from core.local_search.checks.signatures import check_functions, check_neighbourhood
from core.local_search.encodings import NEIGHBOURHOODS, Neighbourhood
from core.local_search.kernels import hooks, moves
from core.local_search.kernels.hooks import Evaluation
from core.local_search.kernels.walks import RESTART_WORDS
from core.local_search.problem import Problem, checked_problem
from core.local_search.settings import SearchSettings, SettingKeywords


class TabuMemory(NamedTuple):
    """Tabu memory of a walk.

    Attributes
    ----------
    kind : int
        `core.local_search.kernels.moves.MOVES` or `ATTRIBUTES`.
    words : int
        Words of memory; 1 without tabu search.
    tenure, span : int
        A move stays forbidden for ``tenure`` to ``tenure + span`` iterations.
    """

    kind: int
    words: int = 1
    tenure: int = 0
    span: int = 0

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters that decide the trajectory, for the record."""
        kind = "moves" if self.kind == moves.MOVES else "attributes"
        return {"tenure": self.tenure, "tenure_span": self.span, "tabu_memory": kind}


def choose_memory(problem: Problem, algorithm: Algorithm, neighbourhood: Neighbourhood, size: int) -> TabuMemory:
    """Choose the memory and the tenure for a problem's neighbourhood of this size."""
    encoding = problem.encoding
    tabu = algorithm if isinstance(algorithm, TabuSearch) else None
    remembers = tabu.tabu_memory if tabu else "auto"
    if remembers == "attributes" and not neighbourhood.attributes:
        raise UserError(f"tabu search that remembers attributes of {neighbourhood.name}, which has none: use moves")
    kind = moves.MOVES if remembers == "moves" or not neighbourhood.attributes else moves.ATTRIBUTES
    if tabu is None:
        return TabuMemory(kind)
    tenure, span = tabu.tenure, tabu.tenure_span
    if tenure is None:
        suitable, addition = default_tenure(kind, neighbourhood.change, encoding.n, size)
        tenure = min(suitable, max(0, size - 2))
        span = min(addition if span is None else span, max(0, size - 2 - tenure))
    longest = tenure + (span or 0)
    if longest >= size > 1:
        raise UserError(
            f"a tenure of up to {longest} iterations for {neighbourhood.name}, which has {size} neighbours: expected "
            "less than that"
        )
    return TabuMemory(kind, neighbourhood.memory(encoding, size, kind), tenure, span or 0)


def default_tenure(memory_kind: int, kind: int, n: int, size: int) -> tuple[int, int]:
    """Return a tenure from the literature, and its largest random addition.

    Attributes of permutations: 0.9 n to 1.1 n (Taillard 1991). Other attributes: n / 6 and more. Moves: a sixth of the
    neighbourhood (Luong, Melab and Talbi 2010), so that a list of them would be that long.
    """
    if memory_kind == moves.MOVES:
        tenure = size // 6
    elif kind in (moves.EXCHANGE, moves.INSERT):
        tenure = 9 * n // 10
    else:
        tenure = n // 6
    return tenure, n // 5 if kind in (moves.EXCHANGE, moves.INSERT) else n // 10


MOST_LEVELS = 3
LARGEST_UNSTATED = 2**30 - 1
"""Largest cost of a problem without a range of costs: two of them differ by less than 2^31."""

Neighbourhoods = str | Neighbourhood | Sequence[str | Neighbourhood]


class CostRange(NamedTuple):
    """The least and the largest cost that a walk may have, and a description for messages."""

    least: int
    most: int
    text: str

    def is_astray(self, costs: np.ndarray) -> np.ndarray:
        """Return True for each cost that the problem cannot have."""
        return (costs < self.least) | (costs > self.most)


@dataclass(frozen=True)
class Plan:
    """Problem, algorithm and settings of a search, checked before compilation; `make` makes it.

    Attributes
    ----------
    problem, algorithm, settings
        The arguments of `LocalSearch`.
    neighbourhoods
        One, or up to three that a descent tries in this order.
    sizes
        Number of neighbours in each.
    tuned
        True if shapes of launches are tried.
    history
        True if walks record improvements.
    """

    problem: Problem
    algorithm: Algorithm
    settings: SearchSettings
    neighbourhoods: tuple[Neighbourhood, ...]
    sizes: tuple[int, ...]
    evaluation: Evaluation
    tabu: TabuMemory
    costs: CostRange
    tuned: bool = False
    history: bool = False

    @classmethod
    def make(
        cls,
        problem: Problem,
        algorithm: Algorithm,
        neighbourhoods: Neighbourhoods,
        *,
        tuned: bool = False,
        history: bool = False,
        **settings: Unpack[SettingKeywords],
    ) -> Plan:
        """Check the arguments of a search and fill in defaults; see `LocalSearch`.

        Raises `UserError` if they do not fit; one line has the value found and the value expected.
        """
        checked_problem(problem)
        if not isinstance(algorithm, Algorithm):
            refuse("algorithm", algorithm, "an algorithm such as TabuSearch()")
        checked = SearchSettings.of(settings).checked(algorithm, tuned)
        costs = possible_costs(problem)
        chosen = find_neighbourhoods(problem, algorithm, neighbourhoods)
        sizes = sizes_of(problem, chosen)
        evaluation = find_evaluation(problem, checked, chosen[0])
        tabu = choose_memory(problem, algorithm, chosen[0], sizes[0])
        if history and checked.takes_turns:
            raise UserError(f"a history of {checked.walks} walks one after another: expected 1 walk, or mapping native")
        return cls(problem, algorithm, checked, chosen, sizes, evaluation, tabu, costs, tuned, history)

    @property
    def simultaneous_walks(self) -> int:
        """Number of walks of all ranks that exist at a time."""
        return self.settings.walks if self.settings.by_walks else 1

    @property
    def ends_itself(self) -> bool:
        """True if every walk ends at a local optimum."""
        return isinstance(self.algorithm, HillClimbing) and not self.algorithm.restart

    @property
    def memory_words(self) -> int:
        """Words of a walk's memory: tabu list, earlier costs, or nothing; and the words of restarts."""
        return max(self.tabu.words, self.algorithm.lag) + (RESTART_WORDS if self.algorithm.restart else 0)

    @property
    def is_quick(self) -> bool:
        """True if tables are refreshed before every scan."""
        return self.evaluation.refresh is not None and self.neighbourhoods[0].name in self.evaluation.quick_for

    @property
    def most_evaluations(self) -> int:
        """Largest number of neighbours that an iteration evaluates."""
        return self.algorithm.batch if self.algorithm.draws else max(self.sizes)

    @property
    def searched(self) -> str:
        """Problem, algorithm, neighbourhoods and evaluation, as text."""
        names = ", ".join(neighbourhood.name for neighbourhood in self.neighbourhoods)
        return f"{self.problem.name}, {self.algorithm.name} by {names}, evaluation {self.evaluation.name}"

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters that decide the trajectory, for the record."""
        return {
            **self.algorithm.recorded_parameters,
            **(self.tabu.parameters if isinstance(self.algorithm, TabuSearch) else {}),
            "neighbourhood": "+".join(neighbourhood.name for neighbourhood in self.neighbourhoods),
            "walks": self.settings.walks,
            "exchange": self.settings.exchange,
        }

    @property
    def execution(self) -> dict[str, object]:
        """Execution settings by name, which affect only the speed, for the record."""
        batch = {"batch": self.algorithm.batch} if self.algorithm.draws else {}
        return {
            **batch,
            "mapping": self.settings.mapping,
            "evaluation": self.evaluation.name,
            "level": self.settings.level,
            "generate": self.settings.generate,
            "select": self.settings.select,
            "data_memory": self.settings.data_memory,
        }


def as_list(neighbourhoods: Neighbourhoods) -> list[str | Neighbourhood]:
    """List one neighbourhood or several; each is a name or a `Neighbourhood`."""
    expected = f"a neighbourhood, or 1 to {MOST_LEVELS}, each by name or as an object"
    if isinstance(neighbourhoods, (str, Neighbourhood)):
        return [neighbourhoods]
    listed: list[str | Neighbourhood] = sequence("neighbourhood", neighbourhoods, expected)
    if not listed or not all(isinstance(entry, (str, Neighbourhood)) for entry in listed):
        refuse("neighbourhood", neighbourhoods, expected)
    return listed


def possible_costs(problem: Problem) -> CostRange:
    """Return the costs that a walk may have. Raises `UserError` for costs that do not fit 32 bits."""
    stated = problem.cost_range()
    least, most = stated or (-LARGEST_UNSTATED, LARGEST_UNSTATED)
    if max(abs(least), abs(most), most - least) >= moves.NEVER:
        raise UserError(
            f"{problem.name}: costs from {least} to {most} are possible: expected costs "
            f"and differences of costs below {moves.NEVER}, since they have 32 bits"
        )
    tolerance = problem.tolerance()
    least, most = least - tolerance, most + tolerance
    why = "as its cost_range says" if stated is not None else "since costs and their differences have 32 bits"
    return CostRange(least, most, f"{least} to {most}, {why}")


def find_neighbourhoods(
    problem: Problem, algorithm: Algorithm, neighbourhoods: Neighbourhoods
) -> tuple[Neighbourhood, ...]:
    """Find the neighbourhoods by name, for ``auto`` the problem's first.

    Refuse those that do not fit the problem, the algorithm or each other.
    """
    offered = problem.neighbourhood_names()
    entries = as_list(neighbourhoods)
    if entries == ["auto"]:
        entries = as_list(offered[:1])
    for entry in entries:
        if isinstance(entry, Neighbourhood) and entry not in (*problem.neighbourhoods, *NEIGHBOURHOODS.values()):
            raise UserError(f"neighbourhood {entry.name!r}: {problem.name} does not list it in its `neighbourhoods`")
    names = [entry if isinstance(entry, str) else entry.name for entry in entries]
    if not 1 <= len(names) <= MOST_LEVELS:
        raise UserError(f"{len(names)} neighbourhoods: expected 1 to {MOST_LEVELS}")
    chosen = tuple(problem.neighbourhood(name) for name in names)
    first = chosen[0]
    for each in chosen:
        if each.name not in offered:
            listed = f"{', '.join(offered)}; list others in its `neighbourhoods`"
            raise UserError(f"neighbourhood {each.name!r}: {problem.name} knows {listed}")
        check_neighbourhood(problem.name, each, problem.encoding.dtype)
        # Without `apply`, the functions of one evaluation make the moves.
        made_by_problem = each.change == moves.OWN and each.apply is None
        if (each.change, each.apply) != (first.change, first.apply) or (made_by_problem and each != first):
            raise UserError(f"neighbourhoods {', '.join(names)} in one search: their moves differ in kind")
    if len({each.decode for each in chosen if each.decode}) > 1:
        raise UserError(f"neighbourhoods {', '.join(names)} in one search: expected at most one custom neighbourhood")
    if len(names) > 1 and algorithm.rule not in (hooks.BEST, hooks.FIRST):
        raise UserError(f"{len(names)} neighbourhoods for {algorithm.name}, which uses one")
    return chosen


def sizes_of(problem: Problem, neighbourhoods: Sequence[Neighbourhood]) -> tuple[int, ...]:
    """Return the number of neighbours in each neighbourhood."""
    sizes = tuple(each.size(problem.encoding, problem.points) for each in neighbourhoods)
    for each, size in zip(neighbourhoods, sizes, strict=True):
        if not isinstance(size, (int, np.integer)) or not 1 <= size <= MOST_NEIGHBOURS:
            raise UserError(
                f"{each.name} on {problem.encoding.n} elements has {size} neighbours: expected 1 to {MOST_NEIGHBOURS}"
            )
    return sizes


def find_evaluation(problem: Problem, settings: SearchSettings, neighbourhood: Neighbourhood) -> Evaluation:
    """Find the evaluation by name."""
    evaluations, name = problem.evaluations(neighbourhood.name), settings.evaluation
    published = problem.published or next(iter(evaluations))
    if name == "auto":
        shared = [key for key, functions in evaluations.items() if functions.partial is not None]
        name = shared[0] if shared and settings.level == "solution" else next(iter(evaluations))
        name = published if settings.is_published else name
    if name not in evaluations:
        meant = did_you_mean(name, evaluations)
        raise UserError(f"evaluation {shown(name)}{meant}: {problem.name} has {', '.join(evaluations)}")
    if settings.is_published and name != published:
        raise UserError(f"mapping published with evaluation {name}: expected {published}, the paper's")
    evaluation = problem.evaluation(neighbourhood.name, name)
    if not problem.is_tested:
        check_functions(problem.name, evaluation, problem.encoding.dtype)
    if settings.level == "solution" and evaluation.partial is None:
        raise UserError(f"level solution: {problem.name} evaluates a neighbour in one piece ({name})")
    return evaluation
