"""Flow shops and linear orderings: published and generated instances, and LOLIB's texts."""

import numpy as np
import pytest

from core.problems.more.flow_shop import shops
from core.problems.more.linear_ordering import matrices
from core.problems.more.linear_ordering.problem import LinearOrdering
from tests.core.problems.test_generators import split_mix


def test_taillard_s_first_instance_comes_out_number_for_number():
    times = shops.load("ta001").times
    assert times.shape == (20, 5)
    first = "54 83 15 71 77 36 53 38 27 87 76 91 14 29 12 77 32 87 68 94"
    last = "58 56 20 85 53 35 53 41 69 13 86 72 8 49 47 87 58 18 68 28"
    assert [times[:, 0].tolist(), times[:, 4].tolist()] == [[*map(int, row.split())] for row in (first, last)]


def test_all_hundred_and_twenty_are_there_in_their_sizes():
    assert list(shops.PUBLISHED) == [f"ta{k:03d}" for k in range(1, 121)]
    shapes = [shops.load(f"ta{k:03d}").times.shape for k in range(1, 121, 10)]
    assert shapes == list(shops.SEEDS) and len({*shops.PUBLISHED.values()}) == 120
    assert shops.load("ta120").times.shape == (500, 20)


def test_no_published_optimum_is_outside_the_bounds():
    for k in (*range(1, 51), *range(61, 81)):
        instance = shops.load(f"ta{k:03d}")
        least, most = instance.bounds
        assert least <= instance.optimum < most
        assert instance.optimum <= instance.makespans(np.arange(instance.jobs)[None])[0]


def test_any_other_size_and_seed_is_an_instance_too():
    mine, again = shops.load("taillard:20:5:seed=873654221"), shops.load("ta001")
    assert (mine.sha256, mine.optimum, mine.name) == (again.sha256, None, "taillard:20:5:seed=873654221")
    assert shops.load("taillard:9:2").name == "taillard:9:2:seed=1"


TEXT = "four sectors of 1975\n 4\n 9 1 2 3\n 4 9 5 6\n 7 8 9 1\n 2 3 -4 9\n"


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.split("\n", 1)[1], TEXT.replace("\n 4 9", " 4\r\n9").replace(" 2 3 -4", "\n\n2 3 -4")]
)
def test_a_text_is_read_with_a_title_or_without_in_any_layout(tmp_path, text):
    (tmp_path / "lolib").mkdir()
    (tmp_path / "lolib" / "four.mat").write_bytes(text.encode())
    instance = matrices.load("four", tmp_path)
    assert (instance.name, instance.n) == ("four", 4)
    assert instance.weights.tolist() == [[9, 1, 2, 3], [4, 9, 5, 6], [7, 8, 9, 1], [2, 3, -4, 9]]
    assert matrices.load(str(tmp_path / "lolib" / "four.mat")).sha256 == instance.sha256
    assert LinearOrdering("four", tmp_path).cost(np.array([0, 1, 2, 3])) == -18


def test_generated_weights_are_the_words_scaled():
    instance = matrices.generate("random:9:largest=20:seed=6")
    drawn = np.array([(word >> 32) * 21 >> 32 for word in split_mix(6, 81)]).reshape(9, 9)
    np.fill_diagonal(drawn, 0)
    assert instance.weights.tolist() == drawn.tolist()
    assert (instance.name, matrices.load("random:5").name) == (
        "random:9:largest=20:seed=6",
        "random:5:largest=100:seed=1",
    )
