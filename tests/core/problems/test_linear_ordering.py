"""Linear ordering: worths by loops and brute force, kept sums behind walks, LOLIB's files and refusals."""

import numpy as np
import pytest

from core.problems import orderings
from core.problems.linear_ordering import LinearOrdering
from tests.core.problems.test_generators import split_mix

TEXT = "four sectors of 1975\n 4\n 9 1 2 3\n 4 9 5 6\n 7 8 9 1\n 2 3 -4 9\n"


# --- instances ---


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.split("\n", 1)[1], TEXT.replace("\n 4 9", " 4\r\n9").replace(" 2 3 -4", "\n\n2 3 -4")]
)
def test_a_text_is_read_with_a_title_or_without_in_any_layout(tmp_path, text):
    (tmp_path / "lolib").mkdir()
    (tmp_path / "lolib" / "four.mat").write_bytes(text.encode())
    instance = orderings.load("four", tmp_path)
    assert (instance.name, instance.n) == ("four", 4)
    assert instance.weights.tolist() == [[9, 1, 2, 3], [4, 9, 5, 6], [7, 8, 9, 1], [2, 3, -4, 9]]
    assert orderings.load(str(tmp_path / "lolib" / "four.mat")).sha256 == instance.sha256
    assert LinearOrdering("four", tmp_path).cost(np.array([0, 1, 2, 3])) == -18


def test_generated_weights_are_the_words_scaled():
    instance = orderings.generate("random:9:largest=20:seed=6")
    drawn = np.array([(word >> 32) * 21 >> 32 for word in split_mix(6, 81)]).reshape(9, 9)
    np.fill_diagonal(drawn, 0)
    assert instance.weights.tolist() == drawn.tolist()
    assert (instance.name, orderings.load("random:5").name) == (
        "random:9:largest=20:seed=6",
        "random:5:largest=100:seed=1",
    )
