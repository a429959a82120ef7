"""Program of a rank: small runs with fewer items than three ranks, by name, that are shared, keep states and go on.

mpirun -n 3 python tests/drivers/few_items.py FOLDER STATES NAME...

Every run writes its record to FOLDER, and one of each kind its first state to FOLDER/NAME.kept; another goes on from
STATES/NAME.kept. The first rank prints the hashes as JSON.
"""

import importlib
import json
import shutil
import sys
from pathlib import Path

from cluster import communicator
from drivers.endings import run_driver
from drivers.state_file import StateFile

LABS = ("labs", "--instance", "10", "--iterations", "12")
ANTS = ("aco", "--instance", "uniform:7:seed=1", "--iterations", "4", "--history")
WORK = {
    "2 walks": (*LABS, "--walks", "2"),
    "2 walks that exchange": (*LABS, "--walks", "2", "--exchange", "1", "--history"),
    "2 climbers": ("ihc", "--instance", "uniform:7:seed=1", "--climbers", "2", "--history"),
    "2 ants": (*ANTS, "--ants", "2"),
    "2 colonies that exchange": (*ANTS, "--ants", "3", "--colonies", "2", "--variant", "mmas", "--exchange", "2"),
    "a tree": ("exact", "--instance", "uniform:8:seed=1", "--history"),
    "a table": ("knapsack", "--items", "2", "--capacity", "4"),
}
PLAIN, KEEPING, RESUMED = "plain", "keeping", "resumed"
VARIANTS = {
    PLAIN: ("--share", "auto"),
    KEEPING: ("--share", "always", "--state-every", "0"),
    RESUMED: ("--share", "always", "--state-every", "0", "--resume"),
}


def keep_first_states():
    """Let every file of a state leave a copy of its first one."""
    write = StateFile.write

    def writing(self, about, state):
        write(self, about, state)
        copy = Path(self.path).with_suffix(".kept")
        if not copy.exists():
            shutil.copy(self.path, copy)

    StateFile.write = writing


def run(folder, name, variant, states=None):
    """Run once; returns the exit code."""
    driver, *work = WORK[name]
    given = [*work, *VARIANTS[variant], "--backend", "cpu", "--no-progress", "--quiet"]
    if variant == KEEPING:
        given += ["--state", folder / f"{name}.state"]
    if variant == RESUMED:
        given += ["--state", states / f"{name}.kept"]
    given += ["--record", folder / f"{name}.{variant}.jsonl"]
    return run_driver(importlib.import_module(f"drivers.{driver}").main, [*map(str, given)])


def hash_of(folder, name, variant):
    """Return the hash in the record of a run."""
    (line,) = (folder / f"{name}.{variant}.jsonl").read_text().splitlines()
    return json.loads(line)["trajectory_hash"]


def main():
    """Run all of them in every variant."""
    folder, states = map(Path, sys.argv[1:3])
    names = sys.argv[3:]
    keep_first_states()
    for name in names:
        for variant in VARIANTS:
            code = run(folder, name, variant, states)
            assert code == 0, (name, variant, code)
    if communicator().rank == 0:
        print(json.dumps({name: {one: hash_of(folder, name, one) for one in VARIANTS} for name in names}), flush=True)


if __name__ == "__main__":
    main()
