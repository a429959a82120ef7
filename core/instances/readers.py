"""Base of all instance readers: load by path, name or generator specification, and keep the result."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from core.instances import folders
from core.instances.errors import InstanceError
from core.instances.files import describe_non_file, read_text
from core.instances.instance_cache import cached, file_key

Instance = TypeVar("Instance")


class InstanceFormat(NamedTuple):
    """A text format of instances.

    ``contents`` describes a file in messages: "a QAPLIB file". ``suffixes`` are those of its files' names. ``parse``
    takes a text, a keyword `path` for messages, and the keywords given to the reader; it returns an instance, or raises
    `InstanceError`.
    """

    contents: str
    suffixes: tuple[str, ...]
    parse: Callable[..., Any]


class InstanceReader(Generic[Instance]):
    """Load, generate and read the instances of one problem.

    Parameters
    ----------
    formats : InstanceFormat
        Formats of its files; the first one reads files of other suffixes, too.
    expected
        Allowed texts, for messages: "a file, or a generator such as random:40".
    subfolders
        Places of named instances in each folder of the search path; without them, names are not looked up there.
    specification
        Matches the texts that `generate` takes, well-formed or not.
    published
        Names that `generate` knows, for which no file is needed.
    generate
        Function of a specification and the keywords given to the reader; returns an instance, or raises
        `InstanceError`.
    missing
        Function of a text and a data folder; returns the error for a text that is no instance.
    """

    def __init__(
        self,
        *formats: InstanceFormat,
        expected: str,
        subfolders: tuple[str, ...] = (),
        specification: re.Pattern[str] | None = None,
        published: Container[str] = (),
        generate: Callable[..., Instance] | None = None,
        missing: Callable[[str, str | os.PathLike | None], InstanceError] | None = None,
    ) -> None:
        self.formats, self.expected, self.subfolders = formats, expected, subfolders
        self.specification, self.published, self.generate = specification, published, generate
        self.missing = missing or self._missing
        self.suffixes = tuple(suffix for form in formats for suffix in form.suffixes)

    def load(self, spec: str, data: str | os.PathLike | None = None, **parameters: object) -> Instance:
        """Return an instance by path, name or generator specification.

        Raises `InstanceError` if nothing has that name, `data` is no folder, or a file is invalid.

        Parameters
        ----------
        spec
            A file; a name, looked up in `data`, in the folders of $TSPLIB_DIR, and in the user's cache; or a
            specification such as "random:40:seed=1", unless a file is called so. An instance is returned as it is.
        data
            Folder of instances, searched first.
        **parameters
            Passed to `parse` and `generate`.
        """
        if hasattr(spec, "sha256"):
            return spec  # type: ignore[return-value]
        if data is not None and not os.path.isdir(data):
            raise InstanceError(data, None, "no such folder", "a folder of instances")
        for place in (spec,) if data is None else (spec, os.path.join(data, spec)):
            if os.path.isfile(place):
                return self.read(place, **parameters)
        if self.specification is None or not self.specification.fullmatch(spec):
            named = self.subfolders and os.path.basename(spec) == spec
            path = folders.find(spec, data, self.subfolders, (*self.suffixes, "")) if named else None
            if path is not None:
                return self.read(os.fspath(path), **parameters)
            if spec not in self.published:
                raise self.missing(spec, data)
        assert self.generate is not None
        generate = self.generate
        return cached((self, spec, repr(parameters)), lambda: generate(spec, **parameters))

    def find(self, name: str, data: str | os.PathLike | None = None) -> Path | None:
        """Return the local file of a named instance, or None; raises `InstanceError` if `data` is not a folder."""
        return folders.find(name, data, self.subfolders, self.suffixes)

    def read(self, path: str | os.PathLike, **parameters: object) -> Instance:
        """Return the instance of a file, which may be packed with gzip."""
        return cached(file_key(path, self, repr(parameters)), lambda: self._read(path, **parameters))

    def _read(self, path: str | os.PathLike, **parameters: object) -> Instance:
        form = self._format_of(os.fspath(path))
        return form.parse(read_text(path, form.contents), path=path, **parameters)

    def _format_of(self, path: str) -> InstanceFormat:
        return next((form for form in self.formats if path.endswith(form.suffixes)), self.formats[0])

    def path_error(self, spec: str) -> InstanceError | None:
        """Return the error for a text that can only be a path: it has a folder or a suffix, or exists."""
        if os.path.basename(spec) == spec and not spec.endswith(self.suffixes) and not os.path.exists(spec):
            return None
        return InstanceError(spec, None, describe_non_file([spec]), self._format_of(spec).contents)

    def _missing(self, spec: str, data: str | os.PathLike | None) -> InstanceError:
        if self.subfolders and os.path.basename(spec) == spec and not os.path.exists(spec):
            fault = f"no such instance in {folders.describe_search_path(data)}"
        else:
            fault = describe_non_file([spec, os.path.join(data or "", spec)])
        return InstanceError(spec, None, fault, self.expected)
