"""Options of dynamic programming: what the drivers of all its problems understand."""

from __future__ import annotations

import argparse
import os
import re

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
"""Bytes of the suffixes of a size."""


def add_dp_options(parser: argparse.ArgumentParser, tilings: tuple[str, ...]) -> None:
    """Add `--trace/--no-trace --tiling --device-memory --spill`.

    Parameters
    ----------
    parser
        Gets a group of its own for them.
    tilings
        Ways to cut the table that the problem offers; the first is the default.

    """
    group = parser.add_argument_group("dynamic programming")
    group.add_argument(
        "--trace",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="find a solution, from decisions that are kept, and not its value alone (default: --trace)",
    )
    group.add_argument(
        "--tiling",
        choices=tilings,
        default=tilings[0],
        help="how the table is cut into launches; none: a launch for every wave, as in the paper (%(default)s)",
    )
    group.add_argument(
        "--device-memory",
        type=size,
        metavar="SIZE",
        help="bytes of the device, as in 512M or 1.5G, that kept decisions may take; older ones are copied to the "
        "host while later ones are computed (default: half of the device's memory)",
    )
    group.add_argument(
        "--spill",
        type=folder,
        metavar="DIR",
        help="decisions that leave the device go to files in DIR, not to the host's memory",
    )


def refuse_idle_options(options: argparse.Namespace) -> None:
    """Refuse options of `add_dp_options` that would change nothing.

    Raises
    ------
    UserError
        A folder for decisions, and none are kept.

    """
    from core.errors import UserError

    if options.spill is not None and not options.trace:
        raise UserError("--spill changes nothing here: expected with --trace, which keeps decisions")


def size(text: str) -> int:
    """Read a number of bytes, of at least 1, as an `argparse` type: 4096, 64K, 512M, 1.5G (powers of 1024)."""
    matched = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    count = int(float(matched[1]) * UNITS[matched[2].upper()]) if matched and len(text) < 24 else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"expected bytes, with K, M, G or T as in 512M or 1.5G, found {text!r}")
    return count


def folder(text: str) -> str:
    """Read the name of a folder in which files can be made, as an `argparse` type."""
    if not os.path.isdir(text) or not os.access(text, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(f"expected a folder in which files can be made, found {text!r}")
    return text
