"""A table on a terminal of 80 columns."""

from reports.text.tables import TERMINAL, TextTable


def test_a_table_is_wrapped_to_the_terminal():
    table = TextTable("", ("name", ">time", "notes"), [["a b " * 30, "12 ms", "c " * 30], ["d", "1 s<br>2 s", ""]])
    lines = table.terminal().splitlines()
    assert max(map(len, lines)) <= TERMINAL and len(set(map(len, lines[1:2]))) == 1
    assert "12 ms" in lines[2] and [line.split()[-1] for line in lines[-2:]] == ["s", "s"]
    assert table.terminal(400).count("\n") == 4
    assert table.terminal(400, ruled=False).count("\n") == 3
