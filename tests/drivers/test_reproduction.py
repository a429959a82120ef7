"""Runs for a paper's tables on a machine: rows, columns, series, devices, and reasons for missing ones."""

import json

import pytest

from drivers.experiments.presets.paper_plan import ReproductionChoice, plan_reproduction
from tests.drivers.made_up_paper import FIRST, HILLS, SECOND, device, machine_with, paper_of
from tests.drivers.made_up_runs import processor

CORE, CORES, GPU = device("cpu"), device("threads"), device("cuda")
ROW = f'rows = [{{ instance = "{FIRST}" }}]'


def series(name, **said):
    values = {"heading": name, **said}
    return f"[series.{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values.items())


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def table(names, *lines, workload="ihc", number="1", quick="{ amount = { climbers = 4 } }"):
    said = [f'table = "{number}"', 'title = "t"', f'workload = "{workload}"', f"series = {toml(names)}"]
    return "[[exhibits]]\n" + "\n".join([*said, *(lines or [ROW]), f"quick = {quick}"]) + "\n"


@pytest.fixture
def planned(tmp_path):
    """Plan a made-up paper on a machine; a part of the plan is an exhibit."""

    def plan(parts, machine, scale="quick", **chosen):
        paper = paper_of(tmp_path, *parts)
        return plan_reproduction(
            paper, paper.exhibits, machine, ReproductionChoice(scale, tmp_path / "records.jsonl", **chosen)
        )

    return plan


def backends(plan):
    return [one.configuration.backend for one in plan.needed.values()]


def runs_of(plan):
    """Runs in order: backend, ranks, and arguments without the seed."""
    return [
        (one.configuration.backend, one.configuration.ranks, " ".join(one.arguments)) for one in plan.needed.values()
    ]


# --- rows, columns, series and devices ---


def test_a_series_runs_on_the_kind_that_it_prefers_of_those_that_are_here(planned):
    broken = device("cuda", usable=False, reason="no driver")
    without_gpu = planned([HILLS], machine_with(CORE, CORES, broken, device("opencl", index="1")))
    assert backends(without_gpu)[:3] == ["cpu", "threads", "opencl"]
    everywhere = series("all", kinds=["gpu", "cores"], everywhere=True)
    assert backends(planned([everywhere, table(["all"])], machine_with(CORE, CORES, GPU))) == ["cuda", "threads"]
    on_opencl = series("cl", kinds=["gpu", "cores"], backends=["opencl"])
    assert backends(planned([on_opencl, table(["cl"])], machine_with(CORE, CORES, GPU, device("opencl")))) == ["opencl"]


def test_neither_the_oracle_nor_what_repeats_another_backend_runs_without_being_named(planned):
    machine = [CORE, device("python"), CORES, device("joblib", same_as="threads")]
    parts = [series("all", everywhere=True), table(["all"])]
    assert backends(planned(parts, machine_with(*machine))) == ["cpu", "threads"]
    assert backends(planned(parts, machine_with(*machine, backends=["python", "joblib"]))) == ["python", "joblib"]
    assert backends(planned(parts, machine_with(CORE, device("joblib", same_as="threads")))) == ["cpu", "joblib"]


def test_columns_that_options_tell_are_run_each_once_and_as_the_scale_restricts_them(planned):
    names = [("m", 4, "coarse"), ("m", 8, "coarse"), ("", 4, "coarse"), ("m", 4, "fine")]
    columns = ", ".join(
        "{"
        + f'heading = "{i}", parameters = {{ ants = {ants}, strategy = "{strategy}" }}'
        + (f', machine = "{m}"' if m else "")
        + "}"
        for i, (m, ants, strategy) in enumerate(names)
    )
    lines = [f"columns = [{columns}, {{ heading = 'cities' }}]", ROW]
    ants = series("ants", kinds=["core"], options={"rho": 0.5})
    arguments = f"--rho 0.5 --ants {{}} --strategy {{}} --iterations 3 --instance {FIRST}"
    for restricted, expected in [
        ("", [(4, "coarse"), (8, "coarse"), (4, "fine")]),
        (", columns = { ants = [4], strategy = ['fine'] }", [(4, "fine")]),
    ]:
        quick = "{ amount = { iterations = 3 }" + restricted + "}"
        plan = planned([ants, table(["ants"], *lines, workload="aco", quick=quick)], machine_with(CORE))
        assert runs_of(plan) == [("cpu", 1, arguments.format(*one)) for one in expected]


def test_rows_may_have_workloads_options_and_series_of_their_own(planned):
    rows = [
        '{ instance = "a", workload = "knapsack", options = { items = 5, capacity = 50, class = "uncorrelated" } }',
        f'{{ instance = "{FIRST}", workload = "aco", series = ["plain"] }}',
        f'{{ instance = "{SECOND}" }}',
    ]
    parts = [
        series("plain", kinds=["core"]),
        series("other", kinds=["core"], rows=["a"]),
        table(["plain", "other"], f"rows = [{', '.join(rows)}]", quick="{}"),
    ]
    assert runs_of(planned(parts, machine_with(CORE))) == [
        ("cpu", 1, "--items 5 --capacity 50 --class uncorrelated"),
        ("cpu", 1, f"--instance {FIRST}"),
        ("cpu", 1, f"--instance {SECOND}"),
    ]


def test_flags_lists_and_files_are_written_as_the_driver_takes_them(planned):
    lcs = series("plain", kinds=["core"], options={"trace": False, "verify": True, "profile": False})
    rows = 'rows = [{ instance = "a", options = { text = ["ABC", "AC"] } }]'
    assert runs_of(planned([lcs, table(["plain"], rows, workload="lcs", quick="{}")], machine_with(CORE))) == [
        ("cpu", 1, "--no-trace --verify --text ABC AC")
    ]


def test_rows_told_by_processors_are_one_work_on_all_of_them(planned):
    rows = 'rows = [{ processors = "core:1" }, { processors = "gpu:1" }]'
    instance = f'options = {{ instance = "{FIRST}" }}'
    parts = [series("ranked", kinds=["core"], ranks=[2]), table(["core", "pruned", "ranked"], rows, instance)]
    ran = [(backend, ranks) for backend, ranks, _ in runs_of(planned(parts, machine_with(CORE, GPU)))]
    assert ran == [("cpu", 1), ("cuda", 1), ("cpu", 2)]


def test_seeds_of_one_instance_are_one_run_and_those_that_generate_one_are_one_each(planned):
    plain = series("plain", kinds=["core"])
    quick = "{ seeds = [3, 5], repeats = 4 }"
    (case,) = planned([plain, table(["plain"], workload="aco", quick=quick)], machine_with(CORE)).needed.values()
    assert (case.seeds, case.command()[-11:-9], case.repeats) == ((3, 5), ["--seeds", "3,5"], 4)
    rows = 'rows = [{ instance = "a", options = { items = 5, capacity = 50 } }]'
    plan = planned([plain, table(["plain"], rows, workload="knapsack", quick=quick)], machine_with(CORE))
    assert [one.seeds for one in plan.needed.values()] == [(3,), (5,)]


def test_repetitions_and_the_folder_of_instances_are_the_users(planned, tmp_path):
    plan = planned([HILLS], machine_with(CORE, CORES), repeats=9, data=str(tmp_path))
    assert all(one.repeats == 9 for one in plan.needed.values())
    assert all(one.arguments[-2:] == ("--data", str(tmp_path)) for one in plan.needed.values())


# --- ranks and hosts ---


RANKED = series("ranked", kinds=["core"], ranks=[2, 4, 8])


@pytest.mark.parametrize(
    ("machine", "ran"),
    [({"cores": 4}, [2, 4]), ({"cores": 4, "oversubscribe": True}, [2, 4, 8]), ({"cores": 8, "ranks": [1, 3]}, [3])],
)
def test_ranks_are_those_of_the_series_or_of_the_user_as_far_as_there_are_cores(planned, machine, ran):
    plan = planned([RANKED, table(["core", "ranked"])], machine_with(CORE, CORES, **machine))
    assert [(backend, ranks) for backend, ranks, _ in runs_of(plan)] == [("cpu", 1), *(("cpu", count) for count in ran)]
    left_out = {("ranked, 8 ranks", "each rank needs a core, found 4 (--oversubscribe lets ranks share cores)")}
    assert set(plan.parts[0].missing()) == (left_out if ran == [2, 4] else set())


def test_no_ranks_run_where_the_user_wants_none_or_mpi_is_missing(planned, monkeypatch):
    parts = [RANKED, table(["core", "ranked"])]
    assert len(planned(parts, machine_with(CORE, ranks=[])).needed) == 1
    monkeypatch.setattr("drivers.experiments.presets.series.mpi_obstacle", lambda: "mpi4py is missing")
    plan = planned(parts, machine_with(CORE, cores=8))
    assert len(plan.needed) == 1
    assert plan.parts[0].missing() == [("ranked, 2, 4, 8 ranks", "mpi4py is missing")]


def test_a_rank_of_a_series_for_gpus_has_a_gpu_of_its_own(planned):
    parts = [series("gpus", kinds=["gpu"], ranks=[2, 3]), table(["gpus"])]
    plan = planned(parts, machine_with(CORE, GPU, device("cuda", index="1")))
    assert [(backend, ranks) for backend, ranks, _ in runs_of(plan)] == [("cuda", 2)]
    assert plan.parts[0].missing() == [("gpus, 3 ranks", "each rank needs a GPU, found 2 of cuda")]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"hosts": 2}, "it needs 2 hosts, and this command runs on one"),
        ({"kinds": ["gpu"], "why_not": "no GPU"}, "no GPU"),
        ({"kinds": ["gpu", "cores"], "backends": ["cuda"]}, "no device of cuda is of the kind gpu or cores here"),
    ],
)
def test_a_series_that_cannot_run_here_says_why(planned, said, why):
    plan = planned([series("far", **said), table(["core", "far"])], machine_with(CORE, CORES))
    assert backends(plan) == ["cpu"]
    assert plan.parts[0].missing() == [("far", why)]


def test_a_series_runs_on_parts_of_the_cores_and_on_all_of_them(planned):
    parts = [series("sweep", kinds=["core", "cores"], everywhere=True, cores=[1, 2, 4, 8]), table(["sweep"])]
    plan = planned(parts, machine_with(CORE, processor("threads", cores=4)))
    assert [one.configuration.recorded for one in plan.needed.values()] == ["0", "1 of 4 cores", "2 of 4 cores", "0"]
    assert [one.configuration.cores for one in plan.needed.values()] == [None, 1, 2, None]
    assert "--cores 2" in " ".join([*plan.needed.values()][2].command())
    assert len(planned(parts, machine_with(CORES)).needed) == 1


# --- shared runs ---


def test_exhibits_that_need_the_same_run_share_it(planned):
    again = HILLS.replace('table = "1"', 'table = "2"').replace("repeats = 2", "repeats = 5")
    drawn = '[[exhibits]]\nfigure = "1"\ntitle = "drawn"\nof = "1"\nplot = { measure = "speedup" }\n'
    plan = planned([HILLS, again, drawn], machine_with(CORE, CORES))
    assert len(plan.needed) == 4
    assert [part.exhibit.name for part in plan.parts] == ["table 1", "table 2"]
    assert [*plan.parts[0].needs] == [*plan.parts[1].needs] == list(plan.needed)
    assert {one.repeats for one in plan.needed.values()} == {5}


def test_defaults_that_are_spelled_out_are_the_same_run_and_checks_are_added_to_it(planned):
    parts = [
        series("plain", kinds=["core"]),
        series("spelled", kinds=["core"], options={"mapping": "native", "verify": True}),
        series("peers", kinds=["core"], options={"peers": True}),
        table(["plain", "spelled", "peers"], 'options = { instance = "random:9" }', workload="lcs", quick="{}"),
    ]
    (run,) = planned(parts, machine_with(CORE)).needed.values()
    assert run.arguments == ("--instance", "random:9", "--verify")
    assert run.peers


# --- figures of one row, and two lengths ---

ANTS = series("ants", kinds=["core"])
COLUMNS = "columns = [{ parameters = { ants = 2 } }, { parameters = { ants = 4 } }]"
TWO_ROWS = f'rows = [{{ instance = "{FIRST}" }}, {{ instance = "{SECOND}" }}]'


def drawing(row, number="2"):
    plot = f'{{ measure = "seconds", over = "ants", row = "{row}" }}'
    return f'[[exhibits]]\nfigure = "{number}"\ntitle = "drawn"\nof = "1"\nplot = {plot}\n'


def test_a_figure_of_one_row_needs_that_row_although_the_scale_leaves_it_out(planned, tmp_path):
    quick = f'{{ rows = ["{FIRST}"], amount = {{ iterations = 3 }} }}'
    parts = [
        ANTS,
        table(["ants"], TWO_ROWS, COLUMNS, workload="aco", quick=quick),
        drawing(SECOND),
        drawing(FIRST, "3"),
    ]
    paper = paper_of(tmp_path, *parts)

    def instances(*wanted):
        chosen = ReproductionChoice("quick", tmp_path / "records.jsonl")
        exhibits = [exhibit for exhibit in paper.exhibits if exhibit.name in wanted]
        plan = plan_reproduction(paper, exhibits, machine_with(CORE), chosen)
        return {one.task.problem.name for one in plan.needed.values()}

    assert instances("table 1") == instances("table 1", "figure 2") == instances("figure 3") == {FIRST}
    assert instances("figure 2") == {SECOND}
    assert instances("figure 2", "figure 3") == {FIRST, SECOND}


@pytest.mark.parametrize(
    ("paper", "scale", "lengths"),
    [(100, "quick", [20]), (100, "standard", [20, 5]), (20, "standard", [20]), (None, "standard", [20, 5])],
)
def test_runs_shorter_than_the_papers_have_a_partner_of_a_quarter_of_their_length(planned, paper, scale, lengths):
    amount = f"amount = {{ iterations = {paper} }}" if paper else 'section = "1"'
    scales = "{ amount = { iterations = 20 } }"
    walk = series("walk", kinds=["core"])
    lines = [ROW, amount, f"standard = {scales}"]
    plan = planned([walk, table(["walk"], *lines, workload="tsp", quick=scales)], machine_with(CORE), scale)
    asked = [one.asked.get("iterations") for one in plan.needed.values()]
    assert asked == lengths


def test_a_row_may_have_an_amount_of_its_own(planned):
    rows = f'rows = [{{ instance = "{FIRST}" }}, {{ instance = "{SECOND}" }}]'
    scale = f'{{ amount = {{ iterations = 20 }}, row_amounts = {{ "{FIRST}" = {{ iterations = 80 }} }} }}'
    lines = [rows, "amount = { iterations = 100 }", f"standard = {scale}"]
    walk = series("walk", kinds=["core"])
    plan = planned([walk, table(["walk"], *lines, workload="tsp", quick=scale)], machine_with(CORE), "standard")
    asked = [(one.task.problem.name, one.asked["iterations"]) for one in plan.needed.values()]
    assert asked == [(FIRST, 80), (FIRST, 20), (SECOND, 20), (SECOND, 5)]


# --- what cannot run ---


@pytest.mark.parametrize(
    ("workload", "options", "quick", "why"),
    [
        ("ihc", {"colour": "red"}, "{}", "--colour: python -m drivers.ihc has no such option"),
        ("ihc", {"scan": "slow"}, "{}", "--scan: invalid choice: 'slow' (choose from "),
        ("ihc", {"tour": "a"}, "{}", "--tour: found among a paper's options, expected one that decides its work"),
        ("ihc", {}, "{ seeds = [1, 2] }", "--seeds changes nothing here"),
        ("qap", {"walks": 3, "select": "host"}, "{}", "level algorithm: expected level iteration for a loop on the"),
        ("qap", {"seconds": 1.5}, "{}", "--seconds: a time limit ends each run at another iteration"),
    ],
)
def test_what_every_device_would_refuse_is_a_reason_and_the_other_series_run(planned, workload, options, quick, why):
    rows = ROW if workload == "ihc" else 'rows = [{ instance = "taillard:6:seeds=1,2" }]'
    parts = [series("plain", kinds=["core"]), series("wrong", kinds=["core"], options=options)]
    plan = planned([*parts, table(["plain", "wrong"], rows, workload=workload, quick=quick)], machine_with(CORE))
    assert len(plan.needed) == ("seeds" not in quick)
    *_, (what, reason) = plan.parts[0].missing()
    assert what.endswith(": wrong") and reason.startswith(why)
