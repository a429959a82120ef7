"""Tabu search from Python: five seeds on Taillard's tai30a, and a plot of their best costs.

python examples/curves.py                  # writes curves.svg
"""

import sys

import onekernel as ok


def main(picture: str = "curves.svg", iterations: str = "5000") -> None:
    results = ok.minimize(
        ok.Qap("tai30a"),
        ok.TabuSearch(),
        backend="cpu",
        iterations=int(iterations),
        seeds=range(5),
        history=True,
    )
    print(f"costs {results.costs}, confirmed: {results.confirmed}, hash {results.hash}")
    print("best order:", *results.solution)
    axes = results.plot()
    axes[0].figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
