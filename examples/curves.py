"""Tabu search from Python: five seeds on Taillard's tai30a, and a plot of their best costs.

python examples/curves.py                  # writes curves.svg
"""

import sys

import onekernel as ok


def main(picture: str = "curves.svg", iterations: str = "5000") -> None:
    found = ok.minimize(
        ok.Qap("tai30a"),
        ok.TabuSearch(),
        backend="cpu",
        iterations=int(iterations),
        seeds=range(5),
        history=True,
    )
    print(f"costs {found.costs}, confirmed: {found.confirmed}, hash {found.hash}")
    print("best order:", *found.solution)
    axes = found.plot()
    axes[0].figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
