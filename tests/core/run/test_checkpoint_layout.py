"""Layouts of checkpoints: whatever is wrong with an array of a state is one line, and no search resumes from it."""

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.run.checkpoint import SECONDS, Checkpointer
from tests.core.run import test_checkpoints

FREE = {
    "totals", "digest", "pheromone", "curve", "heat", "best", "left included",
    "left excluded", "left multipliers", "walks before numbers", "problem state",
}  # fmt: skip
"""Arrays with arbitrary elements, which nothing else in a state determines."""
FREE_LENGTH = {"left items", "left records", "nodes", "first nodes"}
"""Arrays of which a part may be valid."""


class AcceptedError(Exception):
    """The state has passed its layout."""


class Taking(Checkpointer):
    """A checkpointer that ends the run once its state has been checked."""

    def taken(self, layout):
        super().take(layout)
        raise AcceptedError


def searched(name, cpu):
    """A function that runs a search with a checkpointer, and its states."""
    kind = test_checkpoints.CASES[name]
    states, _ = test_checkpoints.kept_states(name, cpu)
    return lambda checkpointer: test_checkpoints.run(kind, cpu, Solo(), checkpointer), states


NAMES = [name for name in test_checkpoints.CASES if name not in ("1-trees", "knapsack bounded")]
QUICK = ("walks that exchange", "hill climbing", "colonies that exchange", "1-trees, counted")


def marked(names):
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names]


def of_another_kind(array):
    """The same content as another array, which no search writes."""
    other = np.zeros(array.shape) if array.dtype.kind in "biuU" else np.zeros(array.shape, np.int64)
    yield "a text", np.array("text")
    yield "another type", other
    yield "a further axis", array[None]
    yield "NaN", np.full(array.shape, np.nan)
    yield "objects' bytes", np.zeros(array.shape, "V8")


def of_another_size(array):
    if array.ndim and len(array):
        yield "a row less", array[:-1]
        yield "a row more", np.concatenate([array, array[-1:]])
        yield "no row", array[:0]


def of_other_values(array):
    if array.dtype.kind in "iu":
        for value in (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max, np.array(-1).astype(array.dtype)):
            yield f"all {value}", np.full_like(array, value)
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -np.inf, -1e30, 1e30):
            yield f"all {value}", np.full_like(array, value)


def outcome(run, keeper_kind, state):
    """Refusal of a state; None if it is accepted or leads to a result."""
    try:
        run(keeper_kind(lambda state: None, state, 1e9))
    except AcceptedError:
        return None
    except UserError as error:
        assert str(error).isprintable()
        return str(error)
    return None


@pytest.mark.parametrize("name", marked(NAMES))
def test_whatever_is_wrong_with_an_array_of_a_checkpoint_is_one_line(name, cpu):
    run, states = searched(name, cpu)
    tried = 0
    for state in states[len(states) // 2 :][:1]:
        assert outcome(run, Taking, state) is None
        for array, content in state.items():
            less = {other: one for other, one in state.items() if other != array}
            for what, one in ((f"no {array}", less), *((w, {**state, array: a}) for w, a in of_another_kind(content))):
                if what != "NaN" or content.dtype.kind != "f":
                    assert f"array {array!r}: found " in (outcome(run, Taking, one) or "accepted"), (array, what)
            for what, changed in [*of_another_size(content), *of_other_values(content)]:
                said = outcome(run, Taking, {**state, array: changed})
                free = FREE_LENGTH if len(changed.shape) and changed.shape != content.shape else FREE
                same = changed.dtype == content.dtype and np.array_equal(changed, content)
                assert said is not None or same or array in free, (array, what)
                tried += 1
        said = outcome(run, Taking, {**state, "another": np.zeros(3)})
        assert said.endswith("array 'another': found float64 of shape (3), expected no such array")
    assert tried > 5


@pytest.mark.parametrize("name", marked([*QUICK, "the thesis' bound, counted"]))
def test_a_forged_checkpoint_that_has_its_layout_ends_with_a_result_or_one_line(name, cpu):
    run, states = searched(name, cpu)
    state = states[len(states) // 2]
    for array, found in state.items():
        for what, changed in [*of_another_size(found), *of_other_values(found)]:
            forged = {**state, array: changed}
            if outcome(run, Taking, forged) is None:
                try:
                    outcome(run, Checkpointer, forged)
                except Exception as error:
                    error.add_note(f"{array}: {what}")
                    raise


def test_a_run_that_claims_more_than_its_work_is_refused(cpu):
    run, states = searched("tabu search", cpu)
    for done in (10**9, -1, 0, 299):
        said = outcome(run, Taking, {**states[0], "done": np.array(done)})
        assert said.startswith(
            ("the state of the search: array 'done': found", "the state of the search: array 'contr")
        )
    control = states[0]["control"].copy()
    control[0, 4] = 4  # all iterations made
    said = outcome(run, Taking, {**states[0], "control": control})
    assert "array 'control': found walk 0 with stop code 4 after" in said


@pytest.mark.parametrize("seconds", [np.array(-1.0), np.array(np.nan), np.array("x"), np.zeros(2), None])
def test_the_seconds_of_a_state_are_checked_before_anything_else(seconds):
    state = {} if seconds is None else {SECONDS: seconds}
    with pytest.raises(UserError, match=r"^w\.state: array 'seconds': found "):
        Checkpointer(None, state, source="w.state")


# --- declarations ---
