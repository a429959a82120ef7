"""CUDA devices of several ranks together: NCCL in the stream of the kernels, and on one host peer memory.

Collectives are queued like kernels and become part of CUDA graphs, so that the host does not wait for them. NCCL,
through nccl4py, reduces and moves arrays, within a host and between hosts. If every GPU reaches the memory of all
others, an array can be common: one range of addresses, mapped on every GPU, with a part on each rank's GPU. Short
reductions then use mailboxes: words that GPUs write into each other's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from backends.collectives import Collectives
from backends.cuda.mailbox import MAX_MAILBOX_WORDS, CollectiveKernels, Mailbox
from backends.cuda.memory import CudaDevice
from backends.cuda.peer_memory import gpu_identity, peer_array, reaches_peer
from backends.device import Buffer
from core.ranks import Ranks, Transfer, gather_on_all

DATATYPES = {"i1": 0, "u1": 1, "i4": 2, "u4": 3, "i8": 4, "u8": 5}
"""NCCL's numbers of integer types, by NumPy's names."""
OPERATIONS = {"sum": 0, "least": 3}
"""NCCL's numbers of operations."""


class CudaCollectives(Collectives):
    """Collectives of ranks that have a GPU each; one group if the GPUs reach each other's memory.

    ``nccl`` is the module ``nccl.bindings.nccl``, the same version on all ranks.
    """

    on_device = True

    def __init__(self, device: CudaDevice, ranks: Ranks, groups: Sequence[int], nccl: ModuleType) -> None:
        super().__init__(device, ranks, groups)
        self.cuda = device
        self.nccl = nccl
        self.world: int | None = None
        """NCCL's communicator."""
        if not self.is_one_memory:
            self.connect()
        self.word = device.upload(np.zeros(1, np.uint64))
        self.kernels = CollectiveKernels(device)
        self.reaches_peers = self.is_one_memory
        self.mailbox = Mailbox(self.kernels, ranks) if self.is_one_memory else None

    def connect(self) -> None:
        """Make NCCL's communicator, which takes half a second, before its first collective is queued or recorded.

        All ranks call this. Most searches in one memory need no NCCL.
        """
        if self.world is None:
            identity = self.ranks.on_first(lambda: bytes(self.nccl.get_unique_id()), is_long=False)
            self.world = self.nccl.comm_init_rank_scalable(self.size, self.rank, 1, bytearray(identity), 0)

    def shared_array(self, size: int, dtype: np.typing.DTypeLike, bounds: Sequence[int]) -> Buffer:
        return peer_array(self.cuda, self.ranks, size, dtype, bounds)

    def reduce(self, buffer: Buffer, operation: str, start: int = 0, count: int | None = None) -> None:
        if not self.is_for_mailbox(buffer, buffer.size - start if count is None else count):
            self.connect()
        super().reduce(buffer, operation, start, count)

    def transfer(self, buffer: Buffer, transfers: Sequence[Transfer]) -> None:
        self.connect()
        super().transfer(buffer, transfers)

    def send(self, buffer: Buffer, start: int, count: int, to: int) -> None:
        """Queue a message; in one memory the first one needs that all ranks send or receive."""
        self.connect()
        super().send(buffer, start, count, to)

    def receive(self, buffer: Buffer, start: int, count: int, source: int) -> None:
        self.connect()
        super().receive(buffer, start, count, source)

    def is_for_mailbox(self, buffer: Buffer, count: int) -> bool:
        """Return True for a reduction of few words in one memory."""
        return self.is_one_memory and count <= MAX_MAILBOX_WORDS and buffer.dtype == np.uint64

    def barrier_now(self) -> None:
        if self.mailbox is not None:
            self.mailbox.queue(self.word, 0, 0, "sum")
        else:
            self.reduce_now(self.word, "sum", 0, 1)

    def reduce_now(self, buffer: Buffer, operation: str, start: int, count: int) -> None:
        if self.mailbox is not None and self.is_for_mailbox(buffer, count):
            self.mailbox.queue(buffer, start, count, operation)
            return
        pointer, kind = self.cuda.address_of(buffer, start), DATATYPES[buffer.dtype.str[1:]]
        with self.kernels.timed():
            self.nccl.all_reduce(pointer, pointer, count, kind, OPERATIONS[operation], self.world, self.cuda.raw_stream)

    def transfer_now(self, buffer: Buffer, transfers: Sequence[Transfer]) -> None:
        own = [transfer for transfer in transfers if self.rank in (transfer.source, transfer.to)]
        if not own:
            return
        with self.kernels.timed():
            self.nccl.group_start()
            for transfer in own:
                self.pass_on(buffer, transfer)
            self.nccl.group_end()

    def send_now(self, buffer: Buffer, start: int, count: int, to: int) -> None:
        with self.kernels.timed():
            self.pass_on(buffer, Transfer(self.rank, to, start, count))

    def receive_now(self, buffer: Buffer, start: int, count: int, source: int) -> None:
        with self.kernels.timed():
            self.pass_on(buffer, Transfer(source, self.rank, start, count))

    def pass_on(self, buffer: Buffer, transfer: Transfer) -> None:
        """Queue this rank's side of a message."""
        pointer, size = self.cuda.address_of(buffer, transfer.start), transfer.length * buffer.dtype.itemsize
        sends = transfer.source == self.rank
        (self.nccl.send if sends else self.nccl.recv)(
            pointer, size, DATATYPES["u1"], transfer.to if sends else transfer.source, self.world, self.cuda.raw_stream
        )

    def seconds_on_device(self) -> float:
        return self.kernels.seconds()


def create_collectives(device: CudaDevice, ranks: Ranks, links: Sequence[tuple[str, dict[str, str]]]) -> Collectives:
    """Make the fastest collectives that all ranks support; ``links`` has (host, `describe_link`) of every rank."""
    apart = range(len(links))
    reasons = [link["why"] for _, link in links if link["why"]]
    shared = len({(host, link["gpu"]) for host, link in links}) < len(links)
    if reasons or shared or ranks.survives:
        slow = Collectives(device, ranks, apart)
        if ranks.survives:
            reasons = ["a GPU would wait for ever for the GPU of a lost rank"]
        slow.why_not_faster = "ranks share a GPU, which NCCL refuses" if shared else reasons[0]
        return slow
    from nccl.bindings import nccl

    is_one_host = len({host for host, _ in links}) == 1
    if is_one_host and all(gather_on_all(ranks, all(reaches_peer(device, link["gpu"]) for _, link in links))):
        return CudaCollectives(device, ranks, [0] * len(links), nccl)
    return CudaCollectives(device, ranks, apart, nccl)


def describe_link(device: CudaDevice) -> dict[str, str]:
    """Describe this rank's GPU for the others: its identity, and why there is no NCCL, or an empty text."""
    why = ""
    try:
        from nccl.bindings import nccl

        nccl.get_version()
    except Exception as error:  # without it, for any reason, the host runs the collectives
        why = f"nccl4py: {error}"
    return {"gpu": gpu_identity(int(device.device.index)), "why": why}
