"""Edit distance: the smallest number of letters to change, insert or remove between two words. A recurrence."""

import numpy as np

from backends import create
from cluster import default_communicator
from core.lang import Array, bundle, function, i32, min, u8, u32
from core.tables import Grid, Near, WaveEngine


@bundle
class Strings:
    a: Array[u8]
    b: Array[u8]


@function
def cheapest(i: i32, j: i32, near: Near, choice: Array[u32], strings: Strings) -> i32:
    changed = near.corner + (0 if strings.a[i - 1] == strings.b[j - 1] else 1)
    best = min(changed, min(near.up, near.left) + 1)
    choice[0] = u32(0) if best == changed else u32(1) if best == near.up + 1 else u32(2)  # the neighbour used
    return best


class EditDistance(Grid):
    choices = 2  # bits stored for each cell
    step = cheapest

    def __init__(self, a, b):
        self.rows, self.columns = len(a), len(b)
        self.data = Strings(np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8))

    def edge(self, i, j):  # row 0 and column 0
        return i + j


if __name__ == "__main__":
    table = WaveEngine(create("threads"), default_communicator(), EditDistance(b"kitten", b"sitting")).run()
    print(table.value, table.choice(6, 7))
