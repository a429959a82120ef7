"""Fixtures of the whole suite, and the summary that tells which backends were tested and why others were not."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

import backends
from backends.opencl import icd
from tests.durations import COLLECTED, Durations, tier
from tests.hygiene import own_temporary_folder, shuffled

ROOT = Path(__file__).parents[1]
SHARED_DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
KINDS = (*backends.NAMES, "wide")
# If Intel's runtime is installed, `opencl` is Intel's, and PoCL runs only the conformance suite.
CONFORMANCE = (*KINDS, "pocl")
MPIRUN_S = 200
STARTS_RANKS = {"mpirun", "hosts", "slurm"}
DEMANDED = [name for name in os.environ.get("ONEKERNEL_BACKENDS", "").split(",") if name]
tested: dict[str, str] = {}

# A shell without job control starts its background jobs with Ctrl-C ignored, and their children inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test's result must not depend on chance, on earlier failures, or on the load of the machine.
hypothesis.settings.register_profile(
    "same", derandomize=True, database=None, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("new", hypothesis.settings.get_profile("same"), derandomize=False, print_blob=True)
EXAMPLES = os.environ.get("ONEKERNEL_EXAMPLES", "same")
hypothesis.settings.load_profile(EXAMPLES)


def pytest_addoption(parser):
    parser.addoption(
        "--record-durations", action="store_true", help="write how long tests took to tests/durations.json"
    )
    parser.addoption("--order-seed", type=int, metavar="N", help="run modules and their tests in a random order")


def pytest_configure(config):
    if config.getoption("--record-durations"):
        config.pluginmanager.register(Durations())


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory, pytestconfig):
    """Fail at the end if tests of this process have left temporary files."""
    with own_temporary_folder(tmp_path_factory.getbasetemp(), pytestconfig.pluginmanager):
        yield


@pytest.fixture(scope="session")
def shared_data():
    if not SHARED_DATA.is_dir():
        pytest.skip("no instances beside the checkout (../shared/data)")
    return SHARED_DATA.resolve()


@pytest.fixture
def no_instances(tmp_path, monkeypatch):
    """No instances at hand: an empty cache, and no folder that a variable names."""
    monkeypatch.delenv("TSPLIB_DIR", raising=False)
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def outcome_of(capsys):
    """Call a program in this process; return its exit code, standard output and standard error."""

    def call(program, *arguments):
        try:
            code = program(*arguments)
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def of_platform(platform, extra):
    devices = backends.backend_class("opencl").devices()
    index = next((d.index for d in devices if d.driver.startswith(platform)), None)
    if index is None:
        raise backends.Unavailable(f"no device of {platform}; on x86-64 Linux pip install 'onekernel[{extra}]'")
    return index


def pocl():
    return backends.create("opencl", of_platform(icd.POCL, "opencl"))


def wide():
    """A GPU's launch shapes without a GPU: Intel's runtime for CPUs runs teams of lanes correctly, PoCL does not."""
    opened = backends.create("opencl", of_platform(icd.INTEL, "opencl-intel") + backends.TEAMS)
    opened.capabilities = opened.capabilities._replace(max_team_size=1024, shared_bytes=48 << 10, compute_units=4)
    return opened


def _made(name):
    try:
        return {"wide": wide, "pocl": pocl}.get(name, lambda: backends.create(name))()
    except backends.Unavailable as error:
        if name in DEMANDED:
            pytest.fail(f"backend {name} was demanded by ONEKERNEL_BACKENDS: {error}")
        tested[name] = f"not tested: {error}"
        pytest.skip(str(error))


def pytest_generate_tests(metafunc):
    """Run tests with a `backend` on every kind of device, unless the test itself defines `backend`."""
    own = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "backend" in metafunc.fixturenames and not any("backend" in names for names in own):
        metafunc.parametrize(
            "backend", CONFORMANCE if of_conformance(metafunc) else KINDS, indirect=True, scope="session"
        )


@pytest.fixture(scope="session")
def backend(request):
    device = _made(request.param)
    tested[request.param] = f"tested on {device.device.name}"
    yield device
    device.close()


def pytest_report_header():
    drawn = {
        "same": "the same in every run; ONEKERNEL_EXAMPLES=new draws new ones",
        "new": "new in every run; a failure prints how to draw it again",
    }
    lines = [f"examples of Hypothesis: {drawn[EXAMPLES]}"]
    for row in backends.survey():
        state = f"{row.name} ({row.driver})" if row.usable else f"not tested: {row.reason}"
        if row.backend == "cuda" and not row.usable:
            state += "; its kernels are compiled to PTX and run in numba's simulator"
        lines.append(f"backend {row.backend}: {state}")
    return [*lines, f"launch shapes of GPUs (wide): {wide_state()}"]


def wide_state():
    try:
        device = wide().device
    except backends.Unavailable as error:
        return f"not tested: {error}"
    return f"{device.name} ({device.driver})"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep tests that start ranks in one worker, as they compete for cores; mark what conformance repeats."""
    if config.getoption("--order-seed") is not None:
        items[:] = shuffled(items, config.getoption("--order-seed"))
    for item in items:
        # Intel's compiler takes seconds for a large kernel.
        if (
            getattr(item, "callspec", None)
            and item.callspec.params.get("backend") == "wide"
            and not of_conformance(item)
        ):
            item.add_marker(pytest.mark.slow)
        if STARTS_RANKS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group("mpi"))
    config.stash[COLLECTED] = {item.nodeid: tier(item) for item in items}


def of_conformance(test):
    return test.module.__name__.endswith("test_conformance")


def pytest_xdist_make_scheduler(config, log):
    """Run the tests of a module in one worker, so that its fixtures and kernels are made once."""
    from xdist.scheduler import LoadGroupScheduling

    class ByModule(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).partition("::")[0]

    return ByModule(config, log)


@pytest.fixture
def environment():
    """A plain process's environment, without a launcher's variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMI_", "PMIX_", "PRTE_"))}
    return kept | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def simulated(environment):
    """Run a program with `backend`, numba's simulator of CUDA, in a process of its own; return what it prints."""
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    begin = "import backends\nbackend = backends.create('cuda')\nassert backend.device.driver == 'simulated'\n"

    def run(program):
        command, there = [sys.executable, "-c", begin + program], environment | {"NUMBA_ENABLE_CUDASIM": "1"}
        done = subprocess.run(command, cwd=ROOT, env=there, capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def mpirun(environment):
    """Run a program on a number of ranks, which may exceed the number of cores."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpirun")
    launcher = str(beside) if beside.exists() else shutil.which("mpirun")
    if launcher is None:
        pytest.skip("there is no mpirun")
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run(ranks, *arguments, crowd=True, options=()):
        policy = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"} if crowd else {}
        command = [launcher, *options, "-n", str(ranks), sys.executable, *map(str, arguments)]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, env=environment | policy, text=True, cwd=ROOT, **streams)
        try:
            said = process.communicate(timeout=MPIRUN_S)
        except subprocess.TimeoutExpired:
            # A launcher that is killed would leave its folder behind.
            process.terminate()
            said = process.communicate(timeout=MPIRUN_S)
            pytest.fail(f"this job did not end within {MPIRUN_S} s: " + "".join(said))
        return subprocess.CompletedProcess(process.args, process.returncode, *said)

    return run
