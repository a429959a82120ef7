"""Program of a rank: runs drivers one after the other; each writes its record to a separate file.

mpirun -n 3 python tests/drivers/on_ranks.py FOLDER NAME...
"""

import importlib
import sys

from drivers.cli.exit_codes import run_driver

ANTS = "aco --instance uniform:20:seed=1 --ants 12 --iterations 6"
QAP = "qap --instance taillard:9:seeds=1,2 --iterations 60"
TREE = "exact --instance uniform:12:seed=7 --count"
CLIMBS = "ihc --instance uniform:12:seed=1 --climbers 21"
LIMITED = "--variant mmas --candidates 6"
WORK = {
    "strings": "lcs --instance random:900:other=700:seed=8",
    "knapsack": "knapsack --items 20 --capacity 500 --seed 1 --device-memory 300",
    "all subsets": "heldkarp --instance uniform:9:seed=1",
    "restricted": "heldkarp --instance uniform:9:seed=1 --k 5",
    "1-trees": TREE,
    "edges": f"{TREE} --bound edges",
    "edges as published": f"{TREE} --bound edges --mapping published",
    "tours of ants": ANTS,
    "deposits": f"{ANTS} --ants 60",
    "the best tour": f"{ANTS} {LIMITED}",
    "colonies": f"{ANTS} {LIMITED} --colonies 3 --exchange 2 --stagnation 2 --local-search 2opt",
    "colonies as published": f"{ANTS} --mapping published --colonies 4",
    "a walk": QAP,
    "walks that exchange": f"{QAP} --walks 5 --exchange 20",
    "annealing": f"{QAP} --algorithm annealing",
    "climbs as published": f"{CLIMBS} --mapping published --assign static",
    "climbs of a worklist": f"{CLIMBS} --mapping published --assign worklist",
}
ONE_OF_A_KIND = {
    2: ("knapsack", "restricted", "tours of ants", "walks that exchange", "climbs as published"),
    3: ("strings", "edges", "colonies"),
}


def run(folder, name):
    driver, *work = WORK[name].split()
    words = [*work, "--backend", "cpu", "--no-progress", "--record", f"{folder}/{name}.jsonl"]
    return run_driver(importlib.import_module(f"drivers.{driver}").main, words)


def main(folder, *names):
    for name in names:
        code = run(folder, name)
        assert code == 0, (name, code)


if __name__ == "__main__":
    main(*sys.argv[1:])
