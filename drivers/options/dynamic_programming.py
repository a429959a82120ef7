"""Options of dynamic programming: what the drivers of all its problems understand."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from core.arguments import integer
from core.errors import UserError
from drivers.options.declaration import OptionGroup, Options, mapping_option
from drivers.options.values import ValueType, folder

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
"""Bytes of the suffixes of a size."""


DP = OptionGroup("dynamic programming", decides="way")
AnyDp = TypeVar("AnyDp", bound="DpOptions")


def tiling_option(tilings: tuple[str, ...]) -> Any:
    """Declare `--tiling`: ways to cut the table that a problem offers, the first of which is the default."""
    return DP.option(
        tilings[0],
        "division of the table into launches; none: one launch per wave, as in the paper (%(default)s)",
        choices=tilings,
    )


def parse_memory_size(text: str) -> int:
    """Read a number of bytes: 4096, 64K, 512M, 1.5G (powers of 1024); 0 for any other text."""
    matched = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    return int(float(matched[1]) * UNITS[matched[2].upper()]) if matched and len(text) < 24 else 0


memory_size = ValueType(
    "bytes, with K, M, G or T as in 512M or 1.5G", lambda name, value: integer(name, value, 1), parse_memory_size
)


@dataclass(frozen=True)
class DpOptions(Options):
    """What dynamic programming understands."""

    trace: bool = DP.option(
        True,
        "trace a solution from stored decisions, instead of its value alone (default: --trace)",
        bool,
        decides="work",
    )
    mapping: str = mapping_option(
        "one launch per wave; all its cells, not decision bits, are copied to the host during the next waves",
        DP,
    )
    tiling: str = tiling_option(("auto", "none"))
    device_memory: int | None = DP.option(
        None,
        "device memory for stored decisions in bytes, as in 512M or 1.5G; older ones are copied to the host during "
        "the computation (default: half of the device's memory)",
        memory_size,
        "SIZE",
    )
    spill: str | None = DP.option(
        None,
        "write decisions (with --mapping published: cells) that leave the device to files in DIR, instead of host "
        "memory",
        folder,
        "DIR",
        decides="place",
    )
    profile: bool = OptionGroup("profile").option(
        False,
        "first profile one run under Nsight Compute on CUDA, by default with the paper's size, and compare global "
        "load efficiency, warp execution efficiency and instructions per clock with the paper's",
        bool,
    )

    @property
    def sized(self) -> bool:
        """True if the options say what to compute."""
        raise NotImplementedError

    def refuse_idle(self) -> None:
        """Refuse options that would change nothing.

        Raises
        ------
        UserError
            A folder for decisions, and none are kept; what the paper's mapping decides itself.

        """
        if self.spill is not None and not self.trace:
            raise UserError("--spill changes nothing here: expected with --trace, which stores decisions")
        if not self.published:
            return
        if self.tiling not in ("auto", "none"):
            raise UserError(f"--tiling {self.tiling} with --mapping published: expected none, one launch per wave")
        if self.device_memory is not None:
            raise UserError(
                "--device-memory changes nothing with --mapping published: all cells are copied to the host, and the "
                "device keeps only those that later waves read"
            )

    @property
    def published(self) -> bool:
        """Whether the work is laid on the device as the paper describes it."""
        return self.mapping == "published"

    def by_mapping(self: AnyDp) -> AnyDp:
        """These options with the tiling that the mapping means: the paper's is a launch for every wave."""
        return replace(self, tiling="none") if self.published else self
