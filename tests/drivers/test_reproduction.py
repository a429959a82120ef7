"""Runs for a paper's tables on a machine: rows, columns, series, devices, turns, and reasons for missing ones."""

import json

import pytest

from drivers.experiments.presets.paper_plan import command_words, plan_reproduction
from drivers.experiments.presets.series import series_configurations
from reports.papers.paper import Series
from reports.papers.placement import RunChoice, run_choice
from reports.records.files import Record
from tests.drivers.made_up_paper import FIRST, HILLS, SECOND, device, machine_with, paper_of
from tests.drivers.made_up_runs import processor, record_of

CORE, CORES, GPU = device("cpu"), device("threads"), device("cuda")
JOBLIB = device("joblib", same_as="threads")
ANY = Series("any", kinds=("gpu", "cores", "core"))
ONE_ROW = [{"name": FIRST}]


def series(name, **values):
    return f"[series.{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values.items())


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {toml(one)}' for key, one in value.items()) + "}"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def table(columns, rows=ONE_ROW, workload="ihc", name="table 1", quick=None, **more):
    """An exhibit; a column is the name of its series, or its keys."""
    columns = [{"head": one, "series": one} if isinstance(one, str) else {"head": one["key"], **one} for one in columns]
    quick = {"amount": {"climbers": 4}} if quick is None else quick
    values = {
        "name": name,
        "title": "t",
        "workload": workload,
        "rows": rows,
        "columns": columns,
        "quick": quick,
        **more,
    }
    return "[[exhibits]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values.items())


@pytest.fixture
def planned(tmp_path):
    """Plan a made-up paper on a machine; every run has a place in the table that it is planned for."""

    def plan(parts, machine, scale="quick", **chosen):
        paper = paper_of(tmp_path, *parts)
        plan = plan_reproduction(paper, paper.exhibits, machine, scale, tmp_path / "records.jsonl", **chosen)
        for (name, row, column), keys in plan.cells.items():
            exhibit = paper.chosen(*name.split())[0]
            choice = run_choice(paper, exhibit, exhibit.row(row), exhibit.column(column))
            assert all(choice.has(recorded(plan.cases[key])) for key in keys), (name, row, column)
        return plan

    return plan


def recorded(case):
    where = case.configuration
    record = record_of(case, case.seeds[0])
    # As the programs of these workloads record them.
    record["parameters"] |= {name: case.asked[name] for name in ("ants", "rho") if name in case.asked}
    record["details"] |= {"cores_per_rank": where.cores} if where.cores else {}
    record["environment"] |= {"cores": 8, **where.emulated}
    return Record.from_line(json.dumps(record))


def backends(plan):
    return [one.configuration.backend for one in plan.cases.values()]


def runs_of(plan):
    """Runs in order: backend, ranks, and arguments without the seed."""
    return [
        (one.configuration.backend, one.configuration.ranks, " ".join(one.arguments)) for one in plan.cases.values()
    ]


def order_of(plan, **how):
    """The groups of a plan in running order: backend, instance and turn."""
    return [
        [(one.configuration.backend, one.task.problem.name, one.turns) for one in group]
        for group in plan.groups(is_in_turn=True, **how)
    ]


# --- rows, columns, series and devices ---


def test_a_series_runs_on_the_first_backend_of_the_kind_that_it_prefers_of_those_here(planned):
    broken = device("cuda", usable=False, reason="no driver")
    assert backends(planned([HILLS], machine_with(CORE, CORES, broken, device("opencl"))))[:2] == ["cpu", "threads"]
    assert backends(planned([HILLS], machine_with(CORE, CORES, GPU, device("cuda", index="1"))))[:2] == ["cpu", "cuda"]
    named = machine_with(CORE, CORES, device("opencl"), backends=["cpu", "opencl", "threads"])
    assert backends(planned([HILLS], named))[:3] == ["cpu", "threads", "opencl"]
    on_opencl = series("cl", kinds=["gpu", "cores"], backends=["opencl"])
    assert backends(planned([on_opencl, table(["cl"])], machine_with(CORE, CORES, GPU, device("opencl")))) == ["opencl"]


def test_joblib_runs_where_a_series_names_it(planned):
    parts = [series("all", kinds=["cores"]), series("joblib", kinds=["cores"], backends=["joblib"])]
    plan = planned([*parts, table(["all", "joblib"])], machine_with(CORE, device("python"), CORES, JOBLIB))
    assert backends(plan) == ["threads", "joblib"]


def test_columns_differ_by_options_which_the_scale_does_not_change(planned):
    ants = series("ants", kinds=["core"], options={"rho": 0.5})
    columns = [
        {"key": "few", "series": "ants", "options": {"ants": 4, "iterations": 5}},
        {"key": "many", "series": "ants", "options": {"ants": 8}},
    ]
    arguments = f"--rho 0.5 --ants {{}} --iterations {{}} --instance {FIRST}"
    for restricted, expected in [({}, [(4, 5), (8, 3)]), ({"columns": ["many"]}, [(8, 3)])]:
        quick = {"amount": {"iterations": 3}, **restricted}
        plan = planned([ants, table(columns, workload="aco", quick=quick)], machine_with(CORE))
        assert [run[2].split() for run in runs_of(plan)] == [arguments.format(*one).split() for one in expected]


def test_rows_may_have_workloads_options_and_amounts_of_their_own(planned):
    items = {"items": 5, "capacity": 50}
    rows = [
        {"name": "a", "instance": "paper:5:50", "workload": "knapsack", "options": items},
        {"name": FIRST},
        {"name": SECOND},
    ]
    quick = {"row_amounts": {SECOND: {"iterations": 80}}}
    parts = [series("plain", kinds=["core"]), table(["plain"], rows, workload="aco", quick=quick)]
    assert runs_of(planned(parts, machine_with(CORE))) == [
        ("cpu", 1, "--items 5 --capacity 50"),
        ("cpu", 1, f"--instance {FIRST}"),
        ("cpu", 1, f"--iterations 80 --instance {SECOND}"),
    ]


def test_columns_and_scales_may_have_a_part_of_the_rows(planned):
    columns = [{"key": "core", "series": "core", "rows": [SECOND]}, {"key": "pruned", "series": "pruned"}]
    rows = [{"name": FIRST}, {"name": SECOND}]
    plan = planned([table(columns, rows)], machine_with(CORE, CORES))
    assert [*plan.cells] == [("table 1", FIRST, "pruned"), ("table 1", SECOND, "core"), ("table 1", SECOND, "pruned")]
    assert plan.missing == {}
    plan = planned([table(columns, rows, quick={"rows": [FIRST]})], machine_with(CORE, CORES))
    assert [*plan.cells] == [("table 1", FIRST, "pruned")]


def test_flags_and_lists_are_written_as_the_driver_takes_them():
    choice = RunChoice("lcs", {}, "", frozenset(), ANY)
    options = {"trace": False, "verify": True, "profile": False, "text": ["ABC", "AC"]}
    assert command_words(choice, options) == ("--no-trace", "--verify", "--text", "ABC", "AC")


def test_seeds_of_one_instance_are_one_run_and_those_that_generate_one_are_one_each(planned):
    plain, quick = series("plain", kinds=["core"]), {"seeds": [3, 5]}
    (case,) = planned([plain, table(["plain"], workload="aco", quick=quick)], machine_with(CORE)).cases.values()
    assert (case.seeds, "--seeds 3,5" in " ".join(case.command())) == ((3, 5), True)
    rows = [{"name": "a", "instance": "paper:5:50", "options": {"items": 5, "capacity": 50}}]
    plan = planned([plain, table(["plain"], rows, workload="knapsack", quick=quick)], machine_with(CORE))
    assert [one.seeds for one in plan.cases.values()] == [(3,), (5,)]


def test_the_time_of_a_rate_is_the_scales_or_the_users_and_the_folder_of_instances_is_the_users(planned, tmp_path):
    plan = planned([HILLS], machine_with(CORE, CORES))
    assert all("--measure 1 " in " ".join(one.command()) for one in plan.cases.values())
    plan = planned([HILLS], machine_with(CORE, CORES), measure=9.0, data=str(tmp_path))
    assert all(one.measure == 9.0 for one in plan.cases.values())
    assert all(one.arguments[-2:] == ("--data", str(tmp_path)) for one in plan.cases.values())


def test_a_column_with_another_solver_runs_it_with_one_core(planned):
    columns = [{"key": "solver", "series": "core", "peer": "lkh"}, {"key": "pruned", "series": "pruned"}]
    plan = planned([table(columns)], machine_with(CORE, CORES))
    assert [one.runs_peers for one in plan.cases.values()] == [True, False]


# --- rows by processors ---


@pytest.mark.parametrize(
    ("processors", "kinds", "expected"),
    [
        ("core:1", ANY.kinds, ("cpu", 1, None)),
        ("cores:1", ANY.kinds, ("threads", 1, 1)),
        ("cores:4", ANY.kinds, ("threads", 1, 4)),
        ("cores:4", ("core",), ("cpu", 4, None)),
        ("gpu:1", ANY.kinds, ("cuda", 1, None)),
        ("gpu:2", ANY.kinds, ("cuda", 2, None)),
        ("cores:8", ANY.kinds, "it needs 8 cores, found 4 of threads"),
        ("cores:8", ("core",), "8 ranks need 8 cores, found 4 (--oversubscribe lets ranks share cores)"),
        ("gpu:4", ANY.kinds, "each of 4 ranks needs a GPU, found 2 of cuda"),
        ("gpu:1", ("core", "cores"), "its runs are on core or cores, expected gpu:1"),
        ("cores:1", ("core",), "its runs are on core, expected cores:1"),
    ],
)
def test_rows_by_processors_run_on_their_kind_and_number_or_say_why_not(planned, processors, kinds, expected):
    machine = machine_with(CORE, processor("threads", 4), device("cuda"), device("cuda", index="1"))
    rows = [{"name": "row", "processors": processors}]
    parts = [series("any", kinds=list(kinds), ranks=0), table(["any"], rows, options={"instance": FIRST})]
    plan = planned(parts, machine)
    ran = [(one.backend, one.ranks, one.cores) for one in (case.configuration for case in plan.cases.values())]
    if isinstance(expected, str):
        assert (ran, plan.missing) == ([], {("table 1", "row", "any"): expected})
    else:
        assert (ran, plan.missing) == ([expected], {})


def test_one_core_is_a_base_in_rows_of_any_processors(planned):
    columns = [{"key": "core", "series": "core"}, {"key": "gain", "series": "many", "over": "core"}]
    rows = [{"name": "2 cores", "processors": "cores:2"}, {"name": "GPU", "processors": "gpu:1"}]
    many = series("many", kinds=["gpu", "cores"])
    parts = [many, table(columns, rows, options={"instance": FIRST}, standard={"amount": {"climbers": 4}})]
    plan = planned(parts, machine_with(CORE, processor("threads", 4), GPU), "standard")
    assert order_of(plan) == [[("cpu", FIRST, 1), ("threads", FIRST, 1), ("cuda", FIRST, 1), ("cpu", FIRST, 2)]]


# --- cores, ranks and hosts of a series ---


def test_a_series_over_all_cores_or_gpus_has_a_rank_for_each_or_the_users_numbers(planned):
    parts = [series("all", kinds=["gpu", "core"], ranks=0), table(["all"])]

    def ranks(*devices, **machine):
        return [run[:2] for run in runs_of(planned(parts, machine_with(*devices, **machine)))]

    assert ranks(CORE, cores=4) == [("cpu", 4)]
    assert ranks(CORE, GPU, device("cuda", index="1")) == [("cuda", 2)]
    assert ranks(CORE, cores=8, ranks=[1, 2, 3]) == [("cpu", 2), ("cpu", 3)]


@pytest.mark.parametrize(
    ("values", "machine", "why"),
    [
        ({"ranks": 8}, {}, "8 ranks need 8 cores, found 4 (--oversubscribe lets ranks share cores)"),
        ({"ranks": 8}, {"oversubscribe": True}, None),
        ({"ranks": 2, "kinds": ["cores"], "cores": 4}, {"oversubscribe": True}, None),
        ({"ranks": 2, "kinds": ["cores"], "cores": 4}, {}, "2 ranks need 8 cores, found 4"),
        ({"ranks": 2}, {"ranks": []}, "it needs several ranks, and --ranks leaves them out"),
        ({"ranks": 0}, {"cores": 1}, "2 ranks need 2 cores, found 1"),
        ({"ranks": 2, "kinds": ["gpu"]}, {}, "each of 2 ranks needs a GPU, found 1 of cuda"),
        ({"cores": 2, "kinds": ["cores"]}, {}, None),
        ({"cores": 8, "kinds": ["cores"]}, {}, "it needs 8 cores, found 4 of threads"),
        ({"hosts": 2}, {}, "it needs 2 hosts, and this command runs on one"),
        ({"hosts": 2, "why_not": "one host is here"}, {}, "one host is here"),
        ({"kinds": ["gpu"], "backends": ["opencl"]}, {}, "no device of opencl is of the kind gpu here"),
    ],
)
def test_a_series_that_cannot_run_here_says_why_and_the_others_run(planned, values, machine, why):
    far = series("far", **{"kinds": ["core"], **values})
    plan = planned([far, table(["core", "far"])], machine_with(CORE, processor("threads", 4), GPU, **machine))
    assert runs_of(plan)[0][:2] == ("cpu", 1)
    reasons = [*plan.missing.values()]
    assert (len(plan.cases), len(reasons)) == ((2, 0) if why is None else (1, 1))
    assert all(one.startswith(why) for one in reasons)


def test_of_the_users_backends_those_run_that_can():
    machine = machine_with(processor("threads", 4), device("opencl", compute_units=2), backends=["threads", "opencl"])
    places = series_configurations(Series("some", kinds=("cores",), cores=3), machine)
    assert [(one.backend, one.cores) for one in places] == [("threads", 3)]


def test_a_gpu_of_cuda_and_opencl_runs_the_backend_that_auto_takes():
    machine = machine_with(device("opencl", kind="gpu"), GPU)
    assert [one.backend for one in series_configurations(Series("some", kinds=("gpu",)), machine)] == ["cuda"]


def test_no_ranks_run_without_mpi(planned, monkeypatch):
    monkeypatch.setattr("drivers.experiments.presets.series.mpi_obstacle", lambda: "mpi4py is missing")
    plan = planned([series("ranked", kinds=["core"], ranks=2), table(["core", "ranked"])], machine_with(CORE))
    assert plan.missing == {("table 1", FIRST, "ranked"): "mpi4py is missing"}


# --- shared runs, bases and turns ---


def test_exhibits_that_need_the_same_run_share_it_with_the_longer_time(planned):
    again = HILLS.replace('"table 1"', '"table 2"').replace("measure = 1", "measure = 5")
    plan = planned([HILLS, again], machine_with(CORE, CORES))
    assert len(plan.cases) == 4
    assert plan.cells["table 1", FIRST, "core"] == plan.cells["table 2", FIRST, "core"]
    assert {one.measure for one in plan.cases.values()} == {5.0}


def test_defaults_that_are_spelled_out_are_the_same_run_and_checks_are_added_to_it(planned):
    parts = [
        series("plain", kinds=["core"]),
        series("spelled", kinds=["core"], options={"mapping": "native", "verify": True}),
        series("peers", kinds=["core"], options={"peers": True}),
        table(["plain", "spelled", "peers"], [{"name": "random:9"}], workload="lcs", quick={}),
    ]
    (run,) = planned(parts, machine_with(CORE)).cases.values()
    assert run.arguments == ("--instance", "random:9", "--verify")
    assert run.peers


def test_the_base_of_a_ratio_runs_though_the_scale_leaves_it_out_before_and_after_the_others(planned):
    only = HILLS.replace("measure = 1", 'measure = 1, columns = ["gain"]').replace("quick", "standard")
    plan = planned([only], machine_with(CORE, CORES), "standard")
    assert {column for _, _, column in plan.cells} == {"core", "gain"}
    in_turn = [[("cpu", name, 1), ("threads", name, 1), ("cpu", name, 2)] for name in (FIRST, SECOND)]
    # One core is measured again in the first row of an exhibit.
    assert order_of(plan) == [in_turn[0], in_turn[1][:-1]]
    assert order_of(planned([only.replace("standard", "full")], machine_with(CORE, CORES), "full")) == in_turn
    quick = planned([HILLS], machine_with(CORE, CORES))
    assert order_of(quick) == [[("cpu", name, 1), ("threads", name, 1)] for name in (FIRST, SECOND)]
    assert [len(group) for group in plan.groups(is_in_turn=False)] == [2, 2]


def test_a_scale_leaves_out_rows_of_a_column_and_makes_long_runs_once(planned):
    more = f'measure = 1, rate_amounts = {{ cores = 9, core = 7 }}, column_rows = {{ pruned = ["{SECOND}"], gain = ["{SECOND}"] }}, once = {{ pruned = ["{SECOND}"] }}'
    plan = planned([HILLS.replace("measure = 1", more)], machine_with(CORE, CORES))
    runs = [(one.configuration.backend, one.task.problem.name, one.measure) for one in plan.cases.values()]
    assert runs == [("cpu", FIRST, 1.0), ("cpu", SECOND, 1.0), ("threads", SECOND, None)]
    assert ["".join(one.arguments).partition("--rate-amount")[2] for one in plan.cases.values()] == ["7", "7", ""]


def test_only_runs_on_one_core_that_others_refer_to_have_a_second_turn(planned):
    columns = [
        {"key": "core", "series": "core"},
        {"key": "pruned", "series": "pruned"},
        {"key": "gain", "series": "core", "over": "pruned"},
    ]
    plan = planned([table(columns, standard={"amount": {"climbers": 4}})], machine_with(CORE, CORES), "standard")
    assert order_of(plan) == [[("cpu", FIRST, 1), ("threads", FIRST, 1)]]
    alone = planned([HILLS], machine_with(CORE), "standard")
    assert order_of(alone) == [[("cpu", FIRST, 1)], [("cpu", SECOND, 1)]]


def test_first_rows_of_all_exhibits_come_first_and_those_with_the_same_base_are_one_group(planned):
    other = series("other", kinds=["cores"], options={"scan": "full"})
    more = [{"key": "core", "series": "core"}, {"key": "gain", "series": "other", "over": "core"}]
    rows = [{"name": FIRST}, {"name": SECOND}]
    larger = HILLS.replace('"table 1"', '"table 2"').replace(
        "quick = { amount = { climbers = 4 }", "standard = { amount = { climbers = 8 }"
    )
    smaller = HILLS.replace("quick", "standard")
    shared = table(more, rows, name="table 3", standard={"amount": {"climbers": 4}})
    plan = planned([other, smaller, larger, shared], machine_with(CORE, CORES), "standard")
    first, second = ["cpu", "threads", "threads", "cpu"], ["cpu", "threads", "cpu"]
    order = order_of(plan)
    assert [[backend for backend, _, _ in group] for group in order] == [first, second, first[:-1], second[:-1]]
    assert [group[0][1] for group in order] == [FIRST, FIRST, SECOND, SECOND]


# --- what cannot run ---


def test_a_row_without_an_instance_says_what_sets_it_in_every_column_with_runs(planned):
    unnamed = HILLS.replace(f'name = "{FIRST}"', 'name = "1", instance = ""')
    plan = planned([unnamed], machine_with(CORE, CORES))
    why = "the paper does not name the instance; --row 1=SPEC sets it"
    assert plan.missing == {("table 1", "1", column): why for column in ("core", "pruned", "gain")}
    assert {row for _, row, _ in plan.cells} == {SECOND}


@pytest.mark.parametrize(
    ("workload", "options", "quick", "why"),
    [
        ("ihc", {"colour": "red"}, {}, "--colour: onekernel ihc has no such option"),
        ("ihc", {"scan": "slow"}, {}, "--scan: invalid choice: 'slow' (choose from "),
        ("ihc", {"tour": "a"}, {}, "--tour: found among a paper's options, expected one that decides its work"),
        ("ihc", {}, {"seeds": [1, 2]}, "--seeds changes nothing here"),
        ("qap", {"walks": 3, "select": "host"}, {}, "generate or select on the host: expected mapping"),
        ("qap", {"seconds": 1.5}, {}, "--seconds: a time limit ends each run at another iteration"),
    ],
)
def test_what_every_device_would_refuse_is_a_reason_and_the_other_columns_run(planned, workload, options, quick, why):
    rows = ONE_ROW if workload == "ihc" else [{"name": "taillard:6:seeds=1,2"}]
    parts = [series("plain", kinds=["core"]), series("wrong", kinds=["core"], options=options)]
    plan = planned([*parts, table(["plain", "wrong"], rows, workload=workload, quick=quick)], machine_with(CORE))
    assert len(plan.cases) == ("seeds" not in quick)
    *_, ((_, _, column), reason) = plan.missing.items()
    assert column == "wrong" and reason.startswith(why)
