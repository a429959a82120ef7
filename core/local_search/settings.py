"""Settings of a local search: mapping, evaluation, parallel model, and the host's part of the loop."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal, TypedDict, get_args

from core.arguments import choice, integer, refuse_keyword
from core.errors import UserError
from core.local_search.algorithms import Algorithm
from core.local_search.kernels import hooks

Level = Literal["iteration", "algorithm", "solution"]
WalkMapping = Literal["native", "published"]
Processor = Literal["device", "host"]
DataMemory = Literal["global", "readonly", "shared", "image"]
DRAWING = {hooks.ANNEAL: "simulated annealing", hooks.CUSTOM: "a rule of acceptance"}
"""Names of algorithms that draw random neighbours."""


class SettingKeywords(TypedDict, total=False):
    """Fields of `SearchSettings` as keywords."""

    mapping: WalkMapping
    evaluation: str
    level: Level
    walks: int
    exchange: int
    seed: int
    generate: Processor
    select: Processor
    data_memory: DataMemory


@dataclass(frozen=True)
class SearchExecution:
    """Execution settings of a local search: they change the speed and not the trajectory.

    Attributes
    ----------
    evaluation : str
        A name among ``problem.evaluations(...)``, or ``auto``: the paper's for its mapping, else the first, at the
        solution level the first that lanes share.
    level : str
        Level of parallelism (section 2.3 of `luong2013`): ``iteration`` distributes one walk's neighbourhood over
        lanes, teams and ranks; ``solution`` gives every neighbour a team that evaluates it together; ``algorithm``
        gives every walk a team and distributes walks over teams and ranks.
    mapping : str
        Mapping of a walk to the device: ``native``, or ``published`` for the paper's (sections 3 to 6): a lane of a
        team of 256 decodes and evaluates each neighbour; fitnesses are written to global memory; and the host drives
        every iteration.
    generate, select : str
        ``device``, or with the published mapping ``host`` (`core.local_search.host_loop`). There the device selects
        by a reduction of the structure of fitnesses (section 6.7).
    data_memory : str
        Place of the problem's arrays: ``global``, ``readonly``, ``shared`` or ``image`` (see `core.lang.Table`).
    """

    evaluation: str = "auto"
    level: Level | None = None
    mapping: WalkMapping = "native"
    generate: Processor = "device"
    select: Processor | None = None
    data_memory: DataMemory = "global"


@dataclass(frozen=True)
class SearchSettings(SearchExecution):
    """Settings of a `LocalSearch`, which takes them as keywords.

    Attributes
    ----------
    walks : int
        Number of walks of all ranks; more than 1 at the algorithm level, or with the published mapping, which makes
        them one after another.
    exchange : int
        At the algorithm level: after this many iterations all walks continue from the best of them; 0: never.
    seed : int
        Of start solutions, tenures, shakes and draws.
    """

    level: Level = "iteration"
    select: Processor = "device"
    walks: int = 1
    exchange: int = 0
    seed: int = 0

    @classmethod
    def of(cls, keywords: SettingKeywords) -> SearchSettings:
        """Make settings from keywords; raises `UserError` for an unknown one, with the nearest name."""
        known = [field.name for field in fields(cls)]
        for name, value in keywords.items():
            if name not in known:
                refuse_keyword(name, value, known, "LocalSearch")
        return cls(**keywords)

    @property
    def is_published(self) -> bool:
        return self.mapping == "published"

    @property
    def by_walks(self) -> bool:
        """True at the algorithm level, where every walk has a team and ranks share the walks."""
        return self.level == "algorithm"

    @property
    def takes_turns(self) -> bool:
        """True if walks are made one after another."""
        return self.walks > 1 and self.level == "iteration"

    def checked(self, algorithm: Algorithm, tuned: bool) -> SearchSettings:
        """Return the settings with plain integers.

        Raises `UserError` for a setting that is out of range, or does not fit the others, the algorithm, or a tuner.
        """
        checked = replace(
            self,
            walks=integer("walks", self.walks, 1),
            exchange=integer("exchange", self.exchange, 0),
            seed=integer("seed", self.seed, 0, 2**31 - 1),
        )
        choice("data_memory", checked.data_memory, get_args(DataMemory))
        check_mapping(checked, algorithm)
        check_level(checked)
        check_host(checked, tuned)
        return checked


def check_mapping(settings: SearchSettings, algorithm: Algorithm) -> None:
    """Refuse the paper's mapping for algorithms and settings that the paper does not have."""
    choice("mapping", settings.mapping, get_args(WalkMapping))
    if not settings.is_published:
        return
    if settings.level != "iteration":
        raise UserError(
            f"mapping published at the {settings.level} level: expected level iteration, the one that the paper maps"
        )
    if not algorithm.scans:
        raise UserError(
            f"mapping published for {DRAWING[algorithm.rule]}: expected an algorithm that looks at whole "
            "neighbourhoods, as the paper's mapping does"
        )


def check_level(settings: SearchSettings) -> None:
    """Refuse a parallel model that does not fit the number of walks."""
    level, walks, exchange = settings.level, settings.walks, settings.exchange
    choice("level", level, get_args(Level))
    if walks > 1 and not (settings.by_walks or settings.is_published):
        raise UserError(f"{walks} walks: expected 1 at the {level} level")
    if exchange and not settings.by_walks:
        raise UserError(f"an exchange between walks at the {level} level, which has one: use level algorithm")


def check_host(settings: SearchSettings, tuned: bool) -> None:
    """Refuse a loop on the host in the native mapping, and tuned launches at another level than ``iteration``."""
    generate, select = settings.generate, settings.select
    for option, value in (("generate", generate), ("select", select)):
        choice(option, value, get_args(Processor))
    if "host" in (generate, select) and not settings.is_published:
        raise UserError("generate or select on the host: expected mapping published, the one with a loop on the host")
    if generate == "host" and select != "host":
        raise UserError("generate on the host, select on the device: expected select host too, as in the paper")
    if tuned and settings.level != "iteration":
        raise UserError(f"level {settings.level}: expected level iteration for tuned launches")
