"""The benchmark's command line: nothing stands in its help that the benchmark does not look at."""

from pathlib import Path

import drivers.bench
from drivers.bench.command_line import parse


def test_every_option_is_looked_at():
    sources = "".join(path.read_text() for path in Path(drivers.bench.__file__).parent.glob("*.py"))
    assert [name for name in vars(parse([])) if f"options.{name}" not in sources] == []
