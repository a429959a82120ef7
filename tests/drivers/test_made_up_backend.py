"""A new backend of one file and one line works in drivers, reports, auto and bench."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

import backends
from backends.cpu.single_core import CpuBackend
from backends.cuda.backend import CudaBackend
from backends.device import DeviceInfo
from drivers import ihc
from drivers.options.declaration import Options
from drivers.runs import device_selection
from reports.papers.placement import processors
from reports.rates import rate_sections
from reports.records.files import load

DRIVER = ihc
SMALL = ["--instance", "uniform:8:seed=1", "--climbers", "4", "--no-progress"]


class AbacusBackend(CpuBackend):
    """Two cards of beads, and the frame between them."""

    name = "abacus"
    automatic_for = "gpu"

    @classmethod
    def devices(cls):
        kinds = {"0": "gpu", "1": "cores", "2": "gpu"}
        return [DeviceInfo(index, f"beads {index}", "wood 1.0", 1 << 30, 1, kind) for index, kind in kinds.items()]

    @classmethod
    def present(cls):
        return 2


@pytest.fixture(autouse=True)
def abacus(monkeypatch):
    module = ModuleType("backends.abacus")
    module.AbacusBackend = AbacusBackend
    monkeypatch.setitem(sys.modules, "backends.abacus", module)
    monkeypatch.setitem(backends.CLASSES, "abacus", "backends.abacus.AbacusBackend")
    monkeypatch.setattr(backends, "NAMES", tuple(backends.CLASSES))
    monkeypatch.setattr(CudaBackend, "present", lambda: 0)


def test_its_runs_are_compared_with_one_core_and_stand_on_the_line_of_their_kind(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    for backend, index in (("abacus", "2"), ("abacus", "1"), ("cpu", "0"), ("python", "0")):
        code, said, error = drive(*SMALL, "--backend", backend, "--device", index, "--record", record)
        assert code == 0, error
    runs = load(record)
    assert [run.device_kind for run in runs] == ["gpu", "cores", "core", "core"]
    (section,) = rate_sections(runs)
    assert section.rates["kind"].tolist() == ["GPU", "all cores", "one core", "one core"]
    one_core = section.rates["rate"]["one core"]
    assert section.rates["over_one_core"].tolist()[:3] == [rate / one_core for rate in section.rates["rate"][:3]]
    places = [processors(run) for run in runs]
    assert places == ["gpu:1", f"cores:{runs[1].environment['cores']}", "core:1", "core:1"]


def test_auto_takes_it_for_the_kind_that_its_class_says():
    assert device_selection.gpus_here() == 2
    kinds = [device_selection.select_best_backend(4, rank, 2) for rank in range(3)]
    assert kinds == ["abacus", "abacus", device_selection.backend_for("core")]
    for rank, index in ((0, "0"), (1, "2")):
        ranks = SimpleNamespace(size=2, local_rank=rank)
        assert device_selection.select_automatic_device(Options(), ranks, 2).device.index == index


def test_auto_goes_on_without_a_gpu_that_only_seemed_to_be_there(capsys):
    ranks = SimpleNamespace(size=4, local_rank=2)
    backend = device_selection.select_automatic_device(Options(), ranks, 3)
    assert backend.device.kind == "core"
    assert "abacus: found 2 GPUs, none for rank 2 of this host" in capsys.readouterr().err
