"""Distances and methods of exact searches that tests compare, and the searches that ranks share."""

import numpy as np

from cluster import Solo
from core import tours as tsp
from core.exact import ExactSearch

EDGES = {"bound": "edges", "mapping": "published"}
WORKLIST = {"bound": "none", "mapping": "published"}
PUBLISHED = (EDGES, {**EDGES, "unrolled": False}, WORKLIST, {**WORKLIST, "unrolled": False})
SUITE = ({"bound": "one-tree"}, {"bound": "edges"}, {"bound": "edges", "depth": 1}, {"bound": "none"})
METHODS = (*SUITE, *PUBLISHED)
KINDS = ("uniform", "clustered", "grid", "equal", "zero", "any")


def name_of(method):
    return "-".join(map(str, method.values()))


def distances_of(kind, n, seed):
    """Symmetric distances: `any` without the triangle inequality, `grid` and `clustered` with ties and zeros."""
    rng = np.random.default_rng([seed, n, KINDS.index(kind)])
    if kind == "equal":
        lengths = np.full((n, n), 7)
    elif kind == "zero":
        lengths = rng.integers(0, 2, (n, n)) * rng.integers(0, 5, (n, n))
    elif kind == "any":
        lengths = rng.integers(1, 1000, (n, n))
    else:
        points = {
            "uniform": rng.integers(0, 1000, (n, 2)),
            "clustered": rng.integers(0, 3, (n, 1)) * 400 + rng.integers(0, 12, (n, 2)),
            "grid": rng.integers(0, 4, (n, 2)) * 10,
        }[kind]
        lengths = np.rint(np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))).astype(int)
    lengths = np.triu(lengths, 1)
    return lengths + lengths.T


def proved(backend, distances, **options):
    """Check a search's tour and counters; return length and number of shortest tours."""
    search = ExactSearch(backend, Solo(), distances, count=True, **options)
    solution = search.run()
    tour, n = solution.tour, len(distances)
    assert sorted(tour) == list(range(n))
    assert distances[tour, np.roll(tour, -1)].sum() == solution.length
    assert tour[0] == 0
    assert n < 3 or tour[1] < tour[-1]
    assert solution.root_bound is None or solution.root_bound <= solution.length <= solution.start_length
    if search.mapping == "published" and search.method is not None:
        assert search.method.work in (None, solution.nodes.sum() // 2)  # twice: to find one, and to count all
    return solution.length, solution.optimal_tours


def check_history(outcome):
    rows = outcome.history
    assert rows[0][:2] == [0, 0]
    assert rows[0][3] == outcome.start_length
    assert rows[-1][3] == outcome.length
    assert [row[0] for row in rows] == list(range(len(rows)))
    for column in (1, 2):
        values = [row[column] for row in rows]
        assert values == sorted(values) and values[0] >= 0
    lengths = [row[3] for row in rows]
    assert lengths == sorted(set(lengths), reverse=True)
    assert rows[-1][1] <= outcome.nodes.sum()


def shared_proofs(ranks, backend):
    """Yield results of one or several ranks by every method, also if lanes redistribute most of their work."""
    for kind, n, options in (
        ("uniform", 11, {}),
        ("any", 6, {}),
        *(("clustered", 9, method) for method in SUITE),
        *(("uniform", 8, {"bound": "edges", "depth": 1, "patience": patience}) for patience in (1, 40)),
        *(("uniform", 9, {"bound": "none", "depth": 2, "patience": patience}) for patience in (1, 40, 1000)),
    ):
        method = dict(options)
        patience = method.pop("patience", None)
        search = ExactSearch(backend, ranks, distances_of(kind, n, 6), count=True, **method)
        if patience is not None:
            search.method.patience = patience
        solution = search.run()
        assert np.array_equal(ranks.bcast(solution.tour), solution.tour)
        assert patience is None or search.work in (None, solution.nodes.sum())
        yield f"{solution.length} {solution.optimal_tours} {solution.digest:016x}"
    for method in PUBLISHED:
        search = ExactSearch(backend, ranks, distances_of("clustered", 9, 6), count=True, **method)
        search.method.first_slice = search.method.least_slice = search.method.most_slice = 100
        solution = search.run()
        assert search.method.bounded or solution.nodes.sum() == search.work
        yield f"{solution.length} {solution.optimal_tours}"


def check_shared_histories(ranks, backend):
    for name, options in (*(("uniform:10:seed=13", one) for one in SUITE[:4]), ("uniform:7:seed=24", {})):
        outcome = ExactSearch(backend, ranks, tsp.load(name).distances, **options).run(history=True)
        check_history(outcome)
        assert len(outcome.history) > 1
        histories = ranks.gather(outcome.history)
        assert ranks.rank > 0 or histories == [outcome.history] * ranks.size
