"""A solver of the longest common subsequence, of its length alone: rapidfuzz."""

from __future__ import annotations

import importlib

from core.tables.lcs.problem import StringPair
from drivers.peers.peer import PeerAnswer, PeerError, PeerPackage, PeerSubject


def length(pair: StringPair, value: int) -> int:
    """Return the length, unless it is impossible for this pair; no scorer can measure it."""
    objection = pair.objection(value)
    if objection is not None:
        raise PeerError(f"length {value}; the scorer finds {objection}")
    return value


STRINGS = PeerSubject(length, StringPair("minimal", b"AB", b"BA"), largest_is_best=True)


def texts(pair: StringPair) -> list[bytes | list[int]]:
    return [codes.tobytes() if codes.itemsize == 1 else codes.tolist() for codes in (pair.a, pair.b)]


def with_rapidfuzz(pair: list[bytes | list[int]], seconds: float, seed: int) -> PeerAnswer:
    """Bit-parallel C++ on one core, without seed and time limit."""
    return PeerAnswer(int(importlib.import_module("rapidfuzz.distance").LCSseq.similarity(*pair)), True)


RAPIDFUZZ = PeerPackage("rapidfuzz", STRINGS, "rapidfuzz>=3,<4", texts, with_rapidfuzz)
