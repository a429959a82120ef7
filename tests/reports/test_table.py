"""The comparison's table on a terminal of 80 columns."""

import pytest

from reports.comparison.sections import InstanceSection
from reports.comparison.speedups import NotRun
from reports.pages.comparison import compare_sections
from reports.pages.terminal import lines, show
from reports.text.tables import TERMINAL, TextTable

MISSING = [NotRun("cuda", "", 1, "no driver"), NotRun("cpu", "0", 2, "no mpirun")]


@pytest.fixture
def section(make_record, section_of):
    return section_of([make_record(times=[2.0]), make_record(backend="threads", times=[0.5])], MISSING)


def test_the_terminal_reads_as_it_did_and_what_did_not_run_comes_last(section, is_golden):
    is_golden("\n".join(lines(section)) + "\n", "compare-ihc.txt")


def test_no_line_is_wider_than_a_terminal(make_record, section_of):
    settings = {"evaluation": "incremental", "level": "iteration", "generate": "device", "data_memory": "global"}
    others = {"evaluation": "linear", "level": "algorithm", "generate": "host", "data_memory": "readonly"}
    runs = [
        make_record(times=[2.0, 2.1], execution=settings, workload="aco", details={"optimum": 21282}),
        make_record(times=[1e-4, 9e-4], execution=settings, workload="aco", backend="opencl", device="GPU-0123-4567:0"),
        make_record(times=[1.0, 1.9, 1.1], execution=others, workload="aco", ranks=64),
    ]
    printed = list(lines(section_of(runs, [NotRun("cuda", "0", 1, "word " * 100)]), titled=True))
    assert max(map(len, printed)) <= TERMINAL
    assert any(line.startswith("not run: cuda") for line in printed) and printed[-1].endswith(" ...")
    assert " (data_memory = readonly," in "".join(printed)


def test_several_instances_are_told_apart_and_explained_once(make_record, capsys):
    sections = [InstanceSection([make_record(instance=name, instance_sha256=sha * 32)], MISSING) for name, sha in NAMES]
    show(compare_sections(sections))
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if line in ("one", "two")] == ["one", "two"]
    assert sum("from, to: [95 % interval of the median]" in line for line in printed) == 1
    assert printed.count("not run: cuda: no driver") == 1


def test_a_table_is_wrapped_to_the_terminal():
    table = TextTable("", ("name", ">time", "notes"), [["a b " * 30, "12 ms", "c " * 30], ["d", "1 s<br>2 s", ""]])
    lines = table.terminal().splitlines()
    assert max(map(len, lines)) <= TERMINAL and len(set(map(len, lines[1:2]))) == 1
    assert "12 ms" in lines[2] and [line.split()[-1] for line in lines[-2:]] == ["s", "s"]
    assert table.terminal(400).count("\n") == 4


NAMES = (("one", "ab"), ("two", "cd"))
