"""All workloads' declarations together: what each says of itself is so, and its verifiers confirm what is right alone."""

import json
import re

import pytest

from backends.cpu.single_core import CpuBackend
from cluster import Solo
from drivers.options.declaration import Options
from drivers.runs import workload_main
from drivers.workload import registry
from drivers.workload.declaration import verifier_with_article
from reports.records.schema import HASH_SCOPES
from tests.core.run.searches import KINDS
from tests.drivers.small_runs import QUICK, driver_of, workload_of

LINE = re.compile(
    r"^(?P<instance>[^ ]+): (?P<words>.+), (?P<count>[\d,]+) (?P<unit>[a-z ]+), (?P<rate>[\d.,e]+) [kMGT]? ?(?P=unit)/s, "
    r"\d+\.\d+ s \(compile [\d.]+, transfer [\d.]+, kernel [\d.]+, host [\d.]+\), "
    r"hash (?P<hash>[0-9a-f]{16}) of (?P<covered>all [a-z]+|the result), (?P<verdict>.+)$"
)
every_workload = pytest.mark.parametrize("name", registry.NAMES)


def test_every_one_has_a_small_run():
    assert set(registry.ORDER) == set(QUICK)


@every_workload
def test_a_declaration_bears_its_module_s_name_and_known_words(name):
    workload = workload_of(name)
    assert registry.get_workload(name) is workload
    assert workload.name == name
    assert workload.unit.endswith("s")
    assert workload.hash_scope in HASH_SCOPES
    assert workload.title and "\n" not in workload.title and not workload.title.endswith(".")
    assert workload.doing and issubclass(workload.options, Options)


@every_workload
def test_the_standard_arguments_are_the_workload_s_own_and_say_what_is_computed_alone(name):
    workload = workload_of(name)
    assert workload.standard
    options = workload_main.parse_options(workload, "", workload.standard)
    for other, declared in workload.options.declared():
        if getattr(options, other.name) != other.default:
            assert declared.decides in ("work", "search") or other.name in ("instance", "items", "capacity"), other.name


DETAILS = {
    "aco": lambda run, said: (
        (said["cities"], said["optimum"], said["best_colony"]) == (9, None, 0)
        and run["evaluations"] == 2 * 9 * 9
        and said["team_size"] == said["lanes_per_ant"] * said["ants_per_team"]
        and said["device_bytes"] > 2 * 9 * 9  # the distances alone, of 16 bits
    ),
    "exact": lambda run, said: (
        run["evaluations"] == sum(said["nodes_per_depth"])
        and said["root_bound"] <= run["best_cost"] <= said["start_cost"]
    ),
    "heldkarp": lambda run, said: said["proved"] and sorted(said["tour"]) == [*range(8)],
    "lcs": lambda run, said: (said["string_lengths"], said["cells"], said["streamed_bytes"]) == ([7, 6], 42, 0),
    "qap": lambda run, said: run["evaluations"] == 36 and said["neighbourhood_sizes"] == [36],
}


@pytest.mark.parametrize("name", QUICK)
def test_a_small_run_is_confirmed_and_recorded_as_it_is_declared(drive, tmp_path, name):
    kind, record = workload_of(name), tmp_path / "r.jsonl"
    words = [*QUICK[name].split(), "--no-progress", "--repeats", "2", "--record", record]
    code, said, error = drive(*words, driver=driver_of(name))
    assert (code, error) == (0, "")
    hashes = re.findall("hash ([0-9a-f]{16})", said)
    assert len(hashes) == 2 and len(set(hashes)) == 1
    line = LINE.match(said.splitlines()[-1])
    assert line, said
    unit = "perturbations" if name == "tsp" else kind.unit
    assert (line["unit"], line["covered"]) == (unit, HASH_SCOPES[kind.hash_scope])
    (kept,) = map(json.loads, record.read_text().splitlines())
    assert (kept["workload"], kept["evaluation_unit"], kept["hash_scope"]) == (name, unit, kind.hash_scope)
    assert (kept["hash"], kept["instance"]) == (line["hash"], line["instance"])
    assert kept["evaluations"] == int(line["count"].replace(",", "")) > 0
    assert str(kept["best_cost"]) in line["words"] or name == "weierstrass"
    assert (kept["schema"], kept["verified"]) == (4, True)
    assert (
        line["verdict"] == f"confirmed by {' and by '.join(map(verifier_with_article, kept['details']['verified_by']))}"
    )
    assert re.fullmatch("[^/]+", kept["details"]["instance_source"]) and DETAILS.get(name, lambda *_: True)(
        kept, kept["details"]
    )
    assert kept["device_kind"] == "core"
    assert [sample["communication_share"] for sample in kept["repetitions"]] == [0.0, 0.0]
    options = workload_main.parse_options(kind, "", QUICK[name].split())
    assert options.deciding("work").items() <= kept["parameters"].items()
    assert options.deciding("execution").keys() <= kept["execution"].keys()
    elsewhere = {other.name for other, declared in kind.options.declared() if declared.decides in ("place", "nothing")}
    assert not elsewhere & kept["parameters"].keys()
    assert not kept["parameters"].keys() & kept["execution"].keys()


@pytest.mark.parametrize("name", ["ihc", "aco", "tsp", "exact", "heldkarp"])
def test_the_file_of_a_tour_names_the_program_that_found_it(drive, tmp_path, name):
    drive(*QUICK[name].split(), "--no-progress", "--tour", tmp_path / "best.tour", driver=driver_of(name))
    assert f"found by onekernel, drivers.{name}\n" in (tmp_path / "best.tour").read_text()


@pytest.mark.parametrize("name", KINDS)
def test_a_search_has_the_hash_of_its_driver(drive, name):
    kind = KINDS[name]
    driver, *arguments = kind.command.split()
    code, said, error = drive(*arguments, "--backend", "cpu", driver=driver_of(driver))
    assert code == 0, error
    outcome = kind.make(CpuBackend(CpuBackend.devices()[0]), Solo()).run(kind.stop)
    assert re.search(r"hash ([0-9a-f]{16}) of", said)[1] == outcome.hash
    assert re.search(rf"\b{outcome.cost}\b", said)
