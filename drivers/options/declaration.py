"""Declaration of options: a line each, from which the command line, its help and the checks of Python's values follow.

An `Options` is a frozen dataclass of typed values: the command line makes one from texts, the library from keywords
(`Options.checked`). Imports little: 64 ranks may start this at once on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Self, TypeVar

from core.arguments import refuse_choice, refuse_keyword, sequence
from core.errors import UserError
from drivers.options.output_files import OutputFile
from drivers.options.values import FLAG, NAME, PATH, PLAIN_TYPES, ValueType, natural, number, positive, seeds

CHECKPOINT_EVERY_S = 60.0
UNIFORM = "uniform:100:seed=1"
AVAILABLE_DEFAULT = "kroA100 if it is found, else pcb442, else a generated one"

OptionEffect = Literal["work", "way", "search", "place", "nothing"]
"""What an option decides.

work
    What is computed: runs are compared only where these are equal.
way
    How it is computed, and so the speed alone: equal work has equal hashes whatever these are.
search
    The one or the other, as the search says in its own parameters and ways.
place
    Where a rank works and what it shows; the ranks of a job may differ in it.
nothing
    The instance (a record has its hash), checks, files and how often.
"""


class OptionDeclaration(NamedTuple):
    """How one option reads on the command line; its name, type and default are those of its field."""

    help: str
    type: ValueType
    metavar: str | tuple[str, ...] | None
    choices: tuple[str, ...] | None
    group: OptionGroup
    decides: OptionEffect
    spelled: str | None
    nargs: int | str | None
    short: str | None


class OptionGroup(NamedTuple):
    """Options that stand together in the help; ``decides`` is what they decide unless an option says otherwise."""

    title: str
    description: str | None = None
    decides: OptionEffect = "nothing"

    def option(
        self,
        default: Any,
        help: str,
        type: ValueType | type[Any] = str,
        metavar: str | tuple[str, ...] | None = None,
        *,
        decides: OptionEffect | None = None,
        choices: Sequence[str] | None = None,
        spelled: str | None = None,
        nargs: int | str | None = None,
        short: str | None = None,
    ) -> Any:
        """Declare one option of this group: the default of a field of an `Options`.

        Parameters
        ----------
        default
            Its value where it is not given; ``%(default)s`` in the help stands for it.
        help
            What it does.
        type
            Type of its values. `bool`: a flag, with a ``--no-`` form unless its default is False.
        metavar
            What stands for the value in the help.
        decides
            See `OptionEffect`; by default that of the group.
        choices
            The texts that it takes.
        spelled
            Its name on the command line where that is not the field's; without dashes it is a positional argument.
        nargs
            How many values it takes, as `argparse` counts.
        short
            A second name, with one dash.

        """
        kind = type if isinstance(type, ValueType) else PLAIN_TYPES[type]
        listed = tuple(choices) if choices else None
        declared = OptionDeclaration(help, kind, metavar, listed, self, decides or self.decides, spelled, nargs, short)
        return field(default=default, metadata={"option": declared})


COMMON = OptionGroup("options")
CHECKS = OptionGroup("checks and comparison")
RESULTS = OptionGroup("results")
CHECKPOINTS = OptionGroup("long runs")

option = COMMON.option


def instance_option(generator: str = UNIFORM, chosen: str = AVAILABLE_DEFAULT) -> Any:
    """Declare `--instance`; the help names a generator of instances, and what is chosen without the option."""
    return option(
        None, f"instance: a file, a known name, or a generator such as {generator} (default: {chosen})", NAME, "NAME"
    )


def scaled_option(grows: str) -> Any:
    """Declare `--scaled` of a workload whose work can grow with the ranks; ``grows`` names the option that does it."""
    return option(
        None, f"record that {grows} is P times the amount for one rank (set by `drivers.compare --weak`)", positive, "P"
    )


MAPPINGS = ("native", "published")
"""How work is laid on a device: by the project's own kernels, or as the paper describes its own."""


def mapping_option(published: str, group: OptionGroup = COMMON) -> Any:
    """Declare `--mapping` of a workload whose paper lays the work on a device otherwise; ``published`` says how."""
    return group.option(
        MAPPINGS[0],
        f"mapping of the work to the device: native, or as published ({published}); same answer, different times "
        "(%(default)s)",
        choices=MAPPINGS,
        decides="way",
    )


@dataclass(frozen=True)
class Options:
    """What all workloads understand."""

    instance: str | None = instance_option()
    data: str | None = option(
        None, "folder with instance files, searched before all others", PATH, "DIR", decides="place"
    )
    repeats: int = option(1, "number of timed repetitions (%(default)s)", positive, "R")
    seed: int = option(0, "random seed of the run (%(default)s)", natural, "S")
    seeds: tuple[int, ...] | None = option(
        None, "several seeds instead of --seed, a run for each: 0..29, or 3,5,8", seeds, "A..B"
    )
    backend: str = option(
        "auto",
        "backend that runs the kernels: auto (the fastest here), cpu, threads, joblib, cuda, opencl or python "
        "(%(default)s); `python -m backends` lists the usable ones",
        metavar="B",
        decides="place",
    )
    device: str = option("0", "device of the backend (%(default)s)", NAME, "D", decides="place")
    cores: int | None = option(
        None,
        "number of cores for threads and joblib (default: all cores that the process may use)",
        positive,
        "N",
        decides="place",
    )
    pin_cores: bool = option(
        False,
        "over several ranks: bind each rank to separate cores, as many as it uses (with cpu, threads or joblib)",
        bool,
        decides="search",
    )
    distribute: str = option(
        "auto",
        "over several ranks: share the work always, or (auto) unless a rehearsal shows that rank 0 alone is faster "
        "(default: %(default)s)",
        choices=("auto", "always"),
        decides="search",
    )
    record: OutputFile | None = option(
        None,
        "append a record of the run to FILE (JSON Lines); an interrupted run continues where it stopped",
        OutputFile,
        "FILE",
    )
    checkpoint: OutputFile | None = CHECKPOINTS.option(
        None,
        "save checkpoints of the search to FILE, regularly and on SIGTERM, which ends the run with exit code 143",
        OutputFile,
        "FILE",
    )
    resume: bool = CHECKPOINTS.option(
        False,
        "resume from the checkpoint in --checkpoint FILE, if there is one; the result is the same, also on another "
        "backend or number of ranks",
        bool,
    )
    checkpoint_every: float = CHECKPOINTS.option(
        CHECKPOINT_EVERY_S, "seconds between checkpoints (%(default)g)", number, "SECONDS"
    )
    peers: bool = CHECKS.option(
        False,
        "also run the installed reference solvers on the same problem, --repeats times each, and compare them with "
        "this search (pip install 'onekernel[peers]')",
        bool,
    )
    progress: bool | None = option(None, "show a progress bar (default: only on a terminal)", bool, decides="place")
    quiet: bool = option(False, "print only results and errors", bool, decides="place", short="-q")

    @classmethod
    def declared(cls) -> Iterator[tuple[Field[Any], OptionDeclaration]]:
        """All options with their declarations, in their order."""
        for one in fields(cls):
            yield one, one.metadata["option"]

    @classmethod
    def checked(cls, values: Mapping[str, Any], owner: str) -> Self:
        """Return options with these values, each checked.

        Parameters
        ----------
        values
            Values by the names of options.
        owner
            Name of what has the options, for errors.

        Raises
        ------
        UserError
            A name that no option has, or a value that its option does not take.

        """
        declared: Mapping[str, tuple[Field[Any], OptionDeclaration]] = declared_options(cls)  # type: ignore[arg-type]
        made = {}
        for name, value in values.items():
            if name not in declared:
                refuse_keyword(name, value, declared, owner)
            one, about = declared[name]
            if value is None and one.default is None:
                continue
            if about.choices and isinstance(value, str | None) and value not in about.choices:
                refuse_choice(name, value, about.choices)
            if about.nargs is None:
                made[name] = about.type.check(name, value)
            else:
                made[name] = tuple(about.type.check(name, part) for part in sequence(name, value, "several values"))
            if missing := about.type.missing():
                raise UserError(f"{name}={value}: {missing}")
        return cls(**made)

    def named(self) -> dict[str, Any]:
        """Values by the names of options, with names in place of objects: for records, and for ranks to compare."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def asked(self) -> dict[str, Any]:
        """Values of options that decide work and ways, other than by default: runs that were asked alike agree."""
        deciding = {one.name for one, about in self.declared() if about.decides in ("work", "way", "search")}
        values = self.named()
        return {
            one.name: values[one.name]
            for one in fields(self)
            if one.name in deciding and values[one.name] != one.default
        }

    def deciding(self, decides: OptionEffect) -> dict[str, Any]:
        """Names and values of the options that decide the work, the way or the place."""
        return {one.name: getattr(self, one.name) for one, declared in self.declared() if declared.decides == decides}


AnyOptions = TypeVar("AnyOptions", bound=Options)


@cache
def declared_options(kind: type[Options]) -> Mapping[str, tuple[Field[Any], OptionDeclaration]]:
    """Return the options of a kind by the names of their fields."""
    return {one.name: (one, declared) for one, declared in kind.declared()}


def options_for_rank(settled: AnyOptions, own: AnyOptions) -> AnyOptions:
    """The first rank's options with what this rank was told of its own place."""
    return replace(settled, **own.deciding("place"))


def option_flag(one: Field[Any]) -> str:
    """How an option is written on the command line."""
    declared: OptionDeclaration = one.metadata["option"]
    return declared.spelled or "--" + one.name.replace("_", "-")


def add_options(parser: argparse.ArgumentParser, kind: type[Options], leave_out: Sequence[str] = ()) -> None:
    """Add all options of a kind to a parser, group by group, but those that are left out by name."""
    groups: dict[OptionGroup, Any] = {COMMON: parser}
    for one, declared in kind.declared():
        if one.name in leave_out:
            continue
        if declared.group not in groups:
            groups[declared.group] = parser.add_argument_group(declared.group.title, declared.group.description)
        _add(groups[declared.group], one, declared)


def add_common_option(parser: argparse.ArgumentParser, name: str) -> None:
    """Add one option that all workloads understand to a program that is no workload."""
    for one, declared in Options.declared():
        if one.name == name:
            _add(parser, one, declared)


def read_parsed(kind: type[AnyOptions], values: Mapping[str, Any]) -> AnyOptions:
    """The options of a kind from what a parser found; what it was not asked for has its default."""
    return kind(**{one.name: values[one.name] for one, _ in kind.declared() if one.name in values})


def _add(group: argparse._ActionsContainer, one: Field[Any], declared: OptionDeclaration) -> None:
    flag = option_flag(one)
    how: dict[str, Any] = {"help": declared.help, "default": one.default}
    if declared.type is FLAG:
        how["action"] = "store_true" if one.default is False else argparse.BooleanOptionalAction
    else:
        how |= {"type": declared.type, "metavar": declared.metavar, "choices": declared.choices}
        how["nargs"] = declared.nargs
    if flag.startswith("-"):
        how["dest"] = one.name
    group.add_argument(*filter(None, (declared.short, flag)), **how)
