"""Declaration of options, from which the command line, its help and the checks of Python's values follow.

Tables beside this module (`common.toml` says how) declare the options of families of workloads; a single program
declares further fields by `OptionGroup.option`. An `Options` is a frozen dataclass of typed values: the command
line makes one from texts, the library from keywords (`Options.checked`). Imports little: 64 ranks may start this at
once on two cores.
"""

from __future__ import annotations

import argparse
import inspect
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_args, get_type_hints

from core.arguments import refuse, refuse_choice, refuse_keyword, sequence
from core.errors import UserError
from drivers.options.output_files import OutputFile
from drivers.options.values import FLAG, NAMED_TYPES, PLAIN_TYPES, ValueType

if TYPE_CHECKING:
    from core.run.stop import Stop

CHECKPOINT_EVERY_S = 60.0

OptionEffect = Literal["work", "execution", "search", "place", "nothing"]
"""Effect of an option.

work
    The result: only runs with equal values are compared.
execution
    The speed alone: equal work has equal hashes for all values.
search
    Either of both; the search lists it in its parameters or execution settings.
place
    Place and output of a rank; the ranks of a job may differ in it.
nothing
    The instance (a record has its hash), checks, files and number of runs.
"""


class OptionDeclaration(NamedTuple):
    """Form of an option on the command line; its name, type and default are its field's."""

    help: str
    type: ValueType
    metavar: str | tuple[str, ...] | None
    choices: tuple[str, ...] | None
    group: OptionGroup
    decides: OptionEffect
    spelled: str | None
    nargs: int | str | None
    short: str | None


DeclaredOption = tuple["Field[Any]", OptionDeclaration]


class OptionGroup(NamedTuple):
    """Options of a group in the help; ``decides`` is their default effect."""

    title: str
    description: str | None = None
    decides: OptionEffect = "nothing"

    def option(
        self,
        default: object,
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
        """Declare one option of this group; return the default of a field of an `Options`.

        Parameters
        ----------
        default
            Default value, for ``%(default)s`` in the help.
        type
            Type of its values. `bool`: a flag, with a ``--no-`` form unless its default is False.
        metavar
            Placeholder of the value in the help.
        decides
            See `OptionEffect`; by default the group's.
        choices
            Allowed texts.
        spelled
            Its name on the command line if it is not the field's; without dashes it is a positional argument.
        nargs
            Number of values, as for `argparse`.
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

option = COMMON.option


@cache
def read_table(name: str) -> dict[str, dict[str, Any]]:
    """Read the groups of a table of options, each with its options (see `common.toml`)."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


def listed_choices(hint: object) -> tuple[str, ...]:
    """Return the texts of a `Literal`, also of one that may be None; nothing for any other type."""
    parts = get_args(hint)
    return tuple(part for part in parts if isinstance(part, str)) or sum(map(listed_choices, parts), ())


def declare_by_table(
    default: object, about: Mapping[str, Any], group: OptionGroup, values: Mapping[str, Any], hint: object
) -> Field[Any]:
    """Return the field of an option with the entry ``about`` of a table; ``hint`` is the type of the field."""
    choices = about.get("choices") or listed_choices(hint)
    declared: Field[Any] = group.option(
        default,
        about["help"].format_map({**about, **values}),
        {**NAMED_TYPES, **values}[about.get("type", "text")],
        tuple(about["metavar"]) if isinstance(about.get("metavar"), list) else about.get("metavar"),
        choices=values[choices] if isinstance(choices, str) else choices,
        **{key: about[key] for key in ("decides", "spelled", "nargs", "short") if key in about},
    )
    return declared


class DeclaredByTable:
    """Base class that declares fields by tables, unless a class declares them by `OptionGroup.option`.

    Fields of other dataclasses among the base classes become options too: their types and defaults are there, their
    help in the table. Options are listed in the order of the tables, those of a class before its base class's; others
    follow.

    Parameters
    ----------
    table
        Name of the table of a class; without it a class has only its base class's table.
    optional
        Types of further options, which are None by default, by name.
    **values
        Values missing in the table: words for the help by their names there, choices, and types of values; and
        ``takes``, the class of the library's objects that Python may pass as instances; ``hidden``, names of options
        of base classes that have no use in this class; its help leaves them out.
    """

    _table: ClassVar[str] = ""
    _values: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, table: str = "", optional: Mapping[str, object] = {}, **values: object) -> None:  # noqa: B006
        super().__init_subclass__()
        cls._table = table
        cls._values = {**cls._values, **values}
        cls.__annotations__ = {**inspect.get_annotations(cls), **optional}
        for name in optional:
            setattr(cls, name, None)

    @classmethod
    @cache
    def declared(cls) -> tuple[DeclaredOption, ...]:
        """Return all options with their declarations, in the order of the help."""
        fields: dict[str, Field[Any]] = dict(vars(cls)["__dataclass_fields__"])
        hints: dict[str, object] = {}
        groups: dict[str, dict[str, Any]] = {}
        entries: dict[str, dict[str, Any]] = {}
        for base in cls.__mro__:
            if not issubclass(base, DeclaredByTable):
                hints = get_type_hints(base) | hints
                continue
            hints = inspect.get_annotations(base) | hints
            for group, content in read_table(base._table).items() if base._table else ():
                about = {key: value for key, value in content.items() if not isinstance(value, dict)}
                groups[group] = about | groups.get(group, {})
                for name in (name for name in content if name in fields and name not in about):
                    entries[name] = {"group": group} | content[name] | entries.get(name, {})
        for name, about in entries.items():
            if "option" not in fields[name].metadata:
                group_of_option = OptionGroup(**groups[about["group"]])
                default, hint = fields[name].default, hints.get(name)
                fields[name] = declare_by_table(default, about, group_of_option, cls._values, hint)
                fields[name].name = name
        options = [fields[name] for name in dict.fromkeys((*entries, *fields))]
        return tuple((one, one.metadata["option"]) for one in options if "option" in one.metadata)

    @classmethod
    @cache
    def declared_by_name(cls) -> Mapping[str, DeclaredOption]:
        return {one.name: (one, about) for one, about in cls.declared()}


@dataclass(frozen=True)
class Placement:
    """Device of a run, without its backend.

    Attributes
    ----------
    device
        Number or name of the backend's device.
    cores
        Number of cores for the backends threads and joblib; None: all that the process may use.
    compiler
        Compiler of the kernels on CUDA devices; None: numba-CUDA, where it is installed.
    pin_cores
        True binds each rank to separate cores.
    """

    device: str = "0"
    cores: int | None = None
    compiler: Literal["numba", "nvrtc"] | None = None
    pin_cores: bool = False


@dataclass(frozen=True)
class StopOptions:
    """Stop criteria as options, None unless given."""

    iterations: int | None = None
    seconds: float | None = None
    target: int | None = None

    def chosen_stop(self) -> Stop:
        from core.run.stop import Stop

        given = {name: getattr(self, name, None) for name in Stop.__dataclass_fields__}
        return Stop(**{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True)
class HistoryOptions:
    """History of the best cost as options: in the record, and in files."""

    history: bool = False
    curve: OutputFile | None = None
    plot: OutputFile | None = None


@dataclass(frozen=True)
class Options(DeclaredByTable, Placement, table="common"):
    """Options of all workloads."""

    instance: str | None = None
    data: str | None = None
    repeats: int = 1
    measure: float | None = None
    rate_amount: int | None = None
    seed: int = 0
    seeds: tuple[int, ...] | None = None
    backend: str = "auto"
    record: OutputFile | None = None
    checkpoint: OutputFile | None = None
    resume: bool = False
    checkpoint_every: float = CHECKPOINT_EVERY_S
    peers: bool = False
    best_core_of: tuple[str, ...] = ()
    progress: bool | None = None
    quiet: bool = False

    @classmethod
    def checked(cls, values: Mapping[str, object], owner: str) -> Self:
        """Return options with these values, each checked.

        ``owner`` is the owner of the options in errors. Raises `UserError` for an unknown name or a wrong value.
        """
        declared = cls.declared_by_name()
        by_name: dict[str, Any] = {}
        for name, value in values.items():
            if name not in declared:
                refuse_keyword(name, value, declared, owner)
            option, about = declared[name]
            if value is option.default:
                continue
            takes = cls._values.get("takes")
            if name == "instance" and takes and not isinstance(value, (str, os.PathLike, int, type(None))):
                if type(value).__name__ != takes:
                    refuse(name, value, f"a name, a path, or an object of ok.{takes}")
                by_name[name] = getattr(value, "instance", value)
                continue
            if about.choices and isinstance(value, str | None) and value not in about.choices:
                refuse_choice(name, value, about.choices)
            if about.nargs is None:
                by_name[name] = about.type.check(name, value)
            else:
                by_name[name] = tuple(about.type.check(name, part) for part in sequence(name, value, "several values"))
            if missing := about.type.missing():
                raise UserError(f"{name}={value}: {missing}")
        return cls(**by_name)

    @property
    def names_instance(self) -> bool:
        """True if the options name the problem's data, so that it is not the default."""
        return bool(self.instance)

    @property
    def keeps_history(self) -> bool:
        """True if the search keeps its history, for the record or a file."""
        return any(vars(self).get(name) for name in HistoryOptions.__dataclass_fields__)

    def refuse_seed(self, own: str = "an instance has its own: uniform:20:seed=1") -> None:
        """Refuse a seed of a run without randomness; ``own`` names the place of random data's seed."""
        if self.seed or self.seeds:
            raise UserError(f"--seed changes nothing here: nothing is random ({own})")

    def refuse_without(self, condition: bool, needed: str, *names: str) -> None:
        """Refuse given options of these names, which are None by default, unless the condition holds."""
        for name in names:
            if getattr(self, name) is not None and not condition:
                raise UserError(f"--{name.replace('_', '-')} changes nothing here: expected with {needed}")

    def named(self) -> dict[str, Any]:
        """Values by the names of options, with names instead of objects: for records, and for ranks to compare."""
        values = {one.name: getattr(self, one.name) for one, _ in self.declared()}
        return {**values, "instance": getattr(self.instance, "name", self.instance)}

    def asked(self) -> dict[str, Any]:
        """Values of options that decide work and execution, other than defaults: equal for runs with equal options."""
        values = self.named()
        return {
            one.name: values[one.name]
            for one, about in self.declared()
            if about.decides in ("work", "execution", "search") and values[one.name] != one.default
        }

    def deciding(self, decides: OptionEffect) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one, declared in self.declared() if declared.decides == decides}


AnyOptions = TypeVar("AnyOptions", bound=Options)


def options_for_rank(settled: AnyOptions, own: AnyOptions) -> AnyOptions:
    """Return the first rank's options with this rank's place."""
    return replace(settled, **own.deciding("place"))


def option_flag(option: Field[Any]) -> str:
    declared: OptionDeclaration = option.metadata["option"]
    return declared.spelled or "--" + option.name.replace("_", "-")


def add_options(parser: argparse.ArgumentParser, kind: type[Options], leave_out: Sequence[str] = ()) -> None:
    """Add all options of a kind to a parser, by groups, without those in ``leave_out``."""
    groups: dict[OptionGroup, Any] = {COMMON: parser}
    for option, declared in kind.declared():
        if option.name in leave_out:
            continue
        if option.name in kind._values.get("hidden", ()):
            declared = declared._replace(help=argparse.SUPPRESS)
        if declared.group not in groups:
            groups[declared.group] = parser.add_argument_group(declared.group.title, declared.group.description)
        add_option(groups[declared.group], option, declared)


def add_option(group: argparse._ActionsContainer, option: Field[Any], declared: OptionDeclaration) -> None:
    """Add one declared option to a parser or a group of it."""
    flag = option_flag(option)
    how: dict[str, Any] = {"help": declared.help, "default": option.default}
    if declared.type is FLAG:
        how["action"] = "store_true" if option.default is False else argparse.BooleanOptionalAction
    else:
        how |= {"type": declared.type, "metavar": declared.metavar, "choices": declared.choices}
        how["nargs"] = declared.nargs
    if flag.startswith("-"):
        how["dest"] = option.name
    group.add_argument(*filter(None, (declared.short, flag)), **how)
