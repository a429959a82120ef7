"""Cells of two tables by diagonals, as the paper maps them to threads (`oconnell2014`, section IV.A, figure 2).

Lane k computes column k of a table from the first row to the last, one row behind the lane to its left. So a launch
computes a diagonal. All lanes take the same path: lanes outside the table read and write the padding around it.
"""

from __future__ import annotations

from core.lang import *
from core.tables.engine.kernels.waves import Window

V = Generic("V")
L = Generic("L")
LETTERS = 4
"""Letters in a word of a packed string."""


@bundle
class PaddedStrings:
    """Two strings, padded so that every lane stays inside them.

    Attributes
    ----------
    across : Array
        Letters of the columns, one for each lane: u16, or u32 with `LETTERS` in a word, the first in the lowest bits.
    down : Array
        Letters of the rows; lane k is at ``start`` + wave - k.
    start
        Letters of padding before the first.
    """

    across: Array[L]
    down: Array[L]
    start: i32


@function
def common_length(wave: i32, k: i32, window: Window, strings: PaddedStrings) -> i32:
    """Return a cell of equation 2, with the + 1 missing in its match case; no cell is less than its corner."""
    up = window.cells[window.one + k]
    left = window.cells[window.one + k - 1]
    corner = window.cells[window.two + k - 1]
    equal = 1 if strings.across[k] == strings.down[strings.start + wave - k] else 0
    return max(max(up, left), corner + equal)


@function
def letter_at(words: Array[u32], place: i32) -> u32:
    """Return the letter at a place of a packed string."""
    return (words[place // LETTERS] >> u32(place % LETTERS * 8)) & 0xFF


@function
def common_length_of_packed(wave: i32, k: i32, window: Window, strings: PaddedStrings) -> i32:
    """Return the cell of `common_length`."""
    up = window.cells[window.one + k]
    left = window.cells[window.one + k - 1]
    corner = window.cells[window.two + k - 1]
    letter = letter_at(strings.down, strings.start + wave - k)
    equal = 1 if letter_at(strings.across, k) == letter else 0
    return max(max(up, left), corner + equal)


@bundle
class ItemColumns:
    """The items of a knapsack, one for each lane.

    Attributes
    ----------
    weights, values : Array
        Weights and values; 0 for padding lanes and for items that never fit.
    back : Array
        Distance, in cells of the window, from the last wave to the wave that a lane reads to take its item.
    ring
        Number of cells of the window, which is a ring buffer.
    """

    weights: Array[i32]
    values: Array[V]
    back: Array[i32]
    ring: i32


@function
def packed_value(wave: i32, k: i32, window: Window, items: ItemColumns) -> V:
    """Return the best value of items 0 to k within the capacity ``wave`` - k (equation 4)."""
    without_item = window.cells[window.one + k - 1]
    place = window.one + k - 1 - items.back[k]
    with_item = window.cells[place if place >= 0 else place + items.ring] + items.values[k]
    return max(without_item, with_item if items.weights[k] <= wave - k else without_item)
