"""Random words of the generators, equal on every machine and with every NumPy: all arithmetic is in integers.

Sources: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014 (SplitMix64, a hashed
counter); P. A. W. Lewis, A. S. Goodman, J. M. Miller, "A pseudo-random number generator for the System/360", 1969
(x <- 16807 * x mod (2**31 - 1)), used for E. D. Taillard's instances.
"""

import numpy as np

MODULUS = 2**31 - 1
MULTIPLIER = 16807
"""Multiplier of the generator of Lewis, Goodman and Miller."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def random_words(seed: int, start: int, count: int) -> np.ndarray:
    """Return words `start` to `start + count - 1` of SplitMix64's sequence."""
    return mixed(np.uint64(seed) + np.arange(start + 1, start + count + 1, dtype=np.uint64) * GOLDEN)


def mixed(z: np.ndarray) -> np.ndarray:
    """Return the output function of SplitMix64 for words of 64 bits, as `core.lang.library.splitmix64` does."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def lehmer_words(seed: int, count: int) -> np.ndarray:
    """Return the first words after `seed`: word k is MULTIPLIER**k * seed mod MODULUS, k from 1."""
    powers = np.array([MULTIPLIER])
    while len(powers) < count:
        powers = np.concatenate([powers, powers * powers[-1] % MODULUS])
    return powers[:count] * seed % MODULUS
