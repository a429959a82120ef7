"""The Weierstrass-Mandelbrot function, a continuous problem with local optima at every scale: float64 scorer.

Source: Luong et al. 2013, equation 1 with b = 2, h = 0.25 and 100 terms, summed over the coordinates.
"""

import hashlib
import math
import re
from dataclasses import dataclass, field

import numpy as np

from core.instances.errors import InstanceError, require_integer

BASE = 2
HOLDER_EXPONENT = 0.25
TERMS = 100

COST_UNIT = 2.0**-20
"""Unit to which the search rounds values, so that its costs are integers."""

LARGEST_TERM = 2.995
"""No coordinate adds more than this to the value, up or down.

Ten terms in a row are 2^(-i/4) g(2^i x), where g(t) is the sum over j from 0 to 9 of r^j sin(2^j t), r = 2^(-1/4), at
most 2.93 for any t; over i = 1, 11, ..., 91 that sums up to less than 2.93 r / (1 - r^10) = 2.993. (With each sine
taken as 1 the bound would be 5.29.)
"""

MOST_COORDINATES = 341
"""Keeps differences of two costs within 31 bits: 2 * 341 * 2.995 / 2^-20 is 2,141,810,851."""

_SPEC = re.compile(r"(?:weierstrass:)?([0-9]{1,9})")


@dataclass(frozen=True)
class WeierstrassInstance:
    """The function of ``n`` coordinates, 1 to `MOST_COORDINATES`, to be minimised over [-1, 1]^n.

    Its optimum is not known. Raises `InstanceError` for another n.
    """

    n: int
    name: str = field(init=False)
    source: str = field(init=False, default="Luong et al. 2013, equation 1")
    sha256: str = field(init=False)
    optimum: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        name, n = f"weierstrass:{self.n}", self.n
        if not 1 <= n <= MOST_COORDINATES:
            reason = f", so that costs in units of 2^-20 fit in 31 bits (at most {LARGEST_TERM} a coordinate)"
            expected = f"1 to {MOST_COORDINATES}{reason if n > 0 else ''}"
            raise InstanceError(name, None, f"{n} coordinates", expected)
        require_integer(name, f"{n} coordinates", n, 1, MOST_COORDINATES)
        content = f"Weierstrass b={BASE} h={HOLDER_EXPONENT} terms={TERMS} n={self.n}\n"
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "sha256", hashlib.sha256(content.encode()).hexdigest())

    def cost(self, x: np.ndarray) -> int:
        """Return `cost(x)`; raises `ValueError` unless x has n coordinates in [-1, 1]."""
        if np.shape(x) != (self.n,):
            raise ValueError(f"found a point of shape {np.shape(x)}, expected ({self.n},)")
        return cost(x)


def load(spec: str) -> WeierstrassInstance:
    """Return the instance of a specification "weierstrass:10", or "10"; raises `InstanceError` for any other."""
    matched = _SPEC.fullmatch(spec)
    if matched is None:
        raise InstanceError(spec, None, "no such function", f"weierstrass:N or N, N from 1 to {MOST_COORDINATES}")
    return WeierstrassInstance(int(matched[1]))


def value(x: np.ndarray) -> float:
    """Return f(x), the sum over coordinates x_k and i from 1 to 100 of 2^(-i/4) sin(2^i x_k).

    ``x`` is float64 or float32 of shape (n,), each from -1 to 1 and taken as exact. 2^i x_k reaches 2^100 without loss
    of digits: it is exact, as only the exponent changes, and the C library called by NumPy reduces large float64
    arguments modulo pi / 2 by the number of digits of pi that their exponent needs (M. H. Payne, R. N. Hanek, 1983). So
    the function is that of exactly these floats. Against arithmetic of 150 digits a test allows 1e-15 for a sine (2^-53
    is the rounding) and 5e-15 n for f. The sum is rounded once, by `math.fsum`: no order of terms can change it.

    Raises `ValueError` for another shape or type, or a coordinate that is outside or NaN.
    """
    point = checked_point(x)
    exponents = np.arange(1, TERMS + 1)
    return math.fsum((np.exp2(-HOLDER_EXPONENT * exponents) * np.sin(np.ldexp(point[:, None], exponents))).ravel())


def cost(x: np.ndarray) -> int:
    """Return the integer nearest to f(x) in units of 2^-20; arguments and errors as `value`."""
    return round(value(x) / COST_UNIT)


def checked_point(x: np.ndarray) -> np.ndarray:
    """Return a solution of shape (n,) as float64, with n from 1 to `MOST_COORDINATES` and coordinates in [-1, 1].

    Raises `ValueError` for another shape or type, or a coordinate that is outside or NaN, with its index.
    """
    point = np.asarray(x)
    if point.ndim != 1 or not 1 <= len(point) <= MOST_COORDINATES:
        raise ValueError(f"found a point of shape {point.shape}, expected (n,), n from 1 to {MOST_COORDINATES}")
    if point.dtype not in (np.float32, np.float64):
        raise ValueError(f"found coordinates of {point.dtype}, expected float64 or float32")
    inside = np.abs(point) <= 1
    if not inside.all():
        k = inside.argmin()
        raise ValueError(f"found coordinate {k} at {point[k]}, expected -1 to 1")
    return point.astype(np.float64)
