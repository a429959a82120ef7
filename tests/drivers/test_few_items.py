"""Programs with fewer walks, climbers, ants, colonies, subtrees or rows than ranks find what one rank finds."""

import json
from pathlib import Path

import pytest

from drivers.state_file import StateFile
from tests.drivers import few_items
from tests.drivers.few_items import KEEPING, PLAIN, RESUMED, VARIANTS, WORK

PROGRAM = Path(few_items.__file__)
RANKS = 3
SURVIVING = ("2 walks that exchange", "2 climbers", "2 colonies that exchange")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        pytest.param((), tuple(WORK), marks=pytest.mark.slow, id="plain"),
        pytest.param(("--with-ft", "ulfm"), SURVIVING, marks=pytest.mark.long, id="ulfm"),
    ],
)
def test_three_ranks_and_one_find_the_same_from_each_other_s_states(options, names, mpirun, tmp_path, monkeypatch):
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    monkeypatch.setattr(StateFile, "write", StateFile.write)  # what the next line replaces comes back
    few_items.keep_first_states()
    assert [few_items.run(alone, name, one) for name in names for one in (PLAIN, KEEPING)] == [0] * 2 * len(names)
    done = mpirun(RANKS, PROGRAM, together, alone, *names, options=options)
    assert done.returncode == 0, done.stderr
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    expected = {name: few_items.hash_of(alone, name, PLAIN) for name in names}
    assert found == {name: dict.fromkeys(VARIANTS, one) for name, one in expected.items()}
    for name in names:
        assert few_items.run(alone, name, RESUMED, together) == 0
        assert few_items.hash_of(alone, name, RESUMED) == expected[name]
