"""Knapsack instances: generators that stay what they are, both text formats, errors by file and line, the scorer."""

import gzip
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.problems.errors import InstanceError
from core.problems.knapsack import CLASSES, MOST_CAPACITY, Knapsack, generate, load, read, write

PISINGER = """knapPI_0_4_10
n 4
c 11
z 15
time 0.00
1,6,5,1
2,10,7,0
3,9,6,1
4,1,9,0
-----

knapPI_0_4_10_2
n 1
"""


FIRST_WEIGHTS, FIRST_VALUES = [91, 254, 47, 10, 270], [16, 223, 74, 123, 51]


def small():
    return Knapsack("small", np.array([5, 7, 6, 9]), np.array([6, 10, 9, 1]), 11)


def test_a_capacity_or_a_size_that_is_no_integer_is_refused():
    weights = values = np.array([5, 7])
    for capacity in (10.5, 10.0, np.float64(10), "10", None):
        with pytest.raises(InstanceError, match=f"capacity {capacity}, expected an integer from 0"):
            Knapsack("small", weights, values, capacity)
    assert Knapsack("small", weights, values, np.uint8(11)).capacity == 11
    with pytest.raises(InstanceError, match="weights of float64, expected integers"):
        Knapsack("small", weights + 0.5, values, 10)
    with pytest.raises(InstanceError, match="number of items 2.0, expected an integer from 1"):
        generate("uncorrelated", 2.0)
    with pytest.raises(InstanceError, match="capacity 10.5, expected an integer from 4"):
        generate("paper", 2, 10.5)


@pytest.mark.parametrize("text, line", [("0 5\n", 1), (PISINGER.replace("n 4", "n 0"), 2)])
def test_a_file_without_items_is_refused_at_its_line(tmp_path, text, line):
    (tmp_path / "none.kp").write_text(text)
    with pytest.raises(InstanceError) as raised:
        load(str(tmp_path / "none.kp"))
    assert str(raised.value) == f"{tmp_path}/none.kp:{line}: found 0 items, expected 1 to 1000000"


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
    useful = instance.useful_items().tolist()
    assert useful == sorted(
        (k for k, (w, v) in enumerate(items) if w <= capacity and v > 0), key=lambda k: (items[k][0], k)
    )


def test_a_selection_must_have_a_truth_value_for_each_item():
    for wrong in (np.ones(3, bool), np.ones(4, int)):
        with pytest.raises(ValueError, match=r"expected \(4,\) and bool"):
            small().weight_and_value(wrong)


# --- instances ---


@pytest.mark.parametrize(
    ("weights", "values", "capacity", "told"),
    [
        ([1, 2], [1], 3, "found 2 weights, 1 values, expected as many of both"),
        ([], [], 3, r"found weights of shape \(0,\)"),
        ([1.5], [1], 3, "found weights of float64, expected integers"),
        ([1], [-1], 3, "found value -1, expected an integer from 0 to 4294967295"),
        ([2**32], [1], 3, "found weight 4294967296"),
        ([1], [1], -1, "found capacity -1"),
        ([1], [1], MOST_CAPACITY + 1, f"expected an integer from 0 to {MOST_CAPACITY}"),
    ],
)
def test_what_is_no_knapsack_is_refused(weights, values, capacity, told):
    with pytest.raises(InstanceError, match=told):
        Knapsack("test", np.array(weights), np.array(values), capacity)


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
    for kind in (
        "uncorrelated",
        "weakly-correlated",
        "strongly-correlated",
        "almost-strongly-correlated",
        "subset-sum",
    ):
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
    assert instance.weights.tolist() == FIRST_WEIGHTS
    assert instance.values.tolist() == FIRST_VALUES
    assert generate("paper", 5, 1000, seed=2).sha256 != instance.sha256
    assert generate("uncorrelated", 3, seed=1, largest=10**7).name == "uncorrelated:3:seed=1:range=10000000"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("paper", 5), "found no capacity, expected an integer from 4"),
        (("paper", 5, 3), "found capacity 3, expected an integer from 4"),
        (("paper", 0, 30), "found number of items 0, expected an integer from 1"),
        (("paper", 5, 30, -1), "found seed -1"),
        (("hard", 5, 30), "found class 'hard', expected one of paper, uncorrelated"),
        (("subset-sum", 5, 30, 1, 999), "found range 999, expected an integer from 1000"),
    ],
)
def test_what_cannot_be_generated_is_refused(arguments, told):
    with pytest.raises(InstanceError, match=told):
        generate(*arguments)


# --- files ---


def test_a_written_instance_is_read_again(tmp_path):
    instance = generate("weakly-correlated", 20, seed=3)
    write(tmp_path / "k.txt", instance)
    assert read(tmp_path / "k.txt").sha256 == instance.sha256
    packed = tmp_path / "k.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "k.txt").read_bytes().replace(b"\n", b"\r\n")))
    assert load("k.txt.gz", tmp_path).sha256 == instance.sha256


def test_both_formats_hold_the_same_instance(tmp_path):
    (tmp_path / "plain").write_text("4 11\n6 5\n10 7\n\n 9\t6\n1 9\n")
    (tmp_path / "knapPI_0_4_10.csv").write_text(PISINGER)
    plain, pisinger = read(tmp_path / "plain"), read(tmp_path / "knapPI_0_4_10.csv")
    assert plain.sha256 == pisinger.sha256 == small().sha256
    assert (pisinger.name, pisinger.optimum, plain.optimum) == ("knapPI_0_4_10", 15, None)
    assert pisinger.best_value() == pisinger.optimum


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ":1: found the end of the file, expected the number of items and the capacity"),
        ("2 10 3\n", ":1: found '2 10 3', expected the number of items and the capacity"),
        ("2 ten\n", ":1: found capacity 'ten', expected an integer from 0 to 1073741823"),
        ("2 10\n3 4\n", ":2: found the end of the file, expected value and weight of item 2 of 2"),
        pytest.param(
            "1 10\n\n3 -4\n",
            ":3: found weight '-4', expected an integer from 0 to 4294967295",
            id="below an empty line",
        ),
        ("1 10\n3 4\n5 6\n", ":3: found '5 6', expected the end of the file after 1 items"),
        ("0 10\n", ":1: found 0 items, expected 1 to"),
        (PISINGER.replace("c 11", "C 11"), ":3: found 'C 11', expected c and an integer"),
        (PISINGER.replace("time", "took"), ":5: found 'took 0.00', expected time and seconds"),
        (PISINGER.replace("2,10,7,0", "2,10,7"), ":7: found '2,10,7', expected number,value,weight,x of item 2 of 4"),
        (PISINGER.replace("2,10,7,0", "2,10,7,2"), ":7: found x '2', expected an integer from 0 to 1"),
        (PISINGER.replace("n 4", "n 3"), ":9: found '4,1,9,0', expected ----- after 3 items"),
        (PISINGER.replace("n 4", "n 5"), ":10: found '-----', expected number,value,weight,x of item 5 of 5"),
    ],
)
def test_a_broken_file_is_refused_by_its_line(tmp_path, text, told):
    (tmp_path / "k.txt").write_text(text)
    with pytest.raises(InstanceError, match="k.txt" + told):
        read(tmp_path / "k.txt")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InstanceError, match="none.txt: found no such file"):
        load("none.txt", tmp_path)
    with pytest.raises(InstanceError, match="no such folder"):
        load("none.txt", tmp_path / "none")
