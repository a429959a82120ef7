"""The whole report of a comparison: of several instances, seeds, devices, ranks and solvers; and its files."""

import pytest

from reports.comparison.sections import InstanceSection
from reports.pages import comparison
from reports.pages.terminal import lines
from reports.records.files import RecordError
from reports.records.schema import Repetition
from tests.reports.conftest import MACHINE
from tests.reports.test_reference_solvers import FAST

NODE = MACHINE | {"host": "node", "cores": 16}
WAYS = {"evaluation": "table", "level": "iteration", "shape": "fixed"}
DETAILS = {"options": {"iterations": 1000}, "instance_source": "TSPLIB", "device_name": "Test CPU", "cities": 1002}
SOLVERS = [
    FAST | {"cost": 259100},
    {"name": "elkai", "version": "2.0.1", "cost": 262100, "solve_s": 3.0, "startup_s": 0.2, "in_process": True},
    {"name": "concorde", "failure": "not found: see its page"},
]


@pytest.fixture(scope="module")
def sections(make_record):
    def run(times, factor=1.0, load=0.5, mhz=3000.0, energy=None, **changes):
        def sample(number, time):
            compile_s = 0.0 if number else 0.5
            measured = {"started_at": f"2026-11-22T10:00:{changes['seed']}{number}Z", "energy_j": energy}
            measured |= {"conditions": {"load_1min": load, "cpu_mhz_mean": mhz}}
            measured |= {"communication_share": 0.05 if changes.get("ranks", 1) > 1 else 0.0}
            return Repetition(compile_s, 0.001, 0.9 * time * factor, time * factor + compile_s, **measured)

        samples = tuple(sample(number, time) for number, time in enumerate(times))
        fields = {"workload": "tsp", "execution": WAYS, "environment": NODE, "details": DETAILS, "hash_scope": "moves"}
        counted = {"evaluation_unit": "neighbours", "evaluations": 10**9, "parameters": {"iterations": 1000}}
        return make_record(**(fields | counted | changes | {"repetitions": samples}))

    def make(name, sha, factor):
        place = {"instance": name, "instance_sha256": sha * 32, "factor": factor}
        for seed in range(3):
            own = place | {"seed": seed, "best_cost": 261000 + 7 * seed, "hash": f"{seed:016x}"}
            known = DETAILS | {"optimum": 259045}
            yield run([10.0, 10.1, 10.2], **own, details=known | {"reference_solvers": SOLVERS})
            yield run([1.0, 1.1, 1.3], **own, backend="threads", mhz=2500.0)
            gpu = own | {"backend": "cuda", "device_kind": "gpu", "details": DETAILS | {"device_name": "NVIDIA H200"}}
            yield run([0.02, 0.021, 0.0202], **gpu, energy={"gpu_nvml": 6.0})
            yield run([0.04, 0.041, 0.0402], **gpu, execution=WAYS | {"evaluation": "coordinates", "shape": "tuned"})
            for ranks, time in ((2, 5.2), (4, 2.8), (8, 1.6), (16, 1.05), (32, 1.3)):
                yield run([time, 1.02 * time, 1.03 * time], **own, ranks=ranks, load=30.0 if ranks == 8 else 0.5)
        for ranks, time in ((1, 10.0), (2, 10.3), (4, 10.9), (8, 11.8)):
            grown = {"seed": 0, "parameters": {"iterations": 1000, "walks": ranks}}
            yield run([time, time, time], **place, **grown, ranks=ranks, hash=f"{ranks:016x}")

    return comparison.compare_records([*make("pr1002", "ab", 1.0), *make("pr2392", "cd", 2.0)])


def test_the_report_reads_as_it_did_and_every_instance_has_its_pictures(sections, tmp_path, is_golden):
    files = comparison.write(sections, tmp_path, "tsp")
    pictures = [f"compare-tsp-{n}{of}.svg" for n in (1, 2) for of in ("", "-scaling")]
    assert [file.name for file in files] == ["compare-tsp.md", *pictures]
    assert all(file.exists() for file in files)
    is_golden(files[0].read_text(encoding="utf-8"), files[0].name)
    text = files[0].read_text()
    assert all(f"]({name})" in text for name in pictures)
    levels = [len(line.split()[0]) for line in text.splitlines() if line.startswith("#")]
    assert levels[0] == 1 and levels.count(1) == 1, "headings are nested without gaps"
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


def test_the_terminal_reads_as_it_did(sections, is_golden):
    printed = [line for number, one in enumerate(sections) for line in lines(one, titled=True, explained=not number)]
    assert max(map(len, printed)) <= 80
    is_golden("\n".join(printed) + "\n", "compare-tsp.txt")


def test_an_earlier_report_is_removed_and_nothing_else(tmp_path):
    names = [f"compare-tsp{end}" for end in (".md", "-1.svg", "-12.svg", "-2-scaling.svg")]
    others = ["compare-tsp.jsonl", "compare-tspx.md", "compare-tsp-notes.svg", "speedup.svg"]
    for name in (*names, *others):
        (tmp_path / name).touch()
    comparison.remove(tmp_path, "tsp")
    assert {path.name for path in tmp_path.iterdir()} == set(others)


def test_records_of_several_workloads_are_refused(make_record):
    with pytest.raises(RecordError, match="found records of ihc, lcs: expected those of one workload"):
        comparison.compare_records([make_record(), make_record(workload="lcs")])
    with pytest.raises(RecordError, match="no records"):
        comparison.compare_records([])
    assert comparison.report_name("../a b\0/é") == "compare-..-a-b-é", "no name leads to another folder"


def test_a_run_of_another_instance_explains_the_load_of_this_one(make_record):
    def at(minute, load, **changes):
        sampled = {"started_at": f"2026-11-22T10:{minute:02d}:00Z", "conditions": {"load_1min": load}}
        return make_record(sampled=sampled, **changes)

    first = at(0, 0.1, backend="threads")
    second = at(1, 2.5, instance="other", instance_sha256="cd" * 32)
    _, beside = comparison.compare_sections([InstanceSection([first]), InstanceSection([second])])
    (alone,) = comparison.compare_sections([InstanceSection([]), InstanceSection([second])])
    assert [any("load" in caution.text for caution in section.cautions) for section in (beside, alone)] == [False, True]
