"""Start order of the linear ordering problem by repeated insertion.

Source: T. Schiavinotto, T. Stutzle, "The linear ordering problem: instances, search space analysis and algorithms",
Journal of Mathematical Modelling and Algorithms 3, 2004, section 4.
"""

import numpy as np


def best_insertion(losses: np.ndarray) -> np.ndarray:
    """Insert elements by falling sum of their losses, each at the first best position.

    ``losses``, shape (n, n), has the loss if an element moves from before another one to after it. Returns an order,
    shape (n,); elements of equal sums are inserted by their index.
    """
    elements = np.argsort(-losses.sum(axis=1, dtype=np.int64), kind="stable")
    order = np.empty(len(elements), np.int64)
    for count, element in enumerate(elements):
        behind = np.cumsum(losses[element, order[:count]], dtype=np.int64)
        place = int(np.argmin(behind)) + 1 if count and behind.min() < 0 else 0
        order[place + 1 : count + 1] = order[place:count]
        order[place] = element
    return order
