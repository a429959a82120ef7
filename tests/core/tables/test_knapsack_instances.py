"""Knapsack instances: the scorer, generators that stay what they are, and both text formats."""

import gzip
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.instances.errors import InstanceError
from core.tables.knapsack.problem import CLASSES, LARGEST, MOST_CAPACITY, Knapsack, generate, load, read, write

PISINGER = (
    "knapPI_0_4_10\nn 4\nc 11\nz 15\ntime 0.00\n1,6,5,1\n2,10,7,0\n3,9,6,1\n4,1,9,0\n-----\n\nknapPI_0_4_10_2\nn 1\n"
)


def small():
    return Knapsack("small", np.array([5, 7, 6, 9]), np.array([6, 10, 9, 1]), 11)


# --- scorer ---


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2**32 - 1)), min_size=1, max_size=8), st.integers(0, 60))
def test_values_and_bounds_of_all_selections(items, capacity):
    weights, values = map(np.array, zip(*items, strict=True))
    instance = Knapsack("test", weights, values, capacity)
    best = 0
    for chosen in itertools.product([False, True], repeat=len(items)):
        weight = sum(w for (w, _), taken in zip(items, chosen, strict=True) if taken)
        value = sum(v for (_, v), taken in zip(items, chosen, strict=True) if taken)
        assert instance.weight_and_value(np.array(chosen)) == (weight, value)
        best = max(best, value if weight <= capacity else 0)
    assert instance.best_value() == best <= instance.upper_bound()
    order = instance.by_efficiency().tolist()
    assert sorted(order) == list(range(len(items)))
    for a, b in itertools.pairwise(order):
        (weight, value), (weight_after, value_after) = items[a], items[b]
        assert value * weight_after >= value_after * weight or weight == 0
    useful = [k for k, (w, v) in enumerate(items) if w <= capacity and v > 0]
    assert instance.useful_items().tolist() == sorted(useful, key=lambda k: (items[k][0], k))


NUMBERS = st.sampled_from([0, 1, LARGEST - 2, LARGEST - 1, LARGEST]) | st.integers(0, LARGEST)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8), st.integers(0, MOST_CAPACITY))
@example([(LARGEST - 1, LARGEST - 2), (LARGEST, LARGEST - 1)], 5)
def test_the_bound_is_exact_for_numbers_of_32_bits(items, capacity):
    instance = Knapsack("test", *map(np.array, zip(*items, strict=True)), capacity)
    order = sorted(range(len(items)), key=lambda k: (items[k][0] > 0, -Fraction(items[k][1], items[k][0] or 1)))
    weightless = sorted(k for k in order if items[k][0] == 0)
    order = weightless + order[len(weightless) :]
    assert instance.by_efficiency().tolist() == order
    bound, free = Fraction(0), capacity
    for weight, value in (items[k] for k in order):
        taken = Fraction(min(weight, free), weight) if weight else 1
        bound, free = bound + taken * value, free - min(weight, free)
        if taken < 1:
            break
    assert instance.upper_bound() == int(bound)


# --- instances ---


def test_equal_content_has_equal_digests():
    assert small().sha256 == Knapsack("other", small().weights, small().values, 11).sha256
    assert small().sha256 != Knapsack("small", small().weights, small().values, 12).sha256
    assert small().sha256 != Knapsack("small", small().values, small().weights, 11).sha256


# --- generators ---


def test_the_papers_values_are_below_thirty_per_cent_of_the_capacity():
    for capacity in (4, 10, 11, 500):
        instance = generate("paper", 2000, capacity, seed=1)
        for numbers in (instance.weights, instance.values):
            assert numbers.min() >= 1 and numbers.max() < 0.3 * capacity
            assert len(np.unique(numbers)) == -(-3 * capacity // 10) - 1 or capacity == 500


def test_pisingers_classes_are_what_he_says():
    n, r = 3000, 1000
    drawn = {kind: generate(kind, n, seed=5) for kind in CLASSES if kind != "paper"}
    w = {kind: one.weights.astype(int) for kind, one in drawn.items()}
    v = {kind: one.values.astype(int) for kind, one in drawn.items()}
    for kind in drawn.keys() - {"inverse-strongly-correlated", "similar-weights"}:
        assert w[kind].min() >= 1 and r - 5 < w[kind].max() <= r
    assert v["uncorrelated"].max() <= r and abs(np.corrcoef(w["uncorrelated"], v["uncorrelated"])[0, 1]) < 0.1
    gap = v["weakly-correlated"] - w["weakly-correlated"]
    assert gap.min() == -r // 10 and r // 10 in gap and v["weakly-correlated"].min() >= 1
    assert np.array_equal(v["strongly-correlated"], w["strongly-correlated"] + r // 10)
    assert np.array_equal(w["inverse-strongly-correlated"], v["inverse-strongly-correlated"] + r // 10)
    gap = v["almost-strongly-correlated"] - w["almost-strongly-correlated"] - r // 10
    assert (gap.min(), gap.max()) == (-r // 500, r // 500)
    assert np.array_equal(v["subset-sum"], w["subset-sum"])
    assert (w["similar-weights"].min(), w["similar-weights"].max()) == (100_000, 100_100)
    assert v["similar-weights"].min() >= 1 and v["similar-weights"].max() <= 1000
    for kind, one in drawn.items():
        assert one.capacity == w[kind].sum() // 2


def test_a_seed_is_the_same_instance_for_ever():
    instance = generate("paper", 5, 1000, seed=1)
    assert instance.name == "paper:5:1000:seed=1"
    assert instance.weights.tolist() == [91, 254, 47, 10, 270]
    assert instance.values.tolist() == [16, 223, 74, 123, 51]
    assert generate("paper", 5, 1000, seed=2).sha256 != instance.sha256
    assert generate("uncorrelated", 3, seed=1, largest=10**7).name == "uncorrelated:3:seed=1:range=10000000"


# --- files ---


def test_a_written_instance_is_read_again(tmp_path):
    instance = generate("weakly-correlated", 20, seed=3)
    write(tmp_path / "k.txt", instance)
    assert read(tmp_path / "k.txt").sha256 == instance.sha256
    packed = tmp_path / "k.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "k.txt").read_bytes().replace(b"\n", b"\r\n")))
    assert load("k.txt.gz", tmp_path).sha256 == instance.sha256


LAYOUTS = "\n4\n11\n\n6 5\n10 7\n9 6\n1 9", "4\n1 6 5\n2 10 7\n3 9 6\n4 1 9\n11", "4,11\n6,5\n10,7\n9,6\n1,9\n1 0 1 0\n"


@pytest.mark.parametrize("text", LAYOUTS)
def test_other_layouts_hold_the_same_instance(tmp_path, text):
    (tmp_path / "k.kp").write_text(text)
    with pytest.warns(UserWarning, match="k.kp: values are read before weights; FILE:weight-value has them the other"):
        assert load(str(tmp_path / "k.kp")).sha256 == small().sha256
    swapped = load("k.kp:weight-value", tmp_path)
    assert (swapped.weights.tolist(), swapped.values.tolist()) == (small().values.tolist(), small().weights.tolist())
    with pytest.raises(InstanceError, match="found one instance, number 2 asked for, expected value-weight or weight-"):
        load(str(tmp_path / "k.kp:2"))


def test_an_instance_of_several_is_chosen_by_number(tmp_path):
    (tmp_path / "all.csv").write_text(PISINGER + "c 5\nz 0\ntime 0.0\n1,3,2,1\n-----\n")
    with pytest.warns(UserWarning, match="knapPI_0_4_10: the first of 2 instances of the file; FILE:2 is the second"):
        assert load("all.csv", tmp_path).sha256 == load("all.csv:1", tmp_path).sha256 == small().sha256
    second = load("all.csv:2", tmp_path)
    assert (second.name, second.weights.tolist(), second.capacity) == ("knapPI_0_4_10_2", [2], 5)
    with pytest.raises(InstanceError, match="found instance '3', expected an integer from 1 to 2"):
        load("all.csv:3", tmp_path)


def test_both_formats_hold_the_same_instance(tmp_path):
    (tmp_path / "plain").write_text("4 11\n6 5\n10 7\n\n 9\t6\n1 9\n")
    (tmp_path / "knapPI_0_4_10.csv").write_text(PISINGER)
    plain, pisinger = read(tmp_path / "plain"), read(tmp_path / "knapPI_0_4_10.csv")
    assert plain.sha256 == pisinger.sha256 == small().sha256
    assert (pisinger.name, pisinger.optimum, plain.optimum) == ("knapPI_0_4_10", 15, None)
    assert pisinger.best_value() == pisinger.optimum
