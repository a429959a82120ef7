"""Cases of a plan on Dask workers and as Slurm jobs: the same records, interrupted and resumed as on this machine."""

import json
import pickle
import sys
import time
from dataclasses import dataclass, replace

import pytest

from core.errors import UserError
from drivers.experiments.case import Case
from drivers.experiments.configurations import Configuration
from drivers.experiments.executors import make_executor
from drivers.experiments.executors.dask import DaskExecutor, declared_needs
from drivers.experiments.executors.local import LocalExecutor, run_process
from drivers.experiments.executors.remote import RemoteTask, prepare_tasks
from drivers.experiments.plan import ExperimentPlan, prepare_folder
from drivers.experiments.run import PlanRun
from drivers.workload.registry import get_workload
from reports.records.environment import environment
from reports.records.files import load
from tests.drivers.made_up_runs import KINDS, record_of, run_of


@dataclass(frozen=True)
class MadeUpCase(Case):
    """A case that writes a made-up record, or sleeps for a number of seconds."""

    def command(self):
        if self.about:
            return [sys.executable, "-c", f"import time; time.sleep({self.about})"]
        return run_of(self)


@pytest.fixture(scope="module")
def task():
    workload = get_workload("ihc")
    return workload.load(workload.options(instance="uniform:9:seed=1"), 1)


@pytest.fixture
def make_case(task, tmp_path):
    def make(backend, about="", **more):
        place = Configuration(backend, "0", "a device", kind=KINDS.get(backend, "core"))
        place, plan = replace(place, **more), tmp_path / "plan.jsonl"
        return MadeUpCase(get_workload("ihc"), task, (), {}, (0,), 2, plan, place, about=about)

    return make


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    with (
        dask.config.set({"temporary-directory": str(tmp_path_factory.mktemp("dask"))}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, resources={"GPU": 1}
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture
def executor(request):
    """submitit's local executor, and a Dask worker in a thread."""
    if request.param == "dask":
        return make_executor("dask", {"address": request.getfixturevalue("scheduler")})
    pytest.importorskip("submitit")
    return make_executor("slurm", {"cluster": "local"})


@pytest.mark.parametrize("executor", ["slurm", "dask"], indirect=True)
def test_cases_run_elsewhere_and_their_records_join_the_plans(executor, make_case, tmp_path):
    ends = {case.configuration.backend: end for case, end in executor.run(map(make_case, ("cpu", "cuda", "broken")))}
    assert {name: end.returncode for name, end in ends.items()} == {"cpu": 0, "cuda": 0, "broken": 1}
    assert "ZeroDivisionError" in ends["broken"].stderr and ends["cpu"].seconds > 0
    assert {one.backend: len(one.repetitions) for one in load(tmp_path / "plan.jsonl")} == {"cpu": 2, "cuda": 2}
    assert not list((tmp_path / "plan.tasks").glob("*.jsonl"))


@pytest.mark.parametrize("executor", [pytest.param("slurm", marks=pytest.mark.slow), "dask"], indirect=True)
def test_a_caller_that_stops_cancels_the_other_cases(executor, make_case, tmp_path):
    began = time.perf_counter()
    # A worker of Dask finishes the case that it runs.
    running = executor.run(
        [make_case("cpu"), make_case("sleeping", "2" if isinstance(executor, DaskExecutor) else "60")]
    )
    case, end = next(running)
    running.close()
    assert (case.configuration.backend, end.returncode) == ("cpu", 0)
    assert time.perf_counter() - began < 40
    assert [one.backend for one in load(tmp_path / "plan.jsonl")] == ["cpu"]


def test_a_case_goes_on_behind_repetitions_that_are_recorded(make_case, tmp_path):
    """In the plan's file, or in a case's file that an interrupted plan left."""
    plan, case = tmp_path / "plan.jsonl", make_case("cpu")
    times = [{"compile_s": 0.0, "transfer_s": 0.0, "kernel_s": s, "total_s": s} for s in (1.0, 2.0, 3.0)]
    lines = [json.dumps(record_of(case, 0) | {"repetitions": [time]}) + "\n" for time in times]
    plan.write_text(lines[0])
    left = RemoteTask(case).own
    left.parent.mkdir()
    left.write_text("".join(lines[:2]))
    (begun,) = prepare_tasks([case])
    for own in (plan, begun.own):
        (record,) = load(own)
        assert [run.kernel_s for run in record.repetitions] == [1.0, 2.0]
    with begun.own.open("a") as file:
        file.write(lines[2])
    begun.end()
    (record,) = load(plan)
    assert [run.kernel_s for run in record.repetitions] == [1.0, 2.0, 3.0]
    assert not begun.own.exists()
    begun.end()
    assert load(plan) == [record]


@dataclass(frozen=True)
class DistantCase(MadeUpCase):
    """A case whose record names another host, and optionally another version."""

    def command(self):
        return run_of(self, environment=environment() | {"host": "node7"} | json.loads(self.about))


@pytest.mark.parametrize(
    ("elsewhere", "about", "kind"),
    [(True, "{}", "done"), (False, "{}", "failed"), (True, '{"commit": "another"}', "failed")],
)
def test_records_of_other_hosts_count_if_cases_run_elsewhere(make_case, monkeypatch, elsewhere, about, kind):
    monkeypatch.setattr(LocalExecutor, "elsewhere", elsewhere)
    case = DistantCase(**{**vars(make_case("cpu")), "about": about})
    (outcome,) = PlanRun(1, LocalExecutor()).run([case])
    assert outcome.kind == kind
    assert len(ExperimentPlan([case], case.records, elsewhere=elsewhere).left) == (kind != "done")


@pytest.mark.parametrize(
    ("more", "gpus", "cores"),
    [
        ({}, 0, 1),
        ({"ranks": 4}, 0, 4),
        ({"kind": "cores", "cores": 3, "ranks": 2}, 0, 6),
        ({"kind": "gpu", "ranks": 2}, 2, 2),
        ({"kind": "gpu", "device": "3"}, 4, 1),
    ],
)
def test_a_case_says_how_many_gpus_and_cores_it_needs(make_case, more, gpus, cores):
    task = RemoteTask(make_case("any", **more))
    assert (task.gpus, task.cores) == (gpus, cores)


def test_dask_is_asked_for_what_its_workers_declare():
    assert declared_needs({"GPU": 2, "CPU": 8}, [{"GPU": 1.0}, {"GPU": 4.0}]) == {"GPU": 2}
    assert declared_needs({"GPU": 0, "CPU": 8}, [{"CPU": 4.0}]) == {"CPU": 4}


@pytest.fixture
def slurm_stubs(tmp_path, monkeypatch):
    folder = tmp_path / "commands"
    folder.mkdir()
    for name, does in {
        "sbatch": f"cp $1 {folder}/$RANDOM.sh; echo Submitted batch job 7",
        "squeue": "",
        "srun": "",
    }.items():
        (folder / name).write_text(f"#!/bin/bash\n{does}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


@pytest.mark.parametrize(("wait_s", "code"), [(30.0, 0), (0.0, 1)])
def test_a_result_that_appears_after_the_job_left_the_queue_counts(
    wait_s, code, slurm_stubs, make_case, monkeypatch, tmp_path
):
    pytest.importorskip("submitit")
    monkeypatch.setattr("drivers.experiments.executors.slurm.RESULT_WAIT_S", wait_s)
    monkeypatch.setattr("drivers.experiments.executors.slurm.POLL_S", 0.02)
    case, executor = make_case("cpu"), make_executor("slurm", {})
    looks = []

    def queued():
        looks.append(0)
        (submitted,) = (tmp_path / "plan.tasks" / "slurm").glob("*_submitted.pkl")
        if len(looks) == 3:
            result = ("success", run_process(case.command(), case.environment()))
            submitted.with_name("7_0_result.pkl").write_bytes(pickle.dumps(result))
        return set()

    monkeypatch.setattr(executor, "_queued", queued)
    ((_, end),) = executor.run([case])
    assert end.returncode == code
    assert ("no result appeared within 0 s" in end.stderr) == bool(code)


def test_a_rerun_counts_nothing_that_interrupted_cases_left(make_case, tmp_path):
    case = make_case("cpu")
    own = RemoteTask(case).own
    for times in (1, 2):
        own.parent.mkdir()
        own.write_text(f"{json.dumps(record_of(case, 0))}\n" * times)
        prepare_folder(case.records, lambda: None, rerun=True)
        assert load(case.records) == []
        assert not own.parent.exists()
        assert len((tmp_path / "plan.previous.tasks" / own.name).read_text().splitlines()) == times
    (begun,) = prepare_tasks([case])
    assert load(case.records) == [] and not begun.own.exists()


def test_slurm_is_asked_for_an_array_of_equal_cases_and_says_which_job_it_ended(slurm_stubs, make_case, monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setattr("drivers.experiments.executors.slurm.RESULT_WAIT_S", 0.0)
    executor = make_executor("slurm", {"partition": "fast", "time": "90"})
    cases = [make_case("cpu"), make_case("cuda"), make_case("silent"), make_case("threads", kind="cores", cores=2)]
    ends = list(executor.run(cases))
    assert {end.returncode for _, end in ends} == {1}
    assert all("error: Slurm ended job 7" in end.stderr for _, end in ends)
    scripts = sorted(path.read_text() for path in slurm_stubs.glob("*.sh"))
    asked = [{line.removeprefix("#SBATCH --") for line in script.splitlines()} for script in scripts]
    assert all({"partition=fast", "time=90"} <= one for one in asked)
    options = {tuple(sorted(line for line in one if line.startswith(("array", "cpus", "gpus")))) for one in asked}
    assert options == {("array=0-1%2", "cpus-per-task=1"), ("cpus-per-task=1", "gpus-per-node=1"), ("cpus-per-task=2",)}


@pytest.mark.parametrize("words", ["no partition x", ""])
def test_a_job_that_sbatch_refuses_is_one_line_with_its_words(words, slurm_stubs, make_case):
    pytest.importorskip("submitit")
    (slurm_stubs / "sbatch").write_text(f"#!/bin/sh\necho {words} >&2\nexit 1\n")
    with pytest.raises(UserError, match=f"slurm: the job cannot be submitted: .*{words or 'exit status 1'}"):
        list(make_executor("slurm", {}).run([make_case("cpu")]))


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("slurm", {"cluster": "local", "colour": "red"}, "colour"),
        ("slurm", {"cluster": "nowhere"}, "nowhere"),
        ("dask", {}, "expected --executor-settings address=VALUE"),
        ("dask", {"address": "host", "colour": "red"}, "--executor-settings colour: expected of dask: address"),
        ("local", {"colour": "red"}, "--executor-settings colour: expected of local: nothing"),
    ],
)
def test_unknown_or_missing_settings_are_mistakes_of_the_user(name, settings, message):
    with pytest.raises(UserError, match=message):
        make_executor(name, settings)


@pytest.mark.parametrize(("name", "package"), [("slurm", "submitit"), ("dask", "distributed")])
def test_a_package_that_is_missing_is_named(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match=rf"{package} is missing: pip install 'onekernel\[executors\]'"):
        make_executor(name, {"address": "tcp://host:8786"} if name == "dask" else {"cluster": "local"})


def test_a_scheduler_that_does_not_answer_is_a_mistake_of_the_user(make_case, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("drivers.experiments.executors.dask.TIMEOUT_S", 0.2)
    with pytest.raises(UserError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        list(make_executor("dask", {"address": "tcp://127.0.0.1:9"}).run([make_case("cpu")]))
