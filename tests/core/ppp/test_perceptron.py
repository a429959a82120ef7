"""The permuted perceptron problem: known secrets, generated entries, digests and files."""

import dataclasses
import pickle

import numpy as np
import pytest

from core.instances.errors import InstanceError
from core.ppp import perceptron

TEXT = "2 3\n+1 -1 1\n-1 -1 +1\n\n1\n3\n"


def philox(key: int, counter: int) -> list[int]:
    """One block of Philox4x64-10 in plain integers (Salmon, Moraes, Dror, Shaw 2011)."""
    mask = 2**64 - 1
    words = [counter, 0, 0, 0]
    keys = [key, 0]
    for _ in range(10):
        first, second = words[0] * 0xD2E7470EE14C6C93, words[2] * 0xCA5A826395121157
        words = [second >> 64 ^ words[1] ^ keys[0], second & mask, first >> 64 ^ words[3] ^ keys[1], first & mask]
        keys = [keys[0] + 0x9E3779B97F4A7C15 & mask, keys[1] + 0xBB67AE8584CAA73B & mask]
    return words


@pytest.mark.parametrize("size", ["73-73", "101-117", "1301-1317"])
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


def test_products_do_not_wrap_around_in_bytes():
    ones = np.ones((2, 1001), dtype=np.int8)
    instance = perceptron.PerceptronInstance("ones", ones, [1001, 1001])
    assert perceptron.products(instance, np.ones(1001, dtype=bool)).tolist() == [1001, 1001]
    assert perceptron.cost(instance, np.zeros(1001)) == 30 * 2 * 2002 + 4


def test_seed_comes_from_the_name_or_else_from_the_argument():
    first, again, other = (perceptron.load(*given) for given in (("9-8:seed=5",), ("9-8", None, 5), ("9-8",)))
    assert first.name == again.name == "9-8:seed=5" and other.name == "9-8:seed=0"
    assert first.sha256 == again.sha256 != other.sha256
    assert perceptron.load(other.name, seed=5).sha256 == other.sha256


def test_digest_covers_matrix_and_targets_but_not_the_name():
    instance = perceptron.generate(5, 6, seed=1)
    renamed = dataclasses.replace(instance, name="other", source="elsewhere", secret=None)
    assert renamed.sha256 == instance.sha256
    assert dataclasses.replace(instance, secret=None, targets=[0, 0, 0, 0, 0]).sha256 != instance.sha256
    assert dataclasses.replace(instance, secret=None, matrix=-instance.matrix).sha256 != instance.sha256
    assert pickle.loads(pickle.dumps(instance)).sha256 == instance.sha256


def test_file_gives_matrix_and_targets(tmp_path):
    (tmp_path / "three.txt").write_text(TEXT.replace("\n", "\r\n"))
    for instance in (perceptron.load(str(tmp_path / "three.txt")), perceptron.load("three.txt", tmp_path)):
        assert (instance.name, instance.m, instance.n, instance.optimum) == ("three", 2, 3, None)
        assert instance.matrix.tolist() == [[1, -1, 1], [-1, -1, 1]]
        assert instance.targets.tolist() == [1, 3]
        # the rows' products with (-1, -1, 1) are 1 and 3; with (1, 1, -1) they are -1 and -3
        assert perceptron.cost(instance, [0, 0, 1]) == 0
        assert perceptron.cost(instance, [1, 1, 0]) == 30 * (2 + 6) + 4


def test_the_bound_of_31_bits_is_sharp():
    # 2 * (30 * 35791394 + 1) = 2**31 - 6
    perceptron.check_size("most", 1, 35791394)
    with pytest.raises(InstanceError, match="so costs up to 2147483702"):
        perceptron.check_size("more", 1, 35791395)
