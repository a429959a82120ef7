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
from core.problems.instances.errors import InstanceError, escape_unprintable, require_integer
from core.problems.instances.instance_cache import cached
from core.problems.instances.limits import LARGEST_SEED, integer_array
from core.problems.instances.readers import InstanceFormat, InstanceReader
from core.problems.instances.tokens import LONGEST_NUMBER, lines_of, quoted

MOST_CAPACITY = 2**30 - 1
"""The sum of two weights and a capacity stays within 32 bits."""
MOST_ITEMS = 1_000_000
LARGEST = 2**32 - 1
"""Largest weight and value: both are kept in 32 bits."""
RANGE = 1000
"""Pisinger's R: the largest number drawn in most of his classes."""
MOST_RANGE = 10_000_000
PAPER = "paper"
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

_INTEGER = re.compile(rf"[0-9]{{1,{LONGEST_NUMBER}}}")


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
        self.name = name
        self.source = source
        self.optimum = optimum
        self.weights = _checked(name, "weight", integer_array(name, "weights", weights))
        self.values = _checked(name, "value", integer_array(name, "values", values))
        self.n = len(self.weights)
        if len(self.values) != self.n:
            raise InstanceError(name, None, f"{self.n} weights, {len(self.values)} values", "as many of both")
        require_integer(name, f"capacity {capacity}", capacity, 0, MOST_CAPACITY)
        self.capacity = int(capacity)
        content = hashlib.sha256(f"knapsack {self.n} {self.capacity}\n".encode())
        content.update(self.weights.astype("<u4").tobytes())
        content.update(self.values.astype("<u4").tobytes())
        self.sha256 = content.hexdigest()

    def __repr__(self) -> str:
        return f"Knapsack({self.name!r}, n={self.n}, capacity={self.capacity})"

    def weight_and_value(self, chosen: np.ndarray) -> tuple[int, int]:
        """Return the total weight and value of a selection, bool, shape (n,); raises `ValueError` for another array."""
        selection = np.asarray(chosen)
        if selection.shape != (self.n,) or selection.dtype != bool:
            raise ValueError(
                f"found a selection of shape {selection.shape} and {selection.dtype}, expected ({self.n},) and bool"
            )
        weight = self.weights[selection].sum(dtype=np.uint64)
        return int(weight), int(self.values[selection].sum(dtype=np.uint64))

    def by_efficiency(self) -> np.ndarray:
        """Return the item numbers in order of value per weight, largest first; ties in order of number: (n,) int64."""
        weights, values = self.weights.tolist(), self.values.tolist()
        # Unequal fractions of 32-bit numbers differ by more than 2**-64; weightless items come first.
        keys = [-((v << 64) // w) if w else -(1 << 97) for w, v in zip(weights, values, strict=True)]
        return np.array(sorted(range(self.n), key=keys.__getitem__), np.int64)

    def useful_items(self) -> np.ndarray:
        """Return the numbers of items that fit and have a value, by weight, ties by number: int64."""
        order = np.argsort(self.weights, kind="stable")
        useful = (self.weights[order] <= self.capacity) & (self.values[order] > 0)
        return np.asarray(order[useful], np.int64)

    def upper_bound(self) -> int:
        """Return Dantzig's bound: the value if items could be cut, rounded down."""
        free, total = self.capacity, 0
        for item in self.by_efficiency().tolist():
            weight, value = int(self.weights[item]), int(self.values[item])
            if weight > free:
                return total + free * value // weight
            free -= weight
            total += value
        return total

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


def parse(text: str, path: str | os.PathLike = "text") -> Knapsack:
    """Return the instance of a text in one of two formats.

    The common one has a line ``n capacity``, then n lines ``value weight``. Pisinger's has a name, lines ``n 50``, ``c
    995``, ``z 8373`` and ``time 0.00``, then n lines ``number,value,weight,x``, then ``-----``; of several such
    instances in a file the first is read, and its z, if it is not 0, is the optimum. ``path`` names the text in errors,
    and the instance. Raises `InstanceError` with the line for another format.
    """
    lines = _Lines(text, path)
    name = escape_unprintable(os.path.basename(path))
    return _read_pisinger(lines) if lines.looks_like_pisinger() else _read_plain(lines, name)


READER: InstanceReader[Knapsack] = InstanceReader(
    InstanceFormat("a file of a knapsack instance", (), parse), expected="a file of a knapsack instance"
)
load, read = READER.load, READER.read


class _Lines:
    """Lines of a text that are not empty, taken one by one."""

    def __init__(self, text: str, path: str | os.PathLike) -> None:
        self.path = path
        self.rows = [(number, row.strip()) for number, row in enumerate(lines_of(text), 1) if row.strip()]
        self.at = 0

    def looks_like_pisinger(self) -> bool:
        return len(self.rows) > 1 and self.rows[1][1].split()[0] == "n"

    def error(self, found: str, expected: str) -> InstanceError:
        return InstanceError(self.path, self.rows[self.at - 1][0] if self.rows else 1, found, expected)

    def next(self, expected: str) -> str:
        if self.at == len(self.rows):
            raise self.error("the end of the file", expected)
        self.at += 1
        return self.rows[self.at - 1][1]

    def items(self, number: int) -> int:
        """Return the number of items on the last line taken, which must be positive."""
        if number < 1:
            raise self.error(f"{number} items", f"1 to {MOST_ITEMS}")
        return number

    def integers(self, expected: str, names: tuple[str, ...], limits: tuple[int, ...], comma: bool) -> list[int]:
        """Return the numbers of the next line, each from 0 to its limit."""
        row = self.next(expected)
        words = [word.strip() for word in row.split(",")] if comma else row.split()
        if len(words) != len(names):
            raise self.error(quoted(row), expected)
        for name, word, limit in zip(names, words, limits, strict=True):
            if not _INTEGER.fullmatch(word) or int(word) > limit:
                raise self.error(f"{name} {quoted(word)}", f"an integer from 0 to {limit}")
        return [int(word) for word in words]

    def key(self, name: str, limit: int) -> int:
        """Return the number after a key on the next line."""
        row = self.next(f"{name} and a number")
        words = row.split()
        if len(words) != 2 or words[0] != name or not _INTEGER.fullmatch(words[1]) or int(words[1]) > limit:
            raise self.error(quoted(row), f"{name} and an integer from 0 to {limit}")
        return int(words[1])


def _read_plain(lines: _Lines, name: str) -> Knapsack:
    size, capacity = lines.integers(
        "the number of items and the capacity", ("number of items", "capacity"), (MOST_ITEMS, MOST_CAPACITY), False
    )
    n = lines.items(size)
    rows = [
        lines.integers(f"value and weight of item {k} of {n}", ("value", "weight"), (LARGEST, LARGEST), False)
        for k in range(1, n + 1)
    ]
    if lines.at < len(lines.rows):
        raise lines.error(quoted(lines.next("")), f"the end of the file after {n} items")
    values, weights = np.array(rows, np.int64).reshape(n, 2).T
    return Knapsack(name, weights, values, capacity, source=str(lines.path))


def _read_pisinger(lines: _Lines) -> Knapsack:
    name = escape_unprintable(lines.next("a name"))
    n = lines.items(lines.key("n", MOST_ITEMS))
    capacity, optimum = lines.key("c", MOST_CAPACITY), lines.key("z", 2**63 - 1)
    duration = lines.next("time and seconds")
    if duration.split()[0] != "time":
        raise lines.error(quoted(duration), "time and seconds")
    rows = [
        lines.integers(
            f"number,value,weight,x of item {k} of {n}",
            ("number", "value", "weight", "x"), (MOST_ITEMS, LARGEST, LARGEST, 1), True,
        )
        for k in range(1, n + 1)
    ]  # fmt: skip
    if lines.at < len(lines.rows) and not (end := lines.next("")).startswith("---"):
        raise lines.error(quoted(end), f"----- after {n} items")
    _, values, weights, _ = np.array(rows, np.int64).reshape(n, 4).T
    return Knapsack(name, weights, values, capacity, optimum=optimum or None, source=str(lines.path))


def write(path: str | os.PathLike, instance: Knapsack) -> None:
    rows = "".join(f"{v} {w}\n" for v, w in zip(instance.values.tolist(), instance.weights.tolist(), strict=True))
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{instance.n} {instance.capacity}\n{rows}")


def _checked(name: str, noun: str, numbers: np.ndarray) -> np.ndarray:
    if numbers.ndim != 1 or not 1 <= len(numbers) <= MOST_ITEMS:
        raise InstanceError(name, None, f"{noun}s of shape {numbers.shape}", f"a row of 1 to {MOST_ITEMS}")
    worst = int(numbers.min()) if numbers.min() < 0 else int(numbers.max())
    if not 0 <= worst <= LARGEST:
        raise InstanceError(name, None, f"{noun} {worst}", f"an integer from 0 to {LARGEST}")
    return frozen(numbers, np.uint32)
