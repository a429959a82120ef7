"""Rules of acceptance in the kernel language, and the same in plain Python."""

from core.lang import Array, boolean, bundle, function, i32, u32
from core.local_search import Draw


@bundle
class Threshold:
    steps: Array[i32]
    plateau: i32


@function
def below_threshold(draw: Draw, by: Threshold) -> boolean:
    return draw.new - draw.cost <= by.steps[draw.iteration // by.plateau % 3]


@function
def late(draw: Draw) -> boolean:
    return draw.new <= draw.cost or draw.new < draw.before


@function
def near_the_best(draw: Draw) -> boolean:
    return draw.new < draw.best or draw.random < u32(1 << 30)


PLAIN = {
    "threshold": lambda cost, new, best, before, iteration, random: new - cost <= (30, 10, 0)[iteration // 9 % 3],
    "late": lambda cost, new, best, before, iteration, random: new <= cost or new < before,
    "near the best": lambda cost, new, best, before, iteration, random: new < best or random < 2**30,
}
