"""CUDA C++ on the host: g++ compiles what NVRTC gets on a GPU, and lanes run in turn from barrier to barrier."""

import ctypes
import shutil
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from backends.emit.cuda_c import CudaC
from core.lang import tree
from tests.backends.fake_cuda import DEVICE, FakeCuda, FakeDriver

OPTIONS = ["-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off"]
BEFORE = r"""
#include <stdlib.h>
#include <ucontext.h>
#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __ldg(address) (*(address))
#define BUILTIN(name) template<class... T> static auto name(T... x) { return __builtin_##name(x...); }
BUILTIN(sqrtf) BUILTIN(sqrt) BUILTIN(sinf) BUILTIN(sin) BUILTIN(cosf) BUILTIN(cos) BUILTIN(expf) BUILTIN(exp)
BUILTIN(logf) BUILTIN(log) BUILTIN(powf) BUILTIN(pow) BUILTIN(fabsf) BUILTIN(fabs)
static float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
static int __mulhi(int x, int y) { return (long long)x * y >> 32; }
static unsigned __umulhi(unsigned x, unsigned y) { return (unsigned long long)x * y >> 32; }
static long long __mul64hi(long long x, long long y) { return (__int128)x * y >> 64; }
static unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned __int128)x * y >> 64; }
template<class T> static T exchanged(T* place, T value) { T old = *place; *place = value; return old; }
static int atomicAdd(int* p, int v) { return exchanged(p, (int)((unsigned)*p + v)); }
#define ADD(T) static T atomicAdd(T* p, T v) { return exchanged<T>(p, *p + v); }
#define EXTREMES(T) static T atomicMin(T* p, T v) { return exchanged<T>(p, v < *p ? v : *p); } \
    static T atomicMax(T* p, T v) { return exchanged<T>(p, v > *p ? v : *p); }
#define CAS(T) static T atomicCAS(T* p, T c, T v) { return exchanged<T>(p, *p == c ? v : *p); }
ADD(unsigned) ADD(unsigned long long) EXTREMES(int) EXTREMES(unsigned) EXTREMES(long long) EXTREMES(unsigned long long)
CAS(int) CAS(unsigned) CAS(unsigned long long)
static struct { unsigned x; } threadIdx, blockIdx, gridDim;
static ucontext_t host, lanes[1024];
static bool ended[1024];
static void barrier() { swapcontext(&lanes[threadIdx.x], &host); }
#define __syncwarp(mask) barrier()
#define __barrier_sync(number) barrier()
alignas(16) unsigned char team_memory[48 << 10];
"""
AFTER = r"""
static void** arguments;
static void lane() { CALL; ended[threadIdx.x] = true; }
extern "C" void entry(int teams, int size, void** given) {
    static char* stacks[1024];
    arguments = given; gridDim.x = teams;
    for (blockIdx.x = 0; blockIdx.x < teams; blockIdx.x++) {
        for (int k = 0; k < size; k++) {
            if (!stacks[k]) stacks[k] = (char*)malloc(512 << 10);
            getcontext(&lanes[k]);
            lanes[k].uc_stack.ss_sp = stacks[k]; lanes[k].uc_stack.ss_size = 512 << 10; lanes[k].uc_link = &host;
            ended[k] = false;
            makecontext(&lanes[k], lane, 0);
        }
        for (int left = size; left;) {
            for (int k = 0; k < size; k++) {
                if (ended[k]) continue;
                threadIdx.x = k; swapcontext(&host, &lanes[k]); left -= ended[k];
            }
        }
    }
}
"""
LOCK = threading.Lock()


@cache
def entry(text):
    """Compile a text for the host; returns ``entry(teams, team_size, addresses of the arguments)``."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here, which compiles CUDA C++ for the host")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "kernel.cc"), Path(folder, "kernel.so")
        source.write_text(text)
        subprocess.run([compiler, *OPTIONS, source, "-o", library], check=True)
        return ctypes.CDLL(str(library)).entry


def text_for_host(program):
    kinds = program.kernel.parameters.values()
    arrays = [isinstance(kind, tree.ArrayType) for kind in kinds]
    types = [CudaC.types[(k.element if a else k).__name__] + "*" * a for k, a in zip(kinds, arrays, strict=True)]
    values = ", ".join(f"*({kind}*)arguments[{k}]" for k, kind in enumerate(types))
    return BEFORE + CudaC(program).source() + AFTER.replace("CALL", f"{program.kernel.name}_({values})")


class HostDriver(FakeDriver):
    """Runs machine code of the host; each value is in a word of 64 bits, and parameters are addresses of words."""

    def execute(self, program, teams, values):
        words = np.zeros(len(values), np.uint64)
        for k, value in enumerate(values):
            number = np.uint64(value.ctypes.data) if isinstance(value, np.ndarray) else np.asarray(value)
            words[k : k + 1].view(number.dtype)[0] = number
        pointers = words.ctypes.data + 8 * np.arange(len(values), dtype=np.uint64)
        with LOCK:
            entry(text_for_host(program))(teams, program.team_size, ctypes.c_void_p(pointers.ctypes.data))


class HostCuda(FakeCuda):
    def __init__(self, device=DEVICE):
        super().__init__(device._replace(compiler="nvrtc"))

    def begin(self, index):
        super().begin(index)
        self.driver = HostDriver(self.driver.array_words)
        self.core_stream.driver = self.driver
