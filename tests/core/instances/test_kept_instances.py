"""Instances that a process keeps: read once, and again after a change of the file."""

import os
import time

import numpy as np
import pytest

from core import tours as tsp
from core.instances import instance_cache
from core.instances.errors import InstanceError
from core.ppp import perceptron
from core.qap import qaplib
from core.tables.knapsack import problem as knapsack
from core.tables.lcs import strings

SMALL = "2\n0 1\n1 0\n0 5\n5 0\n"
LARGER = SMALL.replace("5", "6")

GENERATED = {
    "tour": lambda: tsp.load("uniform:9:seed=3"),
    "assignment": lambda: qaplib.load("taillard:9:seeds=1,2"),
    "perceptron": lambda: perceptron.load("9-11"),
    "knapsack": lambda: knapsack.generate("subset-sum", 12, seed=4),
    "strings": lambda: strings.load("half:30"),
}


def put(path, text, age=10.0):
    path.write_text(text)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_a_file_is_read_once_and_again_after_a_change(tmp_path):
    path = put(tmp_path / "two.dat", SMALL)
    first = qaplib.load("two", tmp_path)
    assert qaplib.load("two", tmp_path) is first and qaplib.read(path) is first
    put(path, LARGER, age=9)  # as many bytes
    changed = qaplib.load("two", tmp_path)
    assert changed.distances.max() == 6 and first.distances.max() == 5
    path.unlink()
    with pytest.raises(InstanceError, match="no such instance"):
        qaplib.load("two", tmp_path)


def test_a_file_written_just_now_is_not_kept(tmp_path):
    path = put(tmp_path / "two.dat", SMALL, age=0)
    stamp = os.stat(path).st_mtime_ns
    assert qaplib.read(path).distances.max() == 5
    with open(path, "w") as file:  # the same inode, size and time
        file.write(LARGER)
    os.utime(path, ns=(stamp, stamp))
    assert qaplib.read(path).distances.max() == 6


def test_a_file_that_comes_to_stand_before_another_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("TSPLIB_DIR", str(tmp_path))
    put(tmp_path / "two.dat", SMALL)
    assert qaplib.load("two").distances.max() == 5
    (tmp_path / "data").mkdir()
    put(tmp_path / "data" / "two.dat", LARGER)
    assert qaplib.load("two", tmp_path / "data").distances.max() == 6
    put(tmp_path / "data" / "taillard:2:seeds=1,2", LARGER)
    assert qaplib.load("taillard:2:seeds=1,2").source.startswith("Taillard")
    assert qaplib.load("taillard:2:seeds=1,2", tmp_path / "data").distances.max() == 6


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_instance_is_made_once_and_cannot_be_written(name):
    first = GENERATED[name]()
    assert GENERATED[name]() is first
    arrays = [value for value in vars(first).values() if isinstance(value, np.ndarray)]
    arrays += [first.distances] if name == "tour" else []
    assert arrays and not any(array.flags.writeable for array in arrays)


def test_parameters_make_other_instances():
    first, second = (perceptron.load("9-11", seed=seed) for seed in (1, 2))
    assert (first.name, second.name) == ("9-11:seed=1", "9-11:seed=2")
    assert perceptron.load("9-11", seed=1) is first


def test_few_and_small_instances_are_kept(monkeypatch):
    monkeypatch.setattr(instance_cache, "_instances", type(instance_cache._instances)())
    first = tsp.load("uniform:9:seed=3")
    for seed in range(instance_cache.MOST_INSTANCES - 1):
        tsp.load(f"uniform:5:seed={seed}")
    assert tsp.load("uniform:9:seed=3") is first
    tsp.load("uniform:6")
    assert tsp.load("uniform:9:seed=3") is first and len(instance_cache._instances) == instance_cache.MOST_INSTANCES
    monkeypatch.setattr(instance_cache, "MOST_BYTES", 8 * 2 * 100)
    large = tsp.load("uniform:100:seed=7")
    assert len(instance_cache._instances) == 1 and tsp.load("uniform:100:seed=7") is large
    assert tsp.load("uniform:101") is not tsp.load("uniform:101")
