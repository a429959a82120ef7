"""The overview of all workloads: its table, the same on a terminal, and the heat map."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from reports.comparison.overview import MISSING, Overview, OverviewRow
from reports.comparison.speedups import NotRun, compare
from reports.pages.overview import NAME, plain_text, remove, render, write
from reports.plots.heat_map import draw, select_part

VM = {"commit": "0123abc", "host": "vm", "cores": 16, "host_count": 1}
BUSY = {"conditions": {"load_1min": 12.0}}


def of_climbs(*records):
    return Overview((OverviewRow("ihc", "climbing", compare(records)),))


@pytest.fixture(scope="module")
def two_workloads(make_record):
    """Two workloads on three devices but for one, and one that ran nowhere."""
    runs = [make_record(times=[1.95, 2.0, 2.05]), make_record(times=[0.002], backend="cuda")]
    ihc = compare([*runs, make_record(times=[1.0], ranks=4)])
    sums = {"workload": "lcs", "instance": "letters", "instance_sha256": "cd" * 32, "evaluations": 3 * 10**12}
    lcs = compare([make_record(times=[4.0], **sums), make_record(times=[40.0], backend="cuda", **sums)])
    return Overview(
        (
            OverviewRow("ihc", "hill climbing", ihc),
            OverviewRow("lcs", "common letters", lcs, (NotRun("cpu", "0", 4, "no memory"),)),
            OverviewRow("qap", "assignment", None, (), "the runs did different work"),
        ),
        (NotRun("opencl", "", 1, "no platform"),),
    )


def test_page_and_terminal_have_a_row_for_each_workload_and_reasons_for_what_did_not_run(two_workloads, is_golden):
    is_golden(render(replace(two_workloads, why="These are the shortest"), "overview.svg"), "overview.md")
    is_golden(plain_text(two_workloads), "overview.txt")


def test_a_terminal_of_80_columns_holds_many_devices_and_long_names(make_record):
    name = "uniform:1000000:seed=123456789" * 4
    runs = [make_record(times=[1.5], instance=name)]
    runs += [make_record(times=[0.75], backend="opencl", device=str(k), instance=name) for k in range(12)]
    text = plain_text(
        Overview((OverviewRow("weierstrass", "minima", compare(runs), (NotRun("x", "0", 1, "why " * 60),)),))
    )
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"opencl {k}" in text for k in range(1, 12))
    assert text.count("750 ms") == text.count("2.00x") == 12


def test_the_heat_map_has_a_value_or_its_absence_in_every_cell_of_workloads_that_ran(tmp_path, two_workloads, legible):
    (svg,) = draw(two_workloads, tmp_path, NAME)
    text = svg.read_text()
    ElementTree.fromstring(text)
    for word in ("ihc", "letters", "cuda", "4 ranks", ">1,000x<", ">0.100x<", ">2.00 ms<", ">1.00 s*<"):
        assert word in text
    assert text.count(f">{MISSING}<") == 1
    assert ">qap<" not in text


@pytest.mark.parametrize(("faster", "slower"), [((0.01, 0.1), (50.0,)), ((0.1,), (100.0, 2.0))])
def test_the_scale_reaches_as_far_on_both_sides_of_one(tmp_path, make_record, faster, slower):
    runs = [make_record(times=[1.0])]
    for device, time in enumerate((*faster, *slower)):
        runs.append(make_record(times=[time], backend="cuda", device=str(device)))
    text = draw(of_climbs(*runs), tmp_path, NAME)[0].read_text()
    cells = re.findall(r'style="fill: #([0-9a-f]{6})"', text.partition('id="matplotlib.axis_')[0])[: len(runs)]
    red, green, blue = (int(cells[0][at : at + 2], 16) for at in (0, 2, 4))
    assert min(red, green, blue) > 240  # one core is white for any values of the others
    ends = {"2d004b", "7f3b08"}  # the darkest purple and the darkest orange
    furthest = cells[1] if faster[0] == 0.01 else cells[2]
    assert ends & set(cells) == {furthest} == {"2d004b" if faster[0] == 0.01 else "7f3b08"}


def test_a_baseline_on_a_busy_host_marks_every_ratio_over_it(tmp_path, make_record):
    busy = make_record([20.0, 30.0, 35.0], BUSY, environment=VM)
    overview = of_climbs(busy, make_record([0.02], backend="cuda", environment=VM))
    text = render(overview)
    assert "| 30.0 s*, 1.00x* | 20.0 ms, 1,500x* |" in text
    assert "its baseline: spread above 10 % of the median (from the shortest to the longest time): ihc 50 %" in text
    assert "load of other programs" in text and "**Disturbed: load 12.0 (1 ours, 16 cores)**" in text
    drawn = draw(overview, tmp_path, NAME)[0].read_text()
    assert ">1,500x*<" in drawn and "doubtful: the notes below the table say why" in drawn
    assert "\n\ndisturbed: load 12.0 (1 ours, 16 cores)\nnote: " in plain_text(overview)


def test_the_picture_leaves_out_short_works_and_devices_that_most_works_lack(tmp_path, make_record):
    def line(name, one_core, *backends):
        of = {"workload": name, "instance_sha256": name.encode().hex()[:2] * 32}
        runs = [
            make_record(times=[one_core], **of),
            *(make_record(times=[0.1], backend=name, **of) for name in backends),
        ]
        return OverviewRow(name, "", compare(runs))

    overview = Overview((line("ihc", 2.0, "cuda", "opencl"), line("ppp", 3.0, "cuda"), line("tsp", 1.0, "cuda")))
    overview = replace(overview, lines=(*overview.lines, line("lcs", 0.005, "cuda")))
    part = select_part(overview)
    assert ([line.workload for line in part.lines], part.devices) == (["ihc", "ppp", "tsp"], ("cpu", "cuda"))
    assert part.left_out == ("lcs (less than 1 s on one core)", "opencl (most of the workloads did not run there)")
    text = render(overview, "overview.svg")
    assert f"In the table and not in the picture: {'; '.join(part.left_out)}." in text
    assert "| 5.00 ms, 1.00x | 100 ms, 0.0500x* |" in text
    assert "lcs" not in draw(overview, tmp_path, NAME)[0].read_text()


def test_answers_that_are_equal_prove_no_equal_work(make_record):
    exact = {"workload": "exact", "hash_scope": "result", "instance_sha256": "cd" * 32}
    other = compare([make_record(**exact), make_record(backend="cuda", evaluations=7, **exact)])
    climbs = compare([make_record(), make_record(backend="cuda")])
    text = render(Overview((OverviewRow("ihc", "", climbs), OverviewRow("exact", "", other))))
    assert "ihc: equal work, by the hash of all climbs" in text
    assert "exact: equal results, by the hash of the result (unequal numbers of evaluations: exact)" in text


def test_equal_overviews_give_equal_files_and_an_earlier_one_is_removed(tmp_path, two_workloads):
    first = [path.read_bytes() for path in write(two_workloads, tmp_path)]
    assert len(first) == 2
    assert first == [path.read_bytes() for path in write(two_workloads, tmp_path)]
    (tmp_path / "overview.jsonl").write_text("")
    remove(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["overview.jsonl"]


def test_without_one_core_there_are_times_and_no_heat_map(tmp_path, make_record):
    alone = of_climbs(make_record(times=[0.5], backend="threads"))
    assert [path.name for path in write(alone, tmp_path)] == ["overview.md"]
    assert "| ihc | kroA100 | 2 G moves | 500 ms |" in (tmp_path / "overview.md").read_text()
    assert "500 ms" in plain_text(alone)
