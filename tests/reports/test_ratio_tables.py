"""Tables of an exhibit's ratios alone: what they keep of the whole table, and what they leave out."""

from reports.papers.tables import make_ratio_tables
from tests.reports.test_exhibits import PEERS, filled


def only_table(shown):
    (part,) = make_ratio_tables(shown)
    return part.title, part.table.titles, part.table.rows


def test_published_ratios_stand_beside_ours_in_rows_with_a_ratio_of_ours(make_run):
    runs = [make_run("tai60a", (8.0,) * 3), make_run("tai30a", (2.0,) * 3), make_run("tai100a", (1.0,) * 3)]
    runs += [make_run(name, (0.5,) * 3, backend="cuda") for name in ("tai60a", "tai30a")]
    title, headings, rows = only_table(filled("luong2013", "2", runs))
    assert title == "Speed-up over one core"
    assert headings[0] == "instance" and headings[-1] == "ours, native mapping: cuda"
    assert [row[0] for row in rows] == ["tai30a", "tai60a"]
    assert [row[-1] for row in rows] == ["4.00", "16.0"]
    published = dict(zip(headings, rows[1], strict=True))
    assert (published["8600M GT: GPU"], published["M2050: GPUTex"]) == ("0.6", "10.2")
    assert not [heading for heading in headings if "CPU" in heading], "one core has no ratio"


def test_a_ratio_over_a_doubtful_time_is_marked(make_run):
    runs = [make_run(name, times) for name, times in (("tai60a", (6.0, 8.0, 9.0)), ("tai30a", (2.0,) * 3))]
    runs += [make_run(name, (0.5,) * 3, backend="cuda") for name in ("tai60a", "tai30a")]
    _, _, rows = only_table(filled("luong2013", "2", runs))
    assert [row[-1] for row in rows] == ["4.00", "16.0*"]


def test_a_ratio_with_a_wide_interval_is_marked(make_run):
    runs = [make_run(name, (2.0,) * 3) for name in ("tai60a", "tai30a")]
    runs += [make_run("tai60a", (0.4, 0.5, 0.7), backend="cuda"), make_run("tai30a", (0.5,) * 3, backend="cuda")]
    _, _, rows = only_table(filled("luong2013", "2", runs))
    assert [row[-1] for row in rows] == ["4.00", "4.00*"]


def test_a_single_ratio_makes_no_table(make_run):
    runs = [make_run(times=(2.0,) * 3), make_run(times=(0.5,) * 3, backend="cuda")]
    assert make_ratio_tables(filled("luong2013", "2", runs)) == []


def test_each_processor_s_row_names_the_devices_of_its_ratios(make_record):
    asked = {"parameters": {"climbers": 100_000, "start": "oneil2011"}, "execution": {"scan": "full"}}
    machine = {"cpu_model": "x", "cores": 4, "host_count": 1}
    backends = (("cpu", 4.0), ("threads", 1.0), ("cuda", 0.5))
    runs = [
        make_record((seconds,) * 3, instance="kroE100", environment=machine, backend=backend, **asked)
        for backend, seconds in backends
    ]
    _, headings, rows = only_table(filled("oneil2011", "1", runs, "figure"))
    ours = {row[0]: dict(zip(headings, row, strict=True))["ours, native mapping, every move"] for row in rows}
    assert list(ours.values()) == ["threads: 4.00", "cuda: 8.00"]


def test_strategies_have_rows_by_device_and_those_of_one_alone_are_left_out(make_ants):
    runs = [
        make_ants(backend="cuda"),
        make_ants("fine", times=(0.5,) * 3, backend="cuda"),
        make_ants(backend="threads"),
    ]
    title, _, rows = only_table(filled("menezes2019", "II", runs))
    assert title == "Times as fast as the first strategy"
    assert [row[1] for row in rows] == ["K20, published", "native mapping: cuda"]


def test_published_figures_without_a_ratio_of_ours_come_first(make_exact):
    runs = [make_exact("edges"), *(make_exact("edges", backend=backend) for backend in ("cuda", "threads"))]
    published, ours = make_ratio_tables(filled("xavier2022", "5.1", runs))
    assert (published.title, ours.title) == ("Published", "Speed-up over one core")
    assert "Ithaca: Concorde" in published.table.titles and len(published.table.rows) == 15
    runs = [make_exact("edges", peers=PEERS), make_exact("edges", backend="cuda", peers=PEERS)]
    (rival,) = make_ratio_tables(filled("xavier2022", "5.1", runs))
    assert rival.title == "Speed-up over the other solver" and "Ithaca: speed-up" in rival.table.titles
