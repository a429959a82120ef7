"""Cache of packed launches: a repeated launch is not checked again, and its arguments stay packed.

The checks of a launch of 30 arguments take Python some 35 us, much longer than a device takes to begin. Launches are
equivalent if they have the same kernel, team size, buffers, constants and sizes of rows; other numbers may differ.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from backends.device import Launch, PackedLaunch
from core.lang.bundle_forms import FORM_SUFFIX, BundleForm, RowsOf
from core.lang.bundles import Rows, sizes_of_rows, unbundled
from core.lang.types import BY_DTYPE, Array, Const, boolean, fits

if TYPE_CHECKING:
    from core.lang import Kernel

MAX_LAUNCHES = 256
"""Most launches kept for a kernel; one more clears them all, since most of their buffers no longer exist."""


class CachedLaunch(NamedTuple):
    """A packed launch and the types of its numbers that are no integers."""

    packed: PackedLaunch
    unlike_integers: list[tuple[int, Any]]

    def put(self, numbers: list[Any]) -> bool:
        """Store numbers of the host; returns False if one does not fit."""
        for k, scalar in self.unlike_integers:
            if not fits(scalar, numbers[k]):
                return False
            numbers[k] = int(numbers[k]) if scalar is boolean else scalar(numbers[k])
        try:
            self.packed.put(numbers)
        except struct.error:
            return False
        return True


class LaunchReader:
    """Reads launches of one kernel ``revision`` with arguments of the same classes.

    ``read`` returns, from team size and arguments, a key that is equal for equivalent launches, and the other numbers.
    ``numbers`` has their places among the arguments of a `backends.device.Launch`, and their types. ``kept`` has
    launches by their keys, None for those seen once. Keys have serial numbers of buffers: they keep nothing alive, and
    a new buffer at an old address is not mistaken for the old one.
    """

    def __init__(self, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        self.revision = kernel.revision
        kinds, _, forms = unbundled(kernel, arguments)
        key, paths = ["lanes"], list[tuple[str, bool]]()
        names = [name for name in kernel.signature if name != "return"]
        for k, name in enumerate(names):
            form = forms.get(name + FORM_SUFFIX)
            if form is None:
                paths.append((f"a{k}", False))
            elif isinstance(kernel.signature[name], RowsOf):
                key.append(f"a{k}.__class__")
                paths += [(f"a{k}.count", True), *_fields(f"a{k}.bundle", form, key)]
            else:
                paths += _fields(f"a{k}", form, key)
        self.numbers: list[tuple[int, Any]] = []
        numbers: list[str] = []
        place = 0
        for (path, sizes_rows), kind in zip(paths, kinds.values(), strict=True):
            if isinstance(kind, Array):
                key.append(f"{path}.serial")
            elif isinstance(kind, Const) or sizes_rows:
                key += [f"{path}.__class__", path]  # the class first: 1 == True, and i32(1) == u32(1) is an error
            else:
                numbers.append(path)
                self.numbers.append((place, kind))
            place += not isinstance(kind, Const)
        parameters = ", ".join(["lanes", *(f"a{k}" for k in range(len(names)))])
        scope: dict[str, Any] = {}
        exec(f"def read({parameters}):\n    return ({', '.join(key)},), [{', '.join(numbers)}]", scope)
        self.read: Callable[..., tuple[Any, list[Any]]] = scope["read"]
        self.kept: dict[Any, CachedLaunch | None] = {}


def _fields(path: str, form: BundleForm, key: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield the path of each value of a bundle, with True for row counts, and add the form's parts to the key."""
    variable = path.replace(".", "_") + "_"
    key += [f"({variable} := {path}).__class__", f"{variable}.__placed__"]
    sizes = set(sizes_of_rows(form.bundle).values())
    for field, kind in form.kinds:
        if isinstance(kind, BundleForm):
            yield from _fields(f"{variable}.{field}", kind, key)
        else:
            yield f"{variable}.{field}", field in sizes


class LaunchCache:
    """A backend's packed launches: readers by kernel, and by the classes of its arguments."""

    def __init__(self) -> None:
        self.readers: WeakKeyDictionary[Kernel, dict[Any, LaunchReader | None]] = WeakKeyDictionary()

    def forget_launches(self) -> None:
        """Drop all packed launches with their buffers, and keep the readers."""
        for readers in self.readers.values():
            for reader in filter(None, readers.values()):
                reader.kept.clear()

    def find(self, kernel: Kernel, team_size: int, arguments: tuple[Any, ...]) -> CachedLaunch | None:
        """Return the packed launch equivalent to this one, with its numbers; None if it must be bound first."""
        readers = self.readers.get(kernel)
        reader = readers.get(_classes(arguments)) if readers is not None else None
        if reader is None or reader.revision != kernel.revision:
            return None
        try:
            key, numbers = reader.read(team_size, *arguments)
            cached = reader.kept.get(key)
        except (AttributeError, TypeError):  # not a buffer where one is expected, or a list where a constant is
            return None
        return cached if cached is not None and cached.put(numbers) else None

    def keep(
        self,
        kernel: Kernel,
        team_size: int,
        arguments: tuple[Any, ...],
        launch: Launch,
        pack: Callable[[Launch, list[int]], PackedLaunch],
    ) -> PackedLaunch:
        """Pack a launch from its second call on, since many launches are made only once."""
        classes = _classes(arguments)
        readers = self.readers.setdefault(kernel, {})
        if classes not in readers:
            readers[classes] = None
            return pack(launch, [])
        reader = readers[classes]
        is_new = reader is None
        if reader is None or reader.revision != kernel.revision:
            reader = readers[classes] = LaunchReader(kernel, arguments)
        key, _ = reader.read(team_size, *arguments)
        if key not in reader.kept and not is_new:
            if len(reader.kept) >= MAX_LAUNCHES:
                reader.kept.clear()
            reader.kept[key] = None
            return pack(launch, [])
        unlike_integers = []
        for k, (place, kind) in enumerate(reader.numbers):
            scalar = boolean if kind is boolean else BY_DTYPE[launch.arguments[place].dtype]
            if scalar.kind in "bf":
                unlike_integers.append((k, scalar))
        packed = pack(launch, [place for place, _ in reader.numbers])
        reader.kept[key] = CachedLaunch(packed, unlike_integers)
        return packed


def _classes(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the classes of arguments; for rows that of their bundle."""
    return tuple([a.bundle.__class__ if a.__class__ is Rows else a.__class__ for a in arguments])
