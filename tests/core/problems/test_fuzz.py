"""Ten thousand damaged files: each is a valid instance or one InstanceError, within a second of work."""

import time
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.problems import tsp, tsplib
from core.problems.errors import InstanceError
from tests.core.problems import samples

SHARED = Path(__file__).parents[4] / "shared" / "data"
SMALL = ["tsplib/burma14.tsp", "tsplib/gr17.tsp", "tsplib/bayg29.tsp", "tsplib/att48.tsp", "vrp/eil7.vrp"]
REAL = [SHARED / name for name in SMALL]
TEXTS = [*samples.ALL, *(file.read_text() for file in REAL if file.is_file())]

NUMBERS = ["nan", "inf", "-inf", "-1", "0", "3", "-0.0", "1_000", "0x10", "1e-400", "1e308", "1e999"]
KEYWORDS = ["EOF", "TSP", "ATSP", "EXPLICIT", "GEO", "FULL_MATRIX", "UPPER_COL", "TOUR_SECTION", "TYPE:"]
CHARACTERS = ["\x00", "\x0c", "\x1a", "\u0663", "\u2028", "\r", ".", ":"]

TOKENS = st.one_of(
    st.sampled_from([*NUMBERS, *KEYWORDS, *CHARACTERS, "100000", str(2**31)]),
    st.integers().map(str),
    st.floats().map(repr),
    st.text(max_size=8),
)
PLACES = st.integers(0, 10**6)
DAMAGE = st.lists(
    st.tuples(
        st.sampled_from(["cut", "drop line", "double line", "swap lines", "line", "token", "character"]),
        PLACES,
        PLACES,
        TOKENS,
    ),
    min_size=1,
    max_size=4,
)


def damaged(text: str, damage: list[tuple[str, int, int, str]]) -> str:
    """Return the text after each damage, at places taken modulo its size."""
    for kind, place, other, token in damage:
        lines = text.split("\n")
        here, there = place % len(lines), other % len(lines)
        if kind == "cut":
            text = text[: place % (len(text) + 1)]
            continue
        if kind == "character":
            place %= len(text) + 1
            text = text[:place] + token + text[place + 1 :]
            continue
        if kind == "drop line":
            del lines[here]
        elif kind == "double line":
            lines.insert(there, lines[here])
        elif kind == "swap lines":
            lines[here], lines[there] = lines[there], lines[here]
        elif kind == "line":
            lines.insert(here, token)
        else:
            words = lines[here].split(" ")
            words[other % len(words)] = token
            lines[here] = " ".join(words)
        text = "\n".join(lines)
    return text


@settings(max_examples=10_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(TEXTS), DAMAGE)
def test_damaged_file_is_a_valid_instance_or_one_error(text, damage):
    text = damaged(text, damage)
    begin = time.process_time()
    try:
        instance = tsplib.parse(text, path="fuzzed.tsp")
        matrix = instance.distances
    except InstanceError as error:
        assert str(error).startswith("fuzzed.tsp:") and error.line >= 1
        assert error.line <= text.replace("\r", "\n").count("\n") + 1
        assert error.found and error.expected and str(error).isprintable()
    else:
        assert matrix.shape == (instance.n, instance.n) and (matrix == matrix.T).all()
        assert matrix.dtype in (np.uint16, np.uint32) and not matrix.diagonal().any()
        identity = np.arange(instance.n)
        assert tsp.tour_length(matrix, identity) == instance.tour_length(identity) >= 0
    # the processor's time, so that a busy machine fails nobody
    assert time.process_time() - begin < 1.0
