"""The permuted perceptron problem: known secrets, the cost by loops, files and refusals."""

import dataclasses
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.problems import perceptron
from core.problems.errors import InstanceError

SIZES = ["73-73", "81-81", "101-117", "201-217", "401-417", "601-617", "801-817", "1001-1017", "1301-1317"]

TEXT = "2 3\n+1 -1 1\n-1 -1 +1\n\n1\n3\n"


def philox(key: int, counter: int) -> list[int]:
    """Return one block of Philox4x64-10 in plain integers (Salmon, Moraes, Dror, Shaw 2011)."""
    mask = 2**64 - 1
    words = [counter, 0, 0, 0]
    keys = [key, 0]
    for _ in range(10):
        first, second = words[0] * 0xD2E7470EE14C6C93, words[2] * 0xCA5A826395121157
        words = [second >> 64 ^ words[1] ^ keys[0], second & mask, first >> 64 ^ words[3] ^ keys[1], first & mask]
        keys = [keys[0] + 0x9E3779B97F4A7C15 & mask, keys[1] + 0xBB67AE8584CAA73B & mask]
    return words


def cost_by_loops(instance: perceptron.PerceptronInstance, bits: list[int]) -> int:
    """Return the cost as the definition reads, without NumPy."""
    signs = [1 if bit else -1 for bit in bits]
    matrix, n = instance.matrix.tolist(), len(bits)
    found = [sum(a * v for a, v in zip(row, signs, strict=True)) for row in matrix]
    negative = sum(abs(y) - y for y in found)
    wanted = instance.targets.tolist()
    differences = sum(abs(wanted.count(v) - found.count(v)) for v in range(-n, n + 1))
    return instance.negative_weight * negative + instance.histogram_weight * differences


@pytest.mark.parametrize("size", SIZES)
def test_the_papers_sizes_have_a_secret_of_cost_zero(size):
    instance = perceptron.load(size)
    assert f"{instance.m}-{instance.n}" == size
    assert perceptron.cost(instance, (instance.secret + 1) // 2) == 0 == instance.optimum
    assert (instance.targets >= 0).all() and (np.diff(instance.targets) >= 0).all()
    # its negative has all products negated
    expected = 2 * 30 * int(instance.targets.sum()) + 2 * int(np.count_nonzero(instance.targets))
    assert perceptron.cost(instance, (1 - instance.secret) // 2) == expected


def test_entries_are_philoxs_bits():
    # the known answer of Random123 for an all-zero counter and key
    known = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    assert philox(0, 0) == known
    key = 2**63 - 1
    instance = perceptron.generate(19, 17, seed=key)
    # NumPy steps its counter before the first block
    words = [word for counter in (1, 2) for word in philox(key, counter)]
    signs = [1 if word >> k & 1 else -1 for word in words for k in range(64)]
    secret = signs[19 * 17 : 20 * 17]
    assert instance.secret.tolist() == secret
    products = []
    for k in range(19):
        row = signs[17 * k : 17 * (k + 1)]
        product = sum(a * v for a, v in zip(row, secret, strict=True))
        expected = row if product >= 0 else [-a for a in row]
        assert instance.matrix[k].tolist() == expected
        products.append(abs(product))
    assert instance.targets.tolist() == sorted(products)


@given(m=st.integers(1, 9), n=st.integers(1, 8), seed=st.integers(0, 2**63 - 1), data=st.data())
def test_cost_is_what_loops_sum_up(m, n, seed, data):
    weights = data.draw(st.tuples(st.integers(0, 99), st.integers(0, 99)))
    instance = perceptron.generate(m, n, seed, *weights)
    bits = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    assert perceptron.cost(instance, np.array(bits)) == cost_by_loops(instance, bits)


def test_zero_is_the_least_cost_and_means_solved():
    instance = perceptron.generate(7, 9, seed=3)
    for bits in itertools.product((0, 1), repeat=9):
        products = np.sort(instance.matrix.astype(int) @ (2 * np.array(bits) - 1))
        assert (perceptron.cost(instance, bits) == 0) == np.array_equal(products, instance.targets)


def test_products_do_not_wrap_around_in_bytes():
    ones = np.ones((2, 1001), dtype=np.int8)
    instance = perceptron.PerceptronInstance("ones", ones, [1001, 1001])
    assert perceptron.products(instance, np.ones(1001, dtype=bool)).tolist() == [1001, 1001]
    assert perceptron.cost(instance, np.zeros(1001)) == 30 * 2 * 2002 + 4


def test_histogram_of_targets_counts_every_value():
    instance = perceptron.PerceptronInstance("small", [[1, -1], [1, 1], [-1, -1]], [2, 0, 0])
    assert instance.target_histogram.tolist() == [0, 0, 2, 0, 1]
    assert instance.targets.tolist() == [0, 0, 2] and instance.optimum is None


def test_seed_comes_from_the_name_or_else_from_the_argument():
    first, again, other = (perceptron.load(*given) for given in (("9-8:seed=5",), ("9-8", None, 5), ("9-8",)))
    assert first.name == again.name == "9-8:seed=5" and other.name == "9-8:seed=0"
    assert first.sha256 == again.sha256 != other.sha256
    assert perceptron.load(other.name, seed=5).sha256 == other.sha256


def test_digest_covers_matrix_targets_and_weights_but_not_the_name():
    instance = perceptron.generate(5, 6, seed=1)
    renamed = dataclasses.replace(instance, name="other", source="elsewhere", secret=None)
    assert renamed.sha256 == instance.sha256
    assert dataclasses.replace(instance, negative_weight=7).sha256 != instance.sha256
    assert dataclasses.replace(instance, histogram_weight=7).sha256 != instance.sha256
    assert dataclasses.replace(instance, secret=None, targets=[0, 0, 0, 0, 0]).sha256 != instance.sha256
    assert dataclasses.replace(instance, secret=None, matrix=-instance.matrix).sha256 != instance.sha256
    assert pickle.loads(pickle.dumps(instance)).sha256 == instance.sha256


def test_file_gives_matrix_and_targets(tmp_path):
    (tmp_path / "three.txt").write_text(TEXT.replace("\n", "\r\n"))
    for instance in (
        perceptron.load(str(tmp_path / "three.txt"), negative_weight=2),
        perceptron.load("three.txt", tmp_path, negative_weight=2),
    ):
        assert (instance.name, instance.m, instance.n, instance.optimum) == ("three", 2, 3, None)
        assert instance.matrix.tolist() == [[1, -1, 1], [-1, -1, 1]]
        assert instance.targets.tolist() == [1, 3]
        # the rows' products with (-1, -1, 1) are 1 and 3; with (1, 1, -1) they are -1 and -3
        assert perceptron.cost(instance, [0, 0, 1]) == 0
        assert perceptron.cost(instance, [1, 1, 0]) == 2 * (2 + 6) + 4


@given(m=st.integers(1, 6), n=st.integers(1, 6), seed=st.integers(0, 99))
def test_written_instance_reads_back(m, n, seed):
    instance = perceptron.generate(m, n, seed)
    rows = [" ".join(f"{entry:+d}" for entry in row) for row in instance.matrix]
    again = perceptron.parse("\n".join([f"{m} {n}", *rows, " ".join(map(str, instance.targets))]))
    assert again.sha256 == instance.sha256


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "file.txt:1: found an empty file, expected a line 'm n'"),
        ("2\n", "file.txt:1: found '2', expected two integers 'm n'"),
        ("2 x\n", "file.txt:1: found '2 x', expected two integers"),
        ("2 3 4\n", "file.txt:1: found '2 3 4', expected two integers"),
        ("0 3\n", "file.txt:1: found 0 rows and 3 columns, expected at least one of each"),
        ("2 -3\n", "file.txt:1: found 2 rows and -3 columns, expected at least one of each"),
        ("99999 99999\n", "file.txt:1: found 99999 rows, 99999 columns and weights 30 and 1, so costs up to"),
        ("2 3\n\n1 1 1\n", "file.txt:3: found the end after 1 rows, expected 2 rows of 3 entries"),
        (TEXT.replace("-1 1\n", "-1\n"), "file.txt:2: found 2 entries, expected 3"),
        (TEXT.replace("-1 1\n", "-1 1 1\n"), "file.txt:2: found 4 entries, expected 3"),
        (TEXT.replace("-1 1\n", "-1 0\n"), "file.txt:2: found '0', expected +1 or -1"),
        (TEXT.replace("1\n3", "1"), "file.txt:5: found the end after 1 targets, expected 2 targets"),
        (TEXT[:21], "file.txt:3: found the end after 0 targets, expected 2 targets"),
        (TEXT + "1\n", "file.txt:7: found '1' after them, expected 2 targets"),
        (
            TEXT.replace("3\n", "5\n").replace("2 5", "2 3"),
            "file.txt:6: found target '5', expected an odd integer from 0 to 3",
        ),
        (TEXT.replace("\n1\n", "\n2\n"), "file.txt:5: found target '2', expected an odd integer"),
        (TEXT.replace("\n1\n", "\n-1\n"), "file.txt:5: found target '-1', expected an odd integer"),
        (TEXT.replace("\n1\n", "\n1.0\n"), "file.txt:5: found target '1.0', expected an odd integer"),
    ],
)
def test_malformed_file_is_refused_with_its_line(tmp_path, text, words):
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(InstanceError) as raised:
        perceptron.load(str(path))
    assert words in str(raised.value)


def test_damaged_archive_is_refused(tmp_path):
    (tmp_path / "a.txt.gz").write_text("no archive")
    with pytest.raises(InstanceError, match="expected a perceptron file"):
        perceptron.load("a.txt.gz", tmp_path)


@pytest.mark.parametrize(
    "spec, words",
    [
        ("73x73", "found no such file and no such size, expected a file, or m-n or m-n:seed=INTEGER"),
        ("73", "no such size"),
        ("73-", "no such size"),
        ("-1-73", "no such size"),
        ("73-73:seed=", "no such size"),
        ("73-73:sed=1", "no such size"),
        ("nothing.txt", "no such file"),
        ("0-73", "found 0 rows and 73 columns, expected at least one of each"),
        ("73-0", "found 73 rows and 0 columns"),
        ("73-73:seed=9223372036854775808", "seed 9223372036854775808, expected an integer from 0"),
        (
            "6000-6000",
            "6000-6000:seed=0: found 6000 rows, 6000 columns and weights 30 and 1, so costs up to 2160012000, expected costs of at most 2147483647",
        ),
    ],
)
def test_wrong_name_is_refused(spec, words):
    with pytest.raises(InstanceError) as raised:
        perceptron.load(spec)
    assert words in str(raised.value)


def test_the_bound_of_31_bits_is_sharp():
    # 2 * (10**6 * 1073 + 741823) = 2**31 - 2
    perceptron.check_size("most", 1, 1073, 10**6, 741823)
    with pytest.raises(InstanceError, match="so costs up to 2147483648"):
        perceptron.check_size("more", 1, 1073, 10**6, 741824)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"matrix": [1, -1]}, r"a matrix of shape \(2,\)"),
        ({"matrix": np.ones((0, 2))}, "0 rows and 2 columns"),
        ({"matrix": [[1, 0], [1, 1]]}, r"0 in the matrix, expected \+1 or -1"),
        ({"targets": [0]}, r"targets of shape \(1,\)"),
        ({"targets": [0.0, 2.0]}, "float64"),
        ({"targets": [0, 4]}, "target 4, expected an even integer from 0 to 2"),
        ({"targets": [0, 1]}, "target 1, expected an even integer"),
        ({"targets": [-2, 2]}, "target -2"),
        ({"secret": [1]}, "a secret of shape"),
        ({"secret": [1, 0]}, "0 in the secret"),
        ({"secret": [1, -1]}, None),
        ({"secret": [-1, -1]}, "a secret with other products than the targets"),
        ({"negative_weight": 1.5}, "negative_weight 1.5, expected an integer from 0"),
        ({"histogram_weight": 1.0}, "histogram_weight 1.0, expected an integer from 0"),
        ({"negative_weight": -1}, "negative_weight -1, expected an integer from 0"),
        ({"histogram_weight": -1}, "histogram_weight -1, expected an integer from 0"),
    ],
)
def test_wrong_parts_are_refused(change, words):
    parts = {"name": "given", "matrix": [[1, -1], [1, 1]], "targets": [2, 0]} | change
    if words is None:
        assert perceptron.PerceptronInstance(**parts).optimum == 0
        return
    with pytest.raises(InstanceError, match=words):
        perceptron.PerceptronInstance(**parts)


def test_a_matrix_that_weights_allow_may_still_be_too_large():
    with pytest.raises(InstanceError, match="at most 67108864 entries"):
        perceptron.load("8193-8192", negative_weight=0)


def test_data_folder_must_be_there(tmp_path):
    with pytest.raises(InstanceError, match="no such folder"):
        perceptron.load("73-73", tmp_path / "none")


@pytest.mark.parametrize(
    "bits, words", [([0, 1], "shape"), ([[0, 1, 1]], "shape"), ([0, 1, 2], "bit 2"), ([-1, 1, 1], "bit -1")]
)
def test_wrong_solution_is_refused(bits, words):
    with pytest.raises(ValueError, match=words):
        perceptron.cost(perceptron.parse(TEXT), bits)
