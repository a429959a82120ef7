"""NVIDIA GPUs by numba-cuda or NVRTC: a team is a block, and recorded launches are a CUDA graph.

`backends.cuda.simulator` is the same backend without a GPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from backends.collectives import Collectives
from backends.cuda import compiler
from backends.cuda.collectives import create_collectives, describe_link
from backends.cuda.driver import NUMBA, NVRTC, architecture, device_attribute, numba_cuda, require_nvrtc
from backends.cuda.launch import PackedKernel
from backends.cuda.memory import CudaDevice
from backends.device import Collective, Launch
from core.lang import tree
from core.ranks import Ranks

if TYPE_CHECKING:
    from cuda.core import Graph

REPETITIONS = 64
"""Repetitions of a recorded sequence in one CUDA graph."""


class CudaBackend(CudaDevice):
    """Compiles, launches and replays kernels on a GPU, also together with GPUs of other ranks."""

    name = "cuda"
    automatic_for = "gpu"
    packs = True
    profiler = "ncu"
    replays_by_itself = True
    compilers: tuple[str, ...] = (NUMBA, NVRTC)

    def link(self) -> dict[str, str] | None:
        return describe_link(self)

    def joined(self, ranks: Ranks, links: Sequence[tuple[str, dict[str, str] | None]]) -> Collectives:
        described = [(host, link) for host, link in links if link is not None]
        if len(described) < len(links):  # some rank has another kind of device
            return super().joined(ranks, links)
        return create_collectives(self, ranks, described)

    def begin(self, index: int) -> None:
        super().begin(index)
        if self.device.compiler == NUMBA:
            numba_cuda()
        else:
            require_nvrtc()

    def compile(self, program: tree.Program) -> compiler.CudaExecutable:
        index = int(self.device.index)
        if self.device.compiler == NUMBA:
            return compiler.loaded(compiler.numba_kernel(program), index, program, compiler.NUMBA_WORDS)
        kernel = compiler.nvrtc_kernel(program, architecture(index))
        return compiler.loaded(kernel, index, program, compiler.POINTER_WORDS)

    def most_lanes(self, executable: compiler.CudaExecutable) -> int:
        """Return the driver's limit; a kernel is compiled for the registers available to each lane of its team."""
        return executable.most_lanes

    def resident_lanes(self, executable: compiler.CudaExecutable) -> int:
        """Count the lanes for which the registers suffice."""
        registers = device_attribute(int(self.device.index), "MAX_REGISTERS_PER_MULTIPROCESSOR")
        return min(self.capabilities.lanes_resident, compiler.resident_lanes(executable.registers, registers))

    def pack(self, launch: Launch, places: list[int]) -> PackedKernel:
        return PackedKernel(self, launch, places)

    def prepare(self, launches: list[Any]) -> Callable[[int], None]:
        """Pack the recorded steps; CUDA graphs of repetitions are made at their first use."""
        steps = [self.pack(launch, []) if isinstance(launch, Launch) else launch for launch in launches]
        return partial(self.replay, steps, {})

    def graph(self, steps: list[PackedKernel | Collective], repetitions: int) -> Graph:
        """Make a CUDA graph of recorded steps, repeated; its time counts as compilation."""
        began = time.perf_counter()
        builder = self.core_stream.create_graph_builder()
        builder.begin_building()
        for _ in range(repetitions):
            for step in steps:
                step.act()
        graph = builder.end_building().complete()
        graph.upload(self.core_stream)
        self.timings.compile_s += time.perf_counter() - began
        return graph

    def replay(self, steps: list[PackedKernel | Collective], graphs: dict[int, Graph], times: int) -> None:
        first = self.mark()
        # A graph costs the host some microseconds, a further launch inside it less than one.
        for repetitions in (REPETITIONS, 1):
            if times >= repetitions and repetitions not in graphs:
                graphs[repetitions] = self.graph(steps, repetitions)
            for _ in range(times // repetitions):
                graphs[repetitions].launch(self.core_stream)
            times %= repetitions
        self.span("kernel", first)
