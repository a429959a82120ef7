"""Execution settings decide only the speed: they separate runs, but equal hashes stay comparable."""

from drivers.workload.registry import NAMES, get_workload
from reports.comparison.execution_settings import explain_setting, setting_meanings, setting_sentences
from reports.comparison.speedups import BaselineSelection, compare

FULL, PRUNED = {"scan": "full"}, {"scan": "pruned"}


def test_a_pruned_and_a_full_scan_of_equal_hashes_are_compared_though_one_evaluates_fewer_moves(make_record):
    full = make_record(execution=FULL, times=[4.0])
    pruned = make_record(execution=PRUNED, evaluations=5, times=[1.0], backend="cuda")
    rows = compare([full, pruned]).rows
    assert rows[1].speedup.value == 4.0
    assert rows[1].labels == ("its baseline ran with scan = full",)


def test_the_baseline_is_the_most_alike_and_of_equally_alike_ones_the_fastest(make_record):
    def baseline_of(*one_core, likeness=None):
        row = make_record(backend="cuda", execution={"scan": "full", "order": 1}, times=[1.0])
        cores = [
            make_record(execution={"scan": scan, "order": order}, times=[time], device=str(k))
            for k, (scan, order, time) in enumerate(one_core)
        ]
        return compare([*cores, row], likeness=likeness).rows[-1].baseline_s

    assert baseline_of(("pruned", 1, 2.0), ("full", 1, 4.0)) == 4.0
    assert baseline_of(("pruned", 1, 3.0), ("full", 2, 2.0)) == 2.0
    assert baseline_of(("pruned", 1, 3.0), ("full", 2, 2.0), likeness=BaselineSelection(first=("order",))) == 3.0
    assert (
        baseline_of(("full", 1, 4.0), ("pruned", 1, 2.0), likeness=BaselineSelection(plain={"scan": "pruned"})) == 2.0
    )


# --- words for execution settings ---

DECLARED = [(name, one, declared) for name in NAMES for one, declared in get_workload(name).options.declared()]


def test_every_way_that_an_option_decides_has_words_for_each_of_its_values():
    for workload, name, declared in DECLARED:
        if declared.decides != "execution":
            continue
        values = [value for value in declared.choices or () if value != "auto" or name.name != "scan"]
        if str(name.type).startswith("bool"):
            values = [True, False, *([None] if name.default is None else [])]
        for value in [*values, *(() if values else (name.default, 3))]:
            assert explain_setting(name.name, value), f"{workload}: {name.name} = {value!r}"


def test_every_evaluation_of_the_problems_has_words():
    for workload, spec, neighbourhood in (
        ("qap", "tai12a", "exchange2"),
        ("ppp", "73-73", "flip1"),
        ("tsp", "uniform:20:seed=1", "2opt"),
        ("weierstrass", "10", "crowns"),
        ("weierstrass", "10", "axes"),
    ):
        task = get_workload(workload).load(get_workload(workload).options(instance=spec), 1)
        offered = task.problem.evaluations(neighbourhood)
        assert offered and offered.keys() <= setting_meanings()["evaluation"].keys(), workload


def test_other_ways_that_drivers_record_have_words():
    recorded = {
        "bound": "host",
        "batch": 16,
        "depth": 5,
        "device_memory": 1 << 20,
        "spill_to_files": True,
    }
    recorded |= {"unrolled": True}
    assert all(explain_setting(name, value) for name, value in recorded.items())
    assert explain_setting("unrolled", None) != explain_setting("unrolled", False) != explain_setting("unrolled", True)
    assert explain_setting("device_memory", 1 << 20) == "kept decisions may take 1.00 MiB of the device's memory"


def test_a_way_of_somebody_elses_workload_is_shown_without_words():
    assert setting_sentences({"order": 1, "spill_to_files": False, "shape": [1, 2]}) == [
        "order = 1",
        "shape = [1, 2]",
        "spill_to_files = no: decisions or cells that leave the device, if any, go to the host's memory",
    ]
