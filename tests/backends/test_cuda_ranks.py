"""CUDA ranks without a GPU: their program, their connections, and their exchanged handles."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from backends.collectives import Collectives, Transfer
from backends.cuda import collectives, mailbox, peer_memory
from backends.device import Buffer, OutOfMemory
from cluster import Solo

HANDING_OVER = Path(__file__).with_name("handing_over.py")


def test_ranks_of_a_host_hand_file_descriptors_over(mpirun):
    done = mpirun(3, HANDING_OVER)
    assert done.returncode == 0, done.stderr
    expected = [[None if r in (rank, 1) else chr(65 + r) for r in range(3)] for rank in range(3)]
    assert json.loads(done.stdout) == expected


def test_the_kernels_of_meetings_compile():
    pytest.importorskip("cuda.core", reason="numba-cuda's toolkit is not installed")
    code = mailbox.compile_cubin("sm_90")
    assert code[:4] == b"\x7fELF"
    assert b"allreduce" in code and b"stamp" in code


class Nccl(ModuleType):
    """NCCL's binding. It notes its calls."""

    def __init__(self) -> None:
        super().__init__("nccl.bindings.nccl")
        self.calls: list[tuple] = []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append((name, *arguments))
            return b"identity" if name == "get_unique_id" else f"result of {name}"

        return call


class Gpu(SimpleNamespace):
    """The attributes of a CUDA backend that collectives read before a driver is loaded."""

    raw_stream = 77

    def __init__(self) -> None:
        super().__init__(device=SimpleNamespace(index="0", name="a GPU"), queued=[])

    def upload(self, host):
        return Buffer(host.copy(), host.shape, host.dtype)

    def address_of(self, buffer, start=0):
        return 4096 + start * buffer.dtype.itemsize

    def queue_collective(self, step):
        assert step.on_device
        step.act()


class Ranks(Solo):
    def __init__(self, rank=0, size=2):
        self.rank, self.size = rank, size

    def gather(self, item):
        return [item] * self.size

    def bcast(self, item):
        return item


@pytest.fixture
def nccl(monkeypatch):
    module = Nccl()
    package = ModuleType("nccl.bindings")
    package.nccl = module
    monkeypatch.setitem(sys.modules, "nccl", ModuleType("nccl"))
    monkeypatch.setitem(sys.modules, "nccl.bindings", package)
    monkeypatch.setattr(mailbox, "load_functions", lambda device: {})
    monkeypatch.setattr(mailbox.CollectiveKernels, "launch", lambda *given: None)
    return module


def links(*gpus, why=("", ""), hosts=("a", "a")):
    return [(h, {"gpu": gpu, "why": w}) for h, gpu, w in zip(hosts, gpus, why, strict=True)]


@pytest.mark.parametrize(
    ("links_found", "reaches", "kind", "mailbox"),
    [
        (links("x", "y"), True, collectives.CudaCollectives, True),
        (links("x", "y"), False, collectives.CudaCollectives, False),
        (links("x", "y", hosts=("a", "b")), True, collectives.CudaCollectives, False),
        (links("x", "y", why=("", "nccl4py: no such file")), True, Collectives, False),
        (links("x", "x"), True, Collectives, False),
    ],
)
def test_ranks_take_the_best_way_that_all_have(nccl, monkeypatch, links_found, reaches, kind, mailbox):
    monkeypatch.setattr(collectives, "reaches_peer", lambda backend, gpu: reaches)
    monkeypatch.setattr(collectives, "Mailbox", lambda kernels, ranks: "mailbox")
    together = collectives.create_collectives(Gpu(), Ranks(), links_found)
    assert type(together) is kind
    assert bool(together.why_not_faster) == (kind is Collectives)
    assert bool(getattr(together, "mailbox", None)) == mailbox
    assert together.is_one_memory == mailbox


def test_messages_and_reductions_go_to_nccl_with_addresses_and_sizes(nccl):
    together = collectives.CudaCollectives(Gpu(), Ranks(), [0, 1], nccl)
    nccl.calls.clear()
    words = Buffer(None, (100,), np.int32)
    together.reduce(words, "sum", 5, 10)
    together.send(words, 10, 20, 1)
    together.transfer_now(words, [Transfer(0, 1, 0, 3), Transfer(1, 0, 7, 2), Transfer(1, 2, 0, 9)])
    together.barrier()
    world = "result of comm_init_rank_scalable"
    assert nccl.calls == [
        ("all_reduce", 4096 + 20, 4096 + 20, 10, 2, 0, world, 77),
        ("send", 4096 + 40, 80, 1, 1, world, 77),
        ("group_start",),
        ("send", 4096, 12, 1, 1, world, 77),
        ("recv", 4096 + 28, 8, 1, 1, world, 77),
        ("group_end",),
        ("all_reduce", 4096, 4096, 1, 5, 0, world, 77),
    ]


def test_in_one_memory_only_long_reductions_go_to_nccl(nccl, monkeypatch):
    """They make its communicator first, once."""
    queued = []
    monkeypatch.setattr(
        collectives, "Mailbox", lambda *given: SimpleNamespace(queue=lambda *given: queued.append(given))
    )
    together = collectives.CudaCollectives(Gpu(), Ranks(), [0, 0], nccl)
    together.barrier()
    together.reduce(Buffer(None, (4,), np.uint64), "least")
    assert together.reaches_peers and len(queued) == 2 and nccl.calls == []
    for _ in range(2):
        together.reduce(Buffer(None, (100,), np.int32), "sum")
    made = ["get_unique_id", "comm_init_rank_scalable"]
    assert [name for name, *_ in nccl.calls] == [*made, "all_reduce", "all_reduce"]


def test_a_rank_without_nccl_says_why(monkeypatch):
    monkeypatch.setattr(collectives, "gpu_identity", lambda index: "x")
    monkeypatch.setitem(sys.modules, "nccl", None)
    assert collectives.describe_link(Gpu())["why"].startswith("nccl4py: ")


def test_memory_that_one_gpu_has_not_is_an_error_on_all_ranks(nccl, monkeypatch):
    def refuse(properties, size):
        raise OutOfMemory("the device has not enough memory")

    monkeypatch.setattr(peer_memory, "exportable_memory", lambda device: None)
    monkeypatch.setattr(peer_memory, "allocation_granularity", lambda properties: 2 << 20)
    monkeypatch.setattr(peer_memory, "allocate_physical", refuse)
    together = collectives.CudaCollectives(Gpu(), Ranks(), [0, 1], nccl)
    together.groups = [0, 0]
    with pytest.raises(OutOfMemory, match=r"rank 0: 499,122,176 bytes do not fit a GPU"):
        together.common(1_000_000_000, np.uint8)
