"""A tour drawn as SVG, written by hand: a path, and a dot per city."""

from __future__ import annotations

from html import escape

import numpy as np

_MARGIN = 12.0
_TITLE_HEIGHT = 20.0


def draw_tour(coordinates: np.ndarray, tour: np.ndarray, title: str = "", size: float = 640.0) -> str:
    """Draw a closed tour.

    Parameters
    ----------
    coordinates : ndarray, shape (n, 2)
        x and y of each city, any real dtype; y grows upwards.
    tour : ndarray of int, shape (n,)
        The cities 0 .. n-1 in the order of the visit.
    title : str, optional
        A line above the picture.
    size : float
        Longer side of the picture in pixels.

    Returns
    -------
    str
        An SVG document.

    Raises
    ------
    ValueError
        Coordinates that are not n finite pairs, or a tour that is not a permutation of their indices.
    """
    points = np.asarray(coordinates, dtype=np.float64)
    order = np.asarray(tour)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
        raise ValueError(f"expected finite coordinates of shape (n, 2), found shape {points.shape}")
    if order.shape != (len(points),) or not np.array_equal(np.sort(order), np.arange(len(points))):
        raise ValueError(f"expected a permutation of 0 .. {len(points) - 1}, found {order!r}")
    placed, width, height = _place(points, size)
    top = _TITLE_HEIGHT if title else 0.0
    route = "L".join(f"{x:.1f} {y + top:.1f}" for x, y in placed[order])
    radius = max(0.8, min(3.0, size / 8 / np.sqrt(len(points))))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y + top:.1f}" r="{radius:.1f}"/>' for x, y in placed)
    heading = f'<text x="{_MARGIN:.0f}" y="16" font-family="sans-serif" font-size="13">{escape(title)}</text>\n'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height + top:.1f}" '
        f'width="{width:.0f}" height="{height + top:.0f}">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n'
        f"{heading if title else ''}"
        f'<path d="M{route}Z" fill="none" stroke="#2a6f97" stroke-width="{radius / 2:.2f}"/>\n'
        f'<g fill="#c1121f">{dots}</g>\n'
        "</svg>\n"
    )


def _place(points: np.ndarray, size: float) -> tuple[np.ndarray, float, float]:
    """Points in pixels with y downwards, and the picture's width and height; both axes share one scale."""
    lowest = points.min(axis=0)
    extent = points.max(axis=0) - lowest
    scale = (size - 2 * _MARGIN) / (float(extent.max()) or 1.0)
    placed = (points - lowest) * scale + _MARGIN
    width, height = extent * scale + 2 * _MARGIN
    placed[:, 1] = height - placed[:, 1]
    return placed, float(width), float(height)
