"""Plan of a search, checked before compilation: neighbourhoods, evaluation, memory, parallel model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arguments import integer, refuse, sequence
from core.errors import UserError
from core.kernels.local_search import hooks, moves
from core.problems.encodings import NEIGHBOURHOODS, Neighbourhood
from core.problems.neighbourhood_checks import MOST_NEIGHBOURS
from core.problems.problem import Evaluation, Problem, checked_data_memory, checked_problem
from core.problems.signatures import check_functions, check_neighbourhood
from core.renamed_options import renamed_value
from core.search.local_search.algorithms import Algorithm, checked_algorithm

MOST_LEVELS = 3
LARGEST_UNSTATED = 2**30 - 1
"""The largest cost of a problem that does not say which are possible: two of them differ by less than 2^31."""
LEVELS = ("iteration", "algorithm", "solution")
MAPPINGS = ("native", "published")


def as_list(neighbourhoods: str | Neighbourhood | Sequence[str | Neighbourhood]) -> list[str | Neighbourhood]:
    """List one neighbourhood or several; each is a name or a `Neighbourhood`."""
    expected = f"a neighbourhood, or 1 to {MOST_LEVELS}, each by name or as an object"
    if isinstance(neighbourhoods, (str, Neighbourhood)):
        return [neighbourhoods]
    found: list[str | Neighbourhood] = sequence("neighbourhood", neighbourhoods, expected)
    if not found or not all(isinstance(one, (str, Neighbourhood)) for one in found):
        refuse("neighbourhood", neighbourhoods, expected)
    return found


class Plan:
    """What is searched and how, settled and checked before anything is compiled.

    Parameters
    ----------
    problem, algorithm
        What is searched, and how.
    neighbourhoods
        One, or up to three that a descent tries in this order: names, or those that are the problem's own.
    mapping
        How a walk is laid on the device: ``native``, or ``published`` for the paper's own (sections 3 to 6): a lane of
        a team of 256 for each neighbour, whose index it decodes; the paper's evaluation, which writes a structure of
        fitnesses to global memory; and a host that drives every iteration.
    evaluation
        A name among ``problem.evaluations(...)``, or ``auto``: the paper's where the mapping is, else the first, at the
        solution level the first that lanes share.
    level
        Where the parallelism is (section 2.3 of `luong2013`): ``iteration`` shares one walk's neighbourhood out over
        lanes, teams and ranks; ``solution`` gives every neighbour a team, whose lanes evaluate it together;
        ``algorithm`` gives every walk a team and shares walks out over teams and ranks.
    walks
        How many, over all ranks; more than 1 at the algorithm level, or with the published mapping, which makes them
        one after another.
    exchange
        At the algorithmic level: after so many iterations all walks go on from the best of them; 0: never.
    seed
        Of start solutions, tenures, shakes and draws.
    generate, select
        ``device``, or ``host`` for the paper's first loop: see `core.search.local_search.host_loop`. With the
        published mapping, to select on the device is to reduce the structure of fitnesses (section 6.7).
    data_memory
        Where the problem's arrays live: ``global``, ``readonly``, ``shared`` or ``image`` (see `core.lang.Table`).
    tuned
        Whether shapes of launches are tried.

    Raises
    ------
    UserError
        Something does not fit; one line says what was found and what was expected.

    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        neighbourhoods: str | Neighbourhood | Sequence[str | Neighbourhood],
        *,
        tuned: bool = False,
        mapping: str = "native",
        evaluation: str = "auto",
        level: str = "iteration",
        walks: int = 1,
        exchange: int = 0,
        seed: int = 0,
        generate: str = "device",
        select: str = "device",
        data_memory: str = "global",
    ) -> None:
        self.problem = checked_problem(problem)
        self.algorithm = checked_algorithm(algorithm)
        self.walks = integer("walks", walks)
        self.exchange = integer("exchange", exchange)
        self.seed = integer("seed", seed)
        self.level = level
        self.mapping = mapping
        self.generate, self.select = generate, select
        self.data_memory = checked_data_memory(data_memory)
        self.check_mapping()
        self.check_level()
        self.check_host(generate, select, tuned)
        self.check_costs()
        given = as_list(neighbourhoods)
        for one in given:
            if isinstance(one, Neighbourhood) and one not in (*problem.neighbourhoods, *NEIGHBOURHOODS.values()):
                raise UserError(f"neighbourhood {one.name!r}: {problem.name} does not list it in its `neighbourhoods`")
        self.choose_neighbourhoods([one if isinstance(one, str) else one.name for one in given])
        self.choose_evaluation(evaluation)
        self.choose_memory()

    def check_mapping(self) -> None:
        """Refuse the paper's mapping for what the paper does not lay on a device."""
        if self.mapping not in MAPPINGS:
            raise UserError(f"mapping {self.mapping!r}: expected {', '.join(MAPPINGS)}")
        if self.mapping == "native":
            return
        if self.level != "iteration":
            raise UserError(
                f"mapping published at the {self.level} level: expected level iteration, the one that the paper maps"
            )
        if self.algorithm.rule == hooks.ANNEAL:
            raise UserError(
                "mapping published for simulated annealing: expected an algorithm that looks at whole neighbourhoods, "
                "as the paper's mapping does"
            )

    def check_level(self) -> None:
        """Refuse a parallel model that does not fit the number of walks."""
        if self.level not in LEVELS:
            raise UserError(f"level {self.level!r}: expected {', '.join(LEVELS)}")
        several = self.level == "algorithm" or self.mapping == "published"
        if self.walks < 1 or (self.walks != 1 and not several):
            expected = "1 or more" if several else f"1 at the {self.level} level"
            raise UserError(f"{self.walks} walks: expected {expected}")
        if self.exchange and self.level != "algorithm":
            raise UserError(f"an exchange between walks at the {self.level} level, which has one: use level algorithm")
        if self.exchange < 0:
            raise UserError(f"an exchange every {self.exchange} iterations: expected 0 (never) or more")
        if not 0 <= self.seed < 2**31:
            raise UserError(f"seed {self.seed}: expected 0 to {2**31 - 1}")

    def check_host(self, generate: str, select: str, tuned: bool) -> None:
        """Refuse a loop on the host where there is nothing to select, or no single walk."""
        for option, value in (("generate", generate), ("select", select)):
            if value not in ("device", "host"):
                raise UserError(f"{option} on {value!r}: expected device or host")
        if generate == "host" and select != "host":
            raise UserError("generate on the host, select on the device: expected select host too, as in the paper")
        if (select == "host" or tuned) and self.level != "iteration":
            raise UserError(f"level {self.level}: expected level iteration for a loop on the host or tuned launches")
        if select == "host" and self.algorithm.rule == hooks.ANNEAL:
            raise UserError("simulated annealing draws on the device: expected select device")
        self.is_host_driven = select == "host" or self.mapping == "published"
        self.keeps_apart = self.is_host_driven or tuned

    def check_costs(self) -> None:
        """Refuse costs that 32 bits do not hold, and settle which costs a walk may meet."""
        stated = self.problem.cost_range()
        self.least_cost, self.most_cost = stated or (-LARGEST_UNSTATED, LARGEST_UNSTATED)
        size = max(abs(self.least_cost), abs(self.most_cost), self.most_cost - self.least_cost)
        if size >= moves.NEVER:
            raise UserError(
                f"{self.problem.name}: costs from {self.least_cost} to {self.most_cost} are possible: expected costs "
                f"and differences of costs below {moves.NEVER}, since they have 32 bits"
            )
        tolerance = self.problem.tolerance()
        self.least_cost, self.most_cost = self.least_cost - tolerance, self.most_cost + tolerance

    def is_astray(self, costs: np.ndarray) -> np.ndarray:
        """Which costs the problem cannot have."""
        return (costs < self.least_cost) | (costs > self.most_cost)

    @property
    def expected_costs(self) -> str:
        """The costs that the problem can have, in words."""
        is_stated = self.problem.cost_range() is not None
        why = "as its cost_range says" if is_stated else "since costs and their differences have 32 bits"
        return f"{self.least_cost} to {self.most_cost}, {why}"

    @property
    def searched(self) -> str:
        """Problem, algorithm, neighbourhoods and evaluation, in words."""
        names = ", ".join(one.name for one in self.neighbourhoods)
        return f"{self.problem.name}, {self.algorithm.name} by {names}, evaluation {self.evaluation_name}"

    def choose_neighbourhoods(self, names: list[str]) -> None:
        """Find the neighbourhoods and their sizes."""
        if not 1 <= len(names) <= MOST_LEVELS:
            raise UserError(f"{len(names)} neighbourhoods: expected 1 to {MOST_LEVELS}")
        encoding = self.problem.encoding
        offered = self.problem.neighbourhood_names()
        self.neighbourhoods = [self.problem.neighbourhood(name) for name in names]
        for one in self.neighbourhoods:
            if one.name not in offered:
                raise UserError(f"neighbourhood {one.name!r}: {self.problem.name} knows {', '.join(offered)}")
            check_neighbourhood(self.problem.name, one, encoding.dtype)
            if (one.change, one.apply) != (self.neighbourhoods[0].change, self.neighbourhoods[0].apply):
                raise UserError(f"neighbourhoods {', '.join(names)} in one search: their moves differ in kind")
        if len({one.decode for one in self.neighbourhoods if one.decode}) > 1:
            raise UserError(
                f"neighbourhoods {', '.join(names)} in one search: expected at most one custom neighbourhood"
            )
        if len(names) > 1 and self.algorithm.rule not in (hooks.BEST, hooks.FIRST):
            raise UserError(f"{len(names)} neighbourhoods for {self.algorithm.name}, which uses one")
        self.sizes = [one.size(encoding, self.problem.points) for one in self.neighbourhoods]
        for one, size in zip(self.neighbourhoods, self.sizes, strict=True):
            if not isinstance(size, (int, np.integer)) or not 1 <= size <= MOST_NEIGHBOURS:
                raise UserError(
                    f"{one.name} on {encoding.n} elements has {size} neighbours: expected 1 to {MOST_NEIGHBOURS}"
                )

    def choose_evaluation(self, name: str) -> None:
        """Find the evaluation by name."""
        evaluations = self.problem.evaluations(self.neighbourhoods[0].name)
        published = self.problem.published or next(iter(evaluations))
        if name == "auto":
            shared = [one for one, its in evaluations.items() if its.partial is not None]
            name = shared[0] if shared and self.level == "solution" else next(iter(evaluations))
            name = published if self.mapping == "published" else name
        if name not in evaluations:
            new = renamed_value("evaluation", name, evaluations)
            if new is not None:
                raise UserError(f"evaluation {name}: renamed, expected {new}")
            raise UserError(f"evaluation {name!r}: {self.problem.name} has {', '.join(evaluations)}")
        if self.mapping == "published" and name != published:
            raise UserError(f"mapping published with evaluation {name}: expected {published}, the paper's")
        self.evaluation_name = name
        self.given = self.problem.checked_data_for(name)
        self.evaluation: Evaluation = evaluations[name]
        if not self.problem.is_tested:
            check_functions(self.problem.name, self.evaluation, self.problem.encoding.dtype, type(self.given))
        if self.level == "solution" and self.evaluation.partial is None:
            raise UserError(f"level solution: {self.problem.name} evaluates a neighbour in one piece ({name})")

    def choose_memory(self) -> None:
        """Settle the tabu memory and the tenure."""
        one, encoding, size = self.neighbourhoods[0], self.problem.encoding, self.sizes[0]
        tabu_memory = self.algorithm.tabu_memory
        if tabu_memory == "attributes" and not one.attributes:
            raise UserError(f"tabu search that remembers attributes of {one.name}, which has none: use moves")
        if tabu_memory == "auto":
            tabu_memory = "attributes" if one.attributes else "moves"
        self.memory_kind = moves.MOVES if tabu_memory == "moves" else moves.ATTRIBUTES
        if self.algorithm.rule != hooks.TABU:
            self.memory_words, self.tenure, self.tenure_span = 1, 0, 0
            return
        self.memory_words = one.memory(encoding, size, self.memory_kind)
        tenure, span = self.algorithm.tenure, self.algorithm.tenure_span
        if tenure is None:
            tenure, span = default_tenure(self.memory_kind, one.change, encoding.n, size, span)
        self.tenure, self.tenure_span = tenure, span or 0
        if self.tenure + self.tenure_span >= size > 1:
            raise UserError(
                f"a tenure of up to {self.tenure + self.tenure_span} iterations for {one.name}, which has {size} "
                f"neighbours: expected less than that"
            )

    @property
    def parameters(self) -> dict[str, object]:
        """What decides the trajectory, for the record."""
        tabu_memory = "moves" if self.memory_kind == moves.MOVES else "attributes"
        settled = {"tenure": self.tenure, "tenure_span": self.tenure_span, "tabu_memory": tabu_memory}
        return {
            **self.algorithm.parameters,
            **(settled if self.algorithm.rule == hooks.TABU else {}),
            "neighbourhood": "+".join(one.name for one in self.neighbourhoods),
            "walks": self.walks,
            "exchange": self.exchange,
        }

    @property
    def execution(self) -> dict[str, object]:
        """Execution settings by name, which affect only the speed, for the record."""
        batch = {"batch": self.algorithm.batch} if self.algorithm.rule == hooks.ANNEAL else {}
        return {
            **batch,
            "mapping": self.mapping,
            "evaluation": self.evaluation_name,
            "level": self.level,
            "generate": self.generate,
            "select": self.select,
            "data_memory": self.data_memory,
        }


def default_tenure(memory_kind: int, kind: int, n: int, size: int, span: int | None) -> tuple[int, int]:
    """Tenures from the literature.

    Attributes of permutations: 0.9 n to 1.1 n (Taillard 1991). Other attributes: n / 6 and more. Moves: a sixth of the
    neighbourhood (Luong, Melab and Talbi 2010), so that a list of them would be that long.
    """
    if memory_kind == moves.MOVES:
        tenure = size // 6
    elif kind in (moves.EXCHANGE, moves.INSERT):
        tenure = 9 * n // 10
    else:
        tenure = n // 6
    tenure = min(tenure, max(0, size - 2))
    room = max(0, size - 1 - tenure - 1)
    wanted = n // 5 if kind in (moves.EXCHANGE, moves.INSERT) else n // 10
    return tenure, min(room, wanted if span is None else span)
