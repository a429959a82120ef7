"""Runs of ours in the rows and columns of papers' tables: which run stands where, and what its cell says."""

import pytest
from msgspec.structs import replace

from reports.papers.exhibits import fill_exhibit, gather_evidence, runs_without_exhibit
from reports.papers.files import load
from reports.papers.placement import find_series, processors
from reports.papers.tables import make_table
from reports.records.files import RecordError, UnequalWorkError

PUBLISHED = {"mapping": "published", "select": "host"}
FLIPS = {"neighbourhood": "flip2"}
SHORT = "iterations, not 10,000: seconds do not compare with the paper's, ratios do"


def exhibit(paper, number, kind="table", half=0):
    return load(paper).chosen(kind, number)[half]


def filled(paper, number, records, kind="table", half=0):
    publication = load(paper)
    return fill_exhibit(exhibit(paper, number, kind, half), gather_evidence(publication, records), publication.machines)


def cells(result):
    """Cells of an exhibit's table, by the first cell of their row."""
    found = {}
    for _, table in make_table(result).parts:
        for row in table.rows:
            found.setdefault(row[0], {}).update(zip(table.titles[1:], row[1:], strict=True))
    return found


# --- rows and columns ---


def test_ours_stand_right_of_the_papers_columns_in_the_rows_of_their_instances(make_run, is_golden):
    runs = [make_run("tai100a", (8.0,) * 3), make_run("tai30a", (2.0,) * 3)]
    runs.append(make_run("tai100a", (0.1,) * 3, backend="cuda"))
    is_golden(f"{make_table(filled('luong2013', '2', runs))}\n", "luong2013-table-2.md")


def test_the_papers_mapping_stands_in_a_column_of_its_own(make_run):
    runs = [make_run(times=(4.0,) * 3), make_run(backend="cuda", times=(0.5,) * 3)]
    runs += [make_run(backend="cuda", times=(2.0,) * 3, execution=PUBLISHED)]
    runs += [make_run(backend="cuda", times=(1.0,) * 3, execution=PUBLISHED | {"data_memory": "readonly"})]
    runs += [
        make_run(backend="opencl", device_kind="gpu", times=(1.0,) * 3, execution=PUBLISHED | {"data_memory": "image"})
    ]
    row = cells(filled("luong2013", "2", runs))["tai30a"]
    assert [name for name in row if name.startswith("ours")] == [
        "ours, one core, native mapping: cpu",
        "ours, GPU as published: cuda",
        "ours, GPUTex as published: opencl",
        "ours, GPUTex as published, read-only cache in place of textures: cuda",
        "ours, native mapping: cuda",
    ]
    assert row["ours, GPU as published: cuda"].endswith("<br>no baseline [a]")
    assert "×8.00" in row["ours, native mapping: cuda"]


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"iterations": 10}},
        {"backend": "opencl", "device_kind": "gpu"},
        {"execution": {"mapping": "published"}},
        {"environment": {"cpu_model": "other"}},
    ],
)
def test_a_ratio_over_coarse_needs_the_same_work_and_device(make_ants, change):
    fine = make_ants("fine", **({"backend": "cuda"} | change))
    data = filled("menezes2019", "II", [make_ants(backend="cuda"), fine]).ours
    (ratio,) = [datum for datum in data if datum.row.record.execution["strategy"] == "fine"]
    assert "over_first" not in ratio.values and ratio.words[0].startswith("no run of the first column")


def test_processors_are_rows_and_cells_name_the_backend(make_record, is_golden):
    def run(seconds, **changes):
        asked = {"parameters": {"climbers": 100_000, "start": "oneil2011"}, "execution": {"scan": "full"}}
        machine = {"cpu_model": "x", "cores": 4, "host_count": 1}
        return make_record((seconds,) * 3, instance="kroE100", environment=machine, **asked, **changes)

    runs = [run(4.0), run(1.0, backend="threads"), run(1.0, backend="cuda"), run(2.0, ranks=2)]
    is_golden(f"{make_table(filled('oneil2011', '1', runs, 'figure'))}\n", "oneil2011-figure-1.md")


def test_ranks_that_share_a_host_have_its_cores_once(make_record):
    alone, spread = {"cpu_model": "x", "cores": 4, "host_count": 1}, {"cpu_model": "x", "cores": 4, "host_count": 2}
    counts = [processors(make_record(backend="threads", ranks=2, environment=one)) for one in (alone, spread)]
    assert counts == ["cores:4", "cores:8"]


def test_another_instance_does_not_stand_in_a_figure_of_one_instance(make_record):
    other = make_record(instance="kroA100", execution={"scan": "full"}, parameters={"start": "oneil2011"})
    assert filled("oneil2011", "1", [other], "figure").ours == ()


def test_instances_that_the_paper_has_not_follow_in_the_order_of_their_numbers(make_run):
    names = ("tai150b", "tai12a", "tai9a")
    table = cells(filled("luong2013", "2", [make_run(name) for name in names]))
    assert list(table)[7:] == ["tai9a", "tai12a", "tai150b"]


def test_weierstrass_runs_go_by_their_dimension_and_their_bits(make_run):
    def run(dtype):
        asked = {"neighbourhood": "crowns", "points": 10_000, "dtype": dtype}
        return make_run("weierstrass:50", workload="weierstrass", parameters=asked)

    row = cells(filled("luong2013", "5", [run("float32"), run("float64")]))["n = 50"]
    names = [name for name in row if name.startswith("ours")]
    assert names == ["ours, one core, 32 bit: cpu", "ours, one core, 64 bit: cpu"]


# --- which run belongs to which exhibit ---


def test_an_experiment_stands_in_its_own_table_with_what_it_is_measured_against(make_run):
    ppp = {"workload": "ppp", "instance": "73-73:seed=0", "parameters": FLIPS}
    runs = [make_run(**ppp), make_run(**ppp, backend="cuda"), make_run(**ppp, ranks=4)]
    runs.append(make_run(**ppp, backend="cuda", execution=PUBLISHED | {"generate": "host"}))
    plain = ["one core, native mapping: cpu", "native mapping: cuda"]
    for number, further in {
        "4": [],
        "8": ["as published, evaluation on the device alone: cuda"],
        "10": ["real ranks of one host, a core each: cpu, 4 ranks"],
        "11": ["real ranks of one host, a core each: cpu, 4 ranks"],
    }.items():
        assert [datum.column for datum in filled("luong2013", number, runs).ours] == [*plain, *further], number
    # Ranks on several hosts are not those of one.
    grid = make_run(**ppp, ranks=4, environment={"cpu_model": "x", "cores": 2, "host_count": 2})
    columns = [datum.column for datum in filled("luong2013", "11", [runs[2], grid]).ours]
    assert columns == [
        "real ranks of one host, a core each: cpu, 4 ranks, machine A",
        "real ranks on several hosts: cpu, 4 ranks, machine B",
    ]


def test_runs_on_emulated_hosts_stand_in_their_own_columns_over_one_core_of_the_same_machine(make_run):
    ppp = {"workload": "ppp", "instance": "73-73:seed=0", "parameters": FLIPS}
    core = make_run("73-73:seed=0", (2.0,) * 3, workload="ppp", parameters=FLIPS)
    real = make_run(times=(1.0,) * 3, ranks=2, **ppp)
    there = {"emulated_network": "cow", "emulated_hosts": 2}
    far = make_run(times=(4.0,) * 3, ranks=2, **ppp, environment={**core.environment, **there})
    by_column = {datum.column: datum for datum in filled("luong2013", "10", [core, real, far]).ours}
    assert [*by_column] == [
        "one core, native mapping: cpu",
        "real ranks of one host, a core each: cpu, 2 ranks",
        "emulated COW, 2 hosts, a core each: cpu, 2 ranks on 2 emulated hosts",
    ]
    slow = by_column["emulated COW, 2 hosts, a core each: cpu, 2 ranks on 2 emulated hosts"]
    assert slow.values["speedup"] == 0.5 and slow.row.machine == "A"
    assert slow.notes[0] == "emulated: its 2 hosts on the network cow are one machine and share 2 cores"
    elsewhere = make_run(**ppp, ranks=2, environment={**core.environment, **there, "emulated_network": "lan"})
    assert filled("luong2013", "10", [elsewhere]).ours == ()


@pytest.mark.parametrize("change", [{"variant": "mmas"}, {"candidates": 20}, {"colonies": 2}])
def test_what_the_paper_does_not_measure_stands_in_none_of_its_tables(make_ants, change):
    other = make_ants(parameters=change, backend="cuda")
    evidence = gather_evidence(load("menezes2019"), [make_ants(backend="cuda"), other])
    assert [row.record for row in runs_without_exhibit(load("menezes2019"), evidence.rows)] == [other]


def test_an_instance_searched_on_the_host_belongs_to_every_bound(make_exact):
    assert find_series(exhibit("xavier2022", "5.1"), make_exact("host")).name in ("core", "one-tree")


def test_of_several_runs_the_best_tour_alone_stands_in_table_1(make_ants):
    lengths = {1024: 6700, 2048: 6656}
    runs = [make_ants("fine-deposit", ants, backend="cuda", best_cost=cost) for ants, cost in lengths.items()]
    (datum,) = filled("menezes2019", "I", runs).ours
    assert datum.words == ("6,656 (the optimum)", "2,048 ants, 20 iterations")


def test_many_repetitions_and_many_seeds_have_a_mean_and_a_standard_deviation(make_ants):
    many = make_ants("coarse", times=(1.0, 3.0) * 5, backend="cuda")
    assert "mean 2.00 s, standard deviation 1.05 s of 10" in filled("menezes2019", "II", [many]).ours[0].words
    few = make_ants("coarse", times=(1.0, 3.0), backend="cuda")
    assert not any("mean" in word for word in filled("menezes2019", "II", [few]).ours[0].words)
    numbers = {"fine-deposit": range(10), "coarse": range(9)}
    seeds = {
        name: [
            make_ants(name, backend="cuda", seed=seed, times=(1.0,), best_cost=6656 + seed % 2 * 10, hash=f"{seed:04x}")
            for seed in every
        ]
        for name, every in numbers.items()
    }
    (datum,) = filled("menezes2019", "I", seeds["fine-deposit"]).ours
    assert datum.words[:2] == ("6,656 (the optimum)", "mean 6,661 (0.08 % above), standard deviation 5.27 of 10 seeds")
    assert not any("mean" in word for word in filled("menezes2019", "2", seeds["coarse"], "figure").ours[0].words)


# --- baselines, equal work ---


def test_unequal_hashes_of_equal_work_are_refused(make_run):
    for change in ({"backend": "cuda"}, {"execution": {"generate": "host"}}):
        with pytest.raises(UnequalWorkError, match="hash"):
            gather_evidence(load("luong2013"), [make_run(), make_run(hash="ffff", **change)])


def test_a_speedup_of_an_experiment_is_over_the_plain_run_on_one_core(make_run):
    """An experiment's baseline is the program on one core without it, in the same mapping."""
    ppp = {"workload": "ppp", "instance": "73-73", "parameters": FLIPS}
    experiment = PUBLISHED | {"generate": "host"}
    slow = make_run(times=(20.0,) * 3, execution=experiment, **ppp)
    plain = make_run(times=(8.0,) * 3, execution={"mapping": "published"}, **ppp)
    suite = make_run(**ppp)
    gpu = make_run(times=(4.0,) * 3, backend="cuda", execution=experiment, **ppp)

    def on_the_gpu(*runs):
        data = filled("luong2013", "8", [*runs, gpu]).ours
        return next(datum for datum in data if datum.row.record.backend == "cuda")

    cuda = on_the_gpu(slow, plain, suite)
    assert (cuda.values["speedup"], cuda.row.baseline_s, cuda.notes) == (2.0, 8.0, ())
    assert "generate = host" in on_the_gpu(slow, suite).notes[0]
    alone = on_the_gpu(suite)
    assert alone.notes == ("no baseline: no run on one core has mapping = published",) and "speedup" not in alone.values


def test_a_subsequence_in_linear_space_is_a_work_of_its_own(make_record):
    """It may find another subsequence of the same length."""
    asked = {"workload": "lcs", "parameters": {"trace": True}, "hash_scope": "result", "instance": "half:1000:seed=1"}
    kept = make_record(**asked, details={"method": "bits"})
    linear = make_record(**asked, backend="threads", hash="cccc", details={"method": "linear space"})
    assert len(gather_evidence(load("oconnell2014"), [kept, linear]).comparisons) == 2
    with pytest.raises(UnequalWorkError, match="hash"):
        gather_evidence(load("oconnell2014"), [kept, replace(linear, details={"method": "bits"})])


def test_a_table_too_wide_for_a_page_has_parts_by_kind_of_device(make_run):
    flips = {"workload": "ppp", "parameters": FLIPS}
    cow = {"cpu_model": "x", "cores": 2, "host_count": 1, "emulated_network": "cow", "emulated_hosts": 2}
    runs = [make_run(name, **flips) for name in ("73-73", "201-217")]
    runs += [make_run("73-73", backend="cuda", **flips), make_run("73-73", ranks=2, **flips)]
    runs += [make_run("201-217", ranks=2, environment=cow, **flips)]
    marked = make_table(filled("luong2013", "10", runs))
    others = "73-73, 81-81, 101-117, 401-417, 601-617, 801-817, 1001-1017 and 1301-1317"
    titles = [title for title, _ in marked.parts]
    assert titles[0] == "Published" and titles[1].startswith("One core, all cores and GPUs (not run: 81-81, 101-117")
    assert titles[2].startswith("Several ranks (not run: 81-81") and titles[3] == f"Emulated hosts (not run: {others})"
    assert [len(table.rows) for _, table in marked.parts] == [9, 2, 1, 1]
    assert [table.caption.rpartition(" (")[2] for _, table in marked.parts][-1] == "emulated hosts)"
    assert len(make_table(filled("luong2013", "10", [])).parts) == 1


def test_runs_on_a_part_of_the_cores_belong_only_to_series_that_name_their_number(make_record):
    asked = {"parameters": {"climbers": 100_000, "start": "oneil2011"}, "execution": {"scan": "full"}}
    part = {"device": "8 of 16 cores", "details": {"cores_per_rank": 8}, "environment": {"cpu_model": "x", "cores": 16}}
    runs = [make_record(instance="kroE100", backend="threads", **asked, **changes) for changes in ({}, part)]
    assert [datum.column for datum in filled("oneil2011", "1", runs).ours] == [
        "native mapping, every move: threads, machine A"
    ]
    assert {datum.line for datum in filled("oneil2011", "1", runs, "figure").ours} == {"cores:2", "cores:8"}


# --- notes ---


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"parameters": {"iterations": 100}}, f"100 {SHORT}"),
        pytest.param({"details": {"iterations": 77}}, f"77 {SHORT}", id="ended early"),
        ({"ranks": 4, "environment": {"cpu_model": "x", "cores": 2}}, "oversubscribed: 4 ranks on 2 cores"),
    ],
)
def test_what_has_to_be_said_of_a_run_is_marked(make_run, changes, note):
    ppp = {"workload": "ppp", "instance": "73-73", **changes, "parameters": FLIPS | changes.get("parameters", {})}
    exhibit = filled("luong2013", "10", [make_run(**ppp)])
    (datum,) = exhibit.ours
    assert datum.notes == (note,)
    marked = make_table(exhibit)
    assert marked.notes == (("a", note),)
    assert any(cell.endswith(" [a]") for part in marked.parts for row in part.table.rows for cell in row)


@pytest.mark.parametrize("walks", [100, 10])
def test_table_9_is_of_a_hundred_climbs(make_run, walks):
    asked = {"algorithm": "hill", "neighbourhood": "flip1", "walks": walks}
    run = make_run("73-73", workload="ppp", parameters=asked, execution={"level": "algorithm"})
    ((note,),) = (datum.notes for datum in filled("luong2013", "9", [run]).ours)
    assert [one in note for one in ("ran in parallel", "10 walks, not 100")] == [walks == 100, walks == 10]


def test_parameters_that_set_a_run_apart_from_others_on_its_row_are_said(make_run):
    runs = [make_run(backend="cuda", seed=1), make_run("tai35a", backend="cuda", seed=2)]
    assert [datum.notes for datum in filled("luong2013", "2", runs).ours] == [(), ()]
    tenures = [{"parameters": {"tenure": tenure}, "hash": f"fff{tenure}"} for tenure in (9, 5)]
    runs = [make_run(backend="cuda", **changes) for changes in tenures]
    assert [datum.notes for datum in filled("luong2013", "2", runs).ours] == [("tenure = 9",), ("tenure = 5",)]


def test_many_seeds_of_a_longer_run_replace_a_short_run_of_one(make_ants):
    short = make_ants(parameters={"iterations": 10}, best_cost=6800, backend="cuda")
    seeds = [make_ants(seed=seed, backend="cuda", best_cost=6700 + seed, hash=f"aaa{seed}") for seed in range(3)]
    (datum,) = filled("menezes2019", "2", [short, *seeds], "figure").ours
    assert datum.row.record.details["costs"] == [6700, 6701, 6702]


# --- other solvers, profiles ---

PEERS = [
    {"name": "concorde", "proved": True, "cost": 2085, "solve_s": 1.0, "startup_s": 0.003, "failure": ""},
    {"name": "elkai", "proved": False, "length": 2090, "solve_s": 0.05, "startup_s": 0.002, "failure": ""},
]


def test_the_rival_of_a_table_stands_beside_every_run_on_its_machine(make_exact, is_golden):
    runs = [make_exact(peers=PEERS), make_exact("edges", backend="cuda")]
    is_golden(f"{make_table(filled('xavier2022', '5.1', runs))}\n", "xavier2022-table-5.1.md")
    lkh = cells(filled("xavier2022", "5.3", runs))["gr17"]
    assert "elkai 50.0 ms (0.100x ours), cost 2,090" in lkh["ours, native mapping, 1-trees, one core: cpu"]


def test_a_search_with_another_bound_is_no_baseline(make_exact):
    """One core needs a millisecond with 1-trees: no baseline for the thesis' bound."""
    runs = [make_exact(), make_exact("edges", backend="cuda")]
    row = cells(filled("xavier2022", "5.1", runs))["gr17"]
    assert row["ours, native mapping, edges: cuda"].startswith("500 ms [500 ms, 500 ms]<br>no baseline<br>")
    runs.append(make_exact("edges"))
    row = cells(filled("xavier2022", "5.1", runs))["gr17"]
    assert "×1.00" in row["ours, native mapping, edges: cuda"]


def test_a_rival_that_is_not_here_is_said_to_be(make_exact):
    trouble = [{"name": "concorde", "solve_s": None, "startup_s": None, "failure": "not found: build it"}]
    (datum,) = filled("xavier2022", "5.1", [make_exact(peers=trouble)]).ours
    assert datum.notes == ("no time of Concorde: concorde not found: build it",)
    (datum,) = filled("xavier2022", "5.3", [make_exact(peers=trouble)]).ours
    assert datum.notes == ("no time of LKH: it did not run here",)


@pytest.mark.parametrize("peers", [7, [1], [{"cost": 5}]])
def test_peers_that_are_no_list_of_solvers_are_refused_by_their_place(make_exact, peers):
    run = make_exact(peers=peers, origin="a.jsonl:3")
    with pytest.raises(RecordError, match=r"a\.jsonl:3.*expected a list of solvers in details\.reference_solvers"):
        filled("xavier2022", "5.1", [run])


def test_a_profile_stands_beside_the_bounds_of_the_text(make_record, is_golden):
    wave = {"load_efficiency": [0.5, 0.875, 1.0], "warp_efficiency": [1.0] * 3, "ipc": [0.25, 1.5, 2.0]}
    trace = {"load_efficiency": None, "warp_efficiency": [0.5] * 3, "ipc": [0.1] * 3}
    kernels = [{"kernel": "wave", "launches": 9} | wave, {"kernel": "trace", "launches": 1} | trace]
    asked = {"workload": "lcs", "instance": "half:3000:seed=1", "hash_scope": "result", "backend": "cuda"}
    run = make_record(**asked, execution={"mapping": "published"}, details={"profile": {"kernels": kernels}})
    is_golden(f"{make_table(filled('oconnell2014', '5', [run], 'figure'))}\n", "oconnell2014-figure-5.md")
    plain = make_record(**asked, execution={"mapping": "published", "spill_to_files": True})
    for runs, count in (([run, plain], 0), ([plain], 1)):
        row = cells(filled("oconnell2014", "5", runs, "figure"))["lcs, strings of 3,000 characters"]
        assert "".join(row.values()).count("not profiled") == count
    with pytest.raises(RecordError, match=r"expected a list of kernels in details\.profile"):
        filled("oconnell2014", "5", [replace(run, details={"profile": {"kernels": 7}})], "figure")


def test_shares_are_of_communication_over_ranks_and_of_kernels_elsewhere(make_run):
    ppp = {"workload": "ppp", "instance": "73-73", "parameters": FLIPS}
    ranked = make_run(**ppp, ranks=2, sampled={"communication_share": 0.25})
    words = [datum.words[-1] for datum in filled("luong2013", "10", [make_run(**ppp), ranked]).ours]
    assert words == ["transfers 0 %, kernel 100 %", "communication 25 %"]
