"""Taillard's uniform quadratic assignment problems: tai10a to tai100a of QAPLIB, and any other size and seeds.

Source: E. D. Taillard, "Robust taboo search for the quadratic assignment problem", 1991, with the seeds of QAPLIB's
files, whose entries are reproduced.
"""

import re

import numpy as np

from core.instances.errors import InstanceError
from core.instances.random_words import MODULUS, lehmer_words
from core.qap.instance import MOST_FACILITIES, QapInstance

SPECIFICATION = re.compile("taillard(:.*)?", re.DOTALL)
"""Specifications of this generator, well-formed or not."""

# By name: size, then the seeds of flows (the file's first matrix) and distances.
SEEDS = {
    "tai10a": (10, 457263688, 123456789),
    "tai12a": (12, 792100592, 123456789),
    "tai15a": (15, 1665697315, 123456789),
    "tai17a": (17, 290326494, 123456789),
    "tai20a": (20, 261789203, 123456789),
    "tai25a": (25, 162518201, 123456789),
    "tai30a": (30, 1217840750, 123456789),
    "tai35a": (35, 1304540207, 123456789),
    "tai40a": (40, 1364951216, 123456789),
    "tai50a": (50, 123456789, 148469109),
    "tai60a": (60, 563836558, 123456789),
    "tai80a": (80, 1768973698, 123456789),
    "tai100a": (100, 123456789, 443596051),
}


def matrix(n: int, seed: int) -> np.ndarray:
    """Return a symmetric matrix of uniform integers from 0 to 99, the diagonal 0: (n, n) int32.

    The words fill the upper triangle row by row.
    """
    rows, columns = np.triu_indices(n, 1)
    entries = np.zeros((n, n), dtype=np.int32)
    entries[rows, columns] = 100 * lehmer_words(seed, len(rows)) // MODULUS
    return entries + entries.T


def generate(spec: str) -> QapInstance:
    """Return one of QAPLIB's instances by name, "tai30a", or any other as "taillard:N:seeds=FLOWS,DISTANCES".

    Raises `InstanceError` for an unknown name, or a size or seed out of range.
    """
    n, flows, distances = SEEDS[spec] if spec in SEEDS else _parameters(spec)
    source = f"Taillard's generator, seeds {flows} and {distances}"
    return QapInstance(spec, matrix(n, flows), matrix(n, distances), source=source)


def _parameters(spec: str) -> tuple[int, int, int]:
    matched = re.fullmatch(r"taillard:([0-9]{1,19}):seeds=([0-9]{1,19}),([0-9]{1,19})", spec)
    if matched is None:
        raise InstanceError(
            spec, None, "no such generator", f"taillard:N:seeds=FLOWS,DISTANCES, or one of {', '.join(SEEDS)}"
        )
    n, flows, distances = map(int, matched.groups())
    if not 1 <= n <= MOST_FACILITIES:
        raise InstanceError(spec, None, f"size {n}", f"an integer from 1 to {MOST_FACILITIES}")
    for seed in (flows, distances):
        if not 1 <= seed < MODULUS:
            raise InstanceError(spec, None, f"seed {seed}", f"an integer from 1 to {MODULUS - 1}")
    return n, flows, distances
