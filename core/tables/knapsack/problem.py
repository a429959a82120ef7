"""The 0-1 knapsack problem: instances, their scorer, generators by seed and readers of the common text formats.

Choose items with the largest total value and a total weight of at most the capacity. Generators: the one of
`oconnell2014`, section V.A.2, and the classes of D. Pisinger, "Where are the hard knapsack problems?", Computers &
Operations Research 32 (2005), section 2; the files of that article (knapPI_*.csv) are read too.
"""

from __future__ import annotations

import hashlib
import os
import re

import numpy as np

from core.arguments import Numbers, frozen
from core.errors import warn_caller
from core.instances.errors import InstanceError, escape_unprintable, require_integer
from core.instances.instance_cache import cached
from core.instances.limits import LARGEST_SEED, integer_array
from core.instances.readers import InstanceFormat, InstanceReader
from core.instances.tokens import lines_of, parse_integer, quoted

MOST_CAPACITY = 2**30 - 1
"""The sum of two weights and a capacity stays within 32 bits."""
MOST_ITEMS = 1_000_000
LARGEST = 2**32 - 1
"""Largest weight and value: both are kept in 32 bits."""
RANGE = 1000
"""Pisinger's R: the largest number drawn in most of his classes."""
MOST_RANGE = 10_000_000
PAPER = "paper"
GENERATED_NAME = r"([a-z-]+):(\d{1,8})(?::(\d{1,12}))?:seed=(\d{1,20})(?::range=(\d{1,9}))?"
"""Name of a generated instance: class, items, capacity, seed, range."""
CLASSES = (
    PAPER,
    "uncorrelated",
    "weakly-correlated",
    "strongly-correlated",
    "inverse-strongly-correlated",
    "almost-strongly-correlated",
    "subset-sum",
    "similar-weights",
)


class Knapsack:
    """Items with integer weights and values, and a capacity.

    Parameters
    ----------
    weights, values : array_like, shape (n,), integers from 0 to 2**32 - 1
    optimum
        The largest value, if known.
    source
        Origin of the instance.

    Attributes
    ----------
    n : int
        Number of items, at least 1.
    weights, values : ndarray, shape (n,), uint32
    sha256 : str
        Digest of the content: equal for files that differ in white space or name only.

    Raises
    ------
    InstanceError
        Unequal numbers of weights and values, no items or too many, or numbers that are no integers or out of range.
    """

    def __init__(
        self,
        name: str,
        weights: Numbers,
        values: Numbers,
        capacity: int,
        *,
        optimum: int | None = None,
        source: str = "given by the caller",
    ) -> None:
        self.name, self.source, self.optimum = name, source, optimum
        self.weights, self.values = _checked(name, "weight", weights), _checked(name, "value", values)
        self.n = len(self.weights)
        if len(self.values) != self.n:
            raise InstanceError(name, None, f"{self.n} weights, {len(self.values)} values", "as many of both")
        require_integer(name, f"capacity {capacity}", capacity, 0, MOST_CAPACITY)
        self.capacity = int(capacity)
        columns = [column.astype("<u4").tobytes() for column in (self.weights, self.values)]
        header = f"knapsack {self.n} {self.capacity}\n".encode()
        self.sha256 = hashlib.sha256(b"".join([header, *columns])).hexdigest()

    def __repr__(self) -> str:
        return f"Knapsack({self.name!r}, n={self.n}, capacity={self.capacity})"

    def weight_and_value(self, chosen: np.ndarray) -> tuple[int, int]:
        """Return the total weight and value of a selection, bool, shape (n,); raises `ValueError` for another array."""
        selection = np.asarray(chosen)
        if selection.shape != (self.n,) or selection.dtype != bool:
            raise ValueError(
                f"found a selection of shape {selection.shape} and {selection.dtype}, expected ({self.n},) and bool"
            )
        return int(self.weights[selection].sum(dtype=np.uint64)), int(self.values[selection].sum(dtype=np.uint64))

    def by_efficiency(self) -> np.ndarray:
        """Return the item numbers in order of value per weight, largest first; ties in order of number: (n,) int64.

        Items without weight come first.
        """
        weights, values = self.weights.astype(np.uint64), np.where(self.weights > 0, self.values, 0).astype(np.uint64)
        # Unequal fractions of 32-bit numbers differ by more than 2**-64: two divisions of 32 bits order them.
        quotients, remainders = np.divmod(values << np.uint64(32), np.maximum(weights, 1))
        following = (remainders << np.uint64(32)) // np.maximum(weights, 1)
        return np.lexsort((~following, ~quotients, weights > 0))

    def useful_items(self) -> np.ndarray:
        """Return the numbers of items that fit and have a value, by weight, ties by number: int64."""
        order = np.argsort(self.weights, kind="stable")
        return np.asarray(order[(self.weights[order] <= self.capacity) & (self.values[order] > 0)], np.int64)

    def upper_bound(self) -> int:
        """Return Dantzig's bound: the value if items could be cut, rounded down."""
        order = self.by_efficiency()
        weights, values = self.weights[order].astype(np.int64), self.values[order].astype(np.int64)
        whole_items = int(np.searchsorted(np.cumsum(weights), self.capacity, side="right"))
        total, free = int(values[:whole_items].sum()), self.capacity - int(weights[:whole_items].sum())
        if whole_items == self.n:
            return total
        return total + free * int(values[whole_items]) // int(weights[whole_items])

    def best_value(self) -> int:
        """Return the largest value that fits, by plain dynamic programming over all capacities in 64 bits."""
        row = np.zeros(self.capacity + 1, np.uint64)
        for weight, value in zip(self.weights.tolist(), self.values, strict=True):
            if weight <= self.capacity:
                row[weight:] = np.maximum(row[weight:], row[: len(row) - weight] + np.uint64(value))
        return int(row[-1])


def generate(kind: str, items: int, capacity: int | None = None, seed: int = 0, largest: int = RANGE) -> Knapsack:
    """Return a random instance; the same for the same arguments on every machine.

    Random words are the raw output of NumPy's Philox4x64 with the seed as its key; NumPy guarantees its sequence. The
    upper half of a word picks a number, all in integers. Raises `InstanceError` for an unknown class, or an argument
    out of range.

    Parameters
    ----------
    kind
        ``paper``: weights and values from 1 to below 30 % of the capacity; or one of Pisinger's classes.
    items
        Number of items, 1 to 1,000,000.
    capacity
        Required for ``paper``; by default half of the weight of all items.
    largest
        Pisinger's R, 1000 to 10,000,000; ``similar-weights`` and ``paper`` do not use it.
    """
    name = f"{kind}:{items}" + ("" if capacity is None else f":{capacity}") + f":seed={seed}"
    for noun, number, low, high in (
        ("number of items", items, 1, MOST_ITEMS),
        ("seed", seed, 0, LARGEST_SEED),
        ("range", largest, 1000, MOST_RANGE),
    ):
        require_integer(name, f"{noun} {number}", number, low, high)
    if kind not in CLASSES:
        raise InstanceError(name, None, f"class {quoted(kind)}", f"one of {', '.join(CLASSES)}")
    if kind == PAPER:
        described = "no capacity" if capacity is None else f"capacity {capacity}"
        require_integer(name, described, capacity, 4, MOST_CAPACITY)
    elif largest != RANGE:
        name += f":range={largest}"
    return cached((generate, name), lambda: _draw(name, kind, items, capacity, seed, largest))


def _draw(name: str, kind: str, items: int, capacity: int | None, seed: int, largest: int) -> Knapsack:
    words = np.random.Philox(key=seed).random_raw(2 * items)
    if kind == PAPER:
        assert capacity is not None
        weights, values = _drawn(words, 1, (3 * capacity - 1) // 10).reshape(2, items)
    else:
        weights, values = _pisinger(kind, words[:items], words[items:], largest)
    if capacity is None:
        capacity = int(weights.sum()) // 2
    return Knapsack(name, weights, values, capacity, source="generated from its name")


def _pisinger(kind: str, first: np.ndarray, second: np.ndarray, largest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and values of a class, as int64; R is `largest`."""
    drawn, tenth = _drawn(first, 1, largest), largest // 10
    if kind == "uncorrelated":
        return drawn, _drawn(second, 1, largest)
    if kind == "weakly-correlated":
        return drawn, np.maximum(1, drawn + _drawn(second, -tenth, tenth))
    if kind == "strongly-correlated":
        return drawn, drawn + tenth
    if kind == "inverse-strongly-correlated":
        return drawn + tenth, drawn
    if kind == "almost-strongly-correlated":
        return drawn, drawn + tenth + _drawn(second, -(largest // 500), largest // 500)
    if kind == "subset-sum":
        return drawn, drawn
    return _drawn(first, 100_000, 100_100), _drawn(second, 1, 1000)


def _drawn(words: np.ndarray, low: int, high: int) -> np.ndarray:
    """Return integers from `low` to `high` as int64; the bias of the multiplication is < (high - low + 1) / 2**32."""
    return low + ((words >> np.uint64(32)) * np.uint64(high - low + 1) >> np.uint64(32)).astype(np.int64)


# --- files ---

ORDERS = ("value-weight", "weight-value")
_SIZE, _CAPACITY = {"number of items": (1, MOST_ITEMS)}, {"capacity": (0, MOST_CAPACITY)}
_NUMBER, _ITEM = {"number": (0, MOST_ITEMS)}, {"value": (0, LARGEST), "weight": (0, LARGEST)}


def load(spec: str | Knapsack, data: str | os.PathLike | None = None) -> Knapsack:
    """Return an instance, or that of a file, at a path or in ``data``, unpacked if its name ends in .gz.

    A generated instance has a name such as `paper:1500:50000:seed=0`. FILE:2 is the second instance of the file, and
    FILE:weight-value a file with the weights first (see `parse`). Raises `InstanceError` if there is no such file, or
    it is invalid.
    """
    if isinstance(spec, Knapsack):
        return spec
    if drawn := re.fullmatch(GENERATED_NAME, spec):
        capacity = int(drawn[3]) if drawn[3] else None
        return generate(drawn[1], int(drawn[2]), capacity, int(drawn[4]), int(drawn[5] or RANGE))
    file, _, part = spec.rpartition(":")
    is_whole = os.path.isfile(spec) or not (part in ORDERS or re.fullmatch("[0-9]{1,9}", part))
    return READER.load(spec, data) if is_whole else READER.load(file, data, part=part)


def parse(text: str, path: str | os.PathLike = "text", part: str = "") -> Knapsack:
    """Return the instance of a text in one of four layouts. Empty lines are ignored; commas are spaces.

    A line ``n capacity``, or a line for each (kplib), then n lines ``value weight``, then nothing or n zeros and ones,
    which are ignored. A line ``n``, then n lines ``number value weight``, then ``capacity`` (Pisinger's generator).
    With the part "weight-value" the weight comes first.

    Pisinger's collections have a name, lines ``n 50``, ``c 995``, ``z 8373`` and ``time 0.00``, then n lines
    ``number,value,weight,x``, then ``-----``. If z is not 0, it is the optimum. ``part`` is the number of an instance,
    by default 1. ``path`` names the text in errors, and the instance. Raises `InstanceError` with the line for another
    format.
    """
    lines = _Lines(text, path)
    is_collection = len(lines.rows) > 1 and lines.rows[1][2][:1] == ["n"]
    return (_read_pisinger if is_collection else _read_plain)(lines, part)


READER: InstanceReader[Knapsack] = InstanceReader(
    InstanceFormat("a file of a knapsack instance", (), parse), expected="a file of a knapsack instance"
)
read = READER.read


class _Lines:
    """Lines of a text that are not empty, taken one by one: number, text and words of each."""

    def __init__(self, text: str, path: str | os.PathLike) -> None:
        self.path = path
        rows = ((number, row.strip(), row.replace(",", " ").split()) for number, row in enumerate(lines_of(text), 1))
        self.rows = [row for row in rows if row[1]]
        self.at = 0

    def error(self, found: str, expected: str) -> InstanceError:
        return InstanceError(self.path, self.rows[self.at - 1][0] if self.rows else 1, found, expected)

    def next(self, expected: str) -> tuple[int, str, list[str]]:
        if self.at == len(self.rows):
            raise self.error("the end of the file", expected)
        self.at += 1
        return self.rows[self.at - 1]

    def integers(self, columns: dict[str, tuple[int, int]], where: str = "", key: str = "") -> list[int]:
        """Return the numbers of the next line, each within its limits, after a key if one is given."""
        expected = f"{key} {', '.join(columns)}{where}".strip()
        number, row, words = self.next(expected)
        if words[: -len(columns)] != key.split() or len(words) < len(columns):
            raise self.error(quoted(row), expected)
        limits = zip(words[-len(columns) :], columns.items(), strict=True)
        return [parse_integer(self.path, number, word, name, *most) for word, (name, most) in limits]

    def items(self, n: int, columns: dict[str, tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights and values of the next n lines."""
        rows = [self.integers(columns, f" of item {k} of {n}") for k in range(1, n + 1)]
        numbers = dict(zip(columns, np.array(rows, np.int64).T, strict=True))
        return numbers["weight"], numbers["value"]


def _read_plain(lines: _Lines, part: str) -> Knapsack:
    name = escape_unprintable(os.path.basename(lines.path))
    if part and part not in ORDERS:
        raise InstanceError(lines.path, None, f"one instance, number {part} asked for", " or ".join(ORDERS))
    widths = [len(words) for _, _, words in lines.rows[:2]]
    item = dict(reversed(_ITEM.items())) if part == ORDERS[1] else _ITEM
    n, *capacity = lines.integers(_SIZE if widths[:1] == [1] else _SIZE | _CAPACITY)
    if widths == [1, 3]:
        item = _NUMBER | item
    elif not capacity:
        capacity = lines.integers(_CAPACITY)
    weights, values = lines.items(n, item)
    capacity = capacity or lines.integers(_CAPACITY)
    if lines.at < len(lines.rows):
        _, row, words = lines.next("")
        if len(words) != n or not set(words) <= {"0", "1"} or lines.at < len(lines.rows):
            raise lines.error(quoted(row), f"the end of the file after {n} items")
    if not part:
        warn_caller(f"{name}: values are read before weights; FILE:{ORDERS[1]} has them the other way")
    return Knapsack(name, weights, values, capacity[0], source=str(lines.path))


def _read_pisinger(lines: _Lines, part: str) -> Knapsack:
    starts = [0, *(k for k, row in enumerate(lines.rows[:-1], 1) if row[1].startswith("---"))]
    lines.at = starts[parse_integer(lines.path, 1, part or "1", "instance", 1, len(starts)) - 1]
    name = escape_unprintable(lines.next("a name")[1])
    if not part and len(starts) > 1:
        warn_caller(f"{name}: the first of {len(starts)} instances of the file; FILE:2 is the second")
    (n,), (capacity,) = lines.integers(_SIZE, key="n"), lines.integers(_CAPACITY, key="c")
    (optimum,) = lines.integers({"best value": (0, 2**63 - 1)}, key="z")
    _, duration, words = lines.next("time and seconds")
    if words[:1] != ["time"]:
        raise lines.error(quoted(duration), "time and seconds")
    weights, values = lines.items(n, _NUMBER | _ITEM | {"x": (0, 1)})
    if lines.at < len(lines.rows) and not (end := lines.next("")[1]).startswith("---"):
        raise lines.error(quoted(end), f"----- after {n} items")
    return Knapsack(name, weights, values, capacity, optimum=optimum or None, source=str(lines.path))


def write(path: str | os.PathLike, instance: Knapsack) -> None:
    rows = "".join(f"{v} {w}\n" for v, w in zip(instance.values.tolist(), instance.weights.tolist(), strict=True))
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{instance.n} {instance.capacity}\n{rows}")


def _checked(name: str, noun: str, values: Numbers) -> np.ndarray:
    numbers = integer_array(name, f"{noun}s", values)
    if numbers.ndim != 1 or not 1 <= len(numbers) <= MOST_ITEMS:
        raise InstanceError(name, None, f"{noun}s of shape {numbers.shape}", f"a row of 1 to {MOST_ITEMS}")
    worst = int(numbers.min()) if numbers.min() < 0 else int(numbers.max())
    if not 0 <= worst <= LARGEST:
        raise InstanceError(name, None, f"{noun} {worst}", f"an integer from 0 to {LARGEST}")
    return frozen(numbers, np.uint32)
