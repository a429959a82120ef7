"""Named arrays mean on every device what they mean in plain Python."""

import numpy as np
import pytest

from backends.device import LaunchRefused
from core.lang.bundles import placed
from tests.core.lang.test_bundles import Noted, Status, loaded

NAMED = """\
@function
def improved(status: Status, cost: i32) -> boolean:
    return cost < status.best

@function
def total(values: Array[i32]) -> i32:
    return values[Status.cost] + values[Status.at - 1] + values[2]

@kernel
def k(walks: Rows[Noted], order: Status, out: Array[i32]):
    for w in range(walks.count):
        walk = walks[w]
        walk.status.cost += walk.all.best - 1
        if improved(walk.status, walk.status.cost):
            walk.status.best, walk.status.at = walk.status.cost, w
        order.at = total(order)
        out[w] = walks[w].status.best * 100 + total(walk.status)
"""


def test_l75_elements_of_a_named_array_have_names(tmp_path, devices):
    module = loaded(tmp_path, NAMED)
    for backend in devices:
        walks = backend.rows(Noted(n=1, all=np.array([0, 3, 0], np.int32)), 3, S=np.uint8)
        status = np.array([[1, 9, 0], [5, 6, 0], [2, 9, 0]], np.int32)
        backend.write(walks.status, status)
        order, out = backend.upload(np.array([1, 2, 3], np.int32)), backend.upload(np.zeros(3, np.int32))
        backend.launch(module.k, 1, 1, walks, order, out)
        after = backend.download(walks.status).reshape(3, 3)
        assert after[:, Status.cost].tolist() == [3, 7, 4], backend.name
        assert after[:, [Status.best, Status.at]].tolist() == [[3, 0], [6, 0], [4, 2]], backend.name
        assert backend.download(order).tolist() == [1, 2, 12], backend.name
        assert backend.download(out).tolist() == [306, 613, 410], backend.name


@pytest.mark.parametrize("place", ["global", "readonly"])
@pytest.mark.parametrize(("count", "other", "words"), [(2, 3, r"walks\[\]\.all has 2"), (5, 2, "order has 2")])
def test_l75_a_launch_refuses_a_buffer_shorter_than_the_names(tmp_path, devices, place, count, other, words):
    kernel = loaded(tmp_path, NAMED).k
    for backend in devices:
        walks = backend.rows(placed(Noted(n=1, all=np.arange(count, dtype=np.int32)), place), 1, S=np.uint8)
        out = backend.upload(np.zeros(1, np.int32))
        with pytest.raises(LaunchRefused, match=f"k: argument {words} elements; expected cost, best, at$"):
            backend.launch(kernel, 1, 1, walks, backend.upload(np.zeros(other, np.int32)), out)


def test_l75_elements_after_the_names_do_not_belong_to_the_array(tmp_path, devices):
    kernel = loaded(tmp_path, "@kernel\ndef k(order: Status, n: i32):\n    order[n] = 1\n").k
    for backend in devices:
        order = backend.upload(np.zeros(7, np.int32))
        backend.launch(kernel, 1, 1, order, 2)
        assert backend.download(order).tolist() == [0, 0, 1, 0, 0, 0, 0], backend.name
    with pytest.raises(IndexError, match="index 3 outside an array of 3 elements"):
        devices[0].launch(kernel, 1, 1, devices[0].upload(np.zeros(7, np.int32)), 3)
