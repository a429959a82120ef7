"""`onekernel show` prints the input of a device's compiler, or says in one line why it cannot."""

import sys

import numpy as np
import pytest

from backends import show
from backends.cpu import native
from backends.cpu.single_core import CpuBackend

TEXT = """\
from core.lang import *
from neighbour import half
T = Generic("T")

@kernel
def scaled(values: Array[T], factor: Const[i32], exact: Const[boolean], shift: Const[f32]):
    scratch = shared_array(team_size(), i32)
    for i in range(lane(), 8, team_size()):
        values[i] *= T(factor + half(factor))
        if exact:
            barrier()

@kernel
def pictured(image: Table(u8, "image"), out: Array[u8]):
    out[0] = image[0]

@kernel
def wrong(out: Array[u8]):
    out[0] = half(1.5)

def made():
    @kernel
    def inside(out: Array[u8]):
        out[0] = 1

    return inside

shown = made()
"""
NEIGHBOUR = "from core.lang import function, i32\n\n@function\ndef half(n: i32) -> i32:\n    return n // 2\n"
GIVEN = ["--constants", "factor=3", "exact=true", "shift=-1e3", "--types", "T=i64"]


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "neighbour", raising=False)
    (tmp_path / "neighbour.py").write_text(NEIGHBOUR)
    (tmp_path / "kernels.py").write_text(TEXT)
    yield tmp_path / "kernels.py"
    sys.modules.pop("neighbour", None)


def printed(capsys, *arguments):
    code = show.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def refused(capsys, *arguments):
    code = show.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    return err.removeprefix("error: ")


def test_numba_gets_what_the_cpu_backend_compiles(kernels, capsys, monkeypatch):
    compiled, plain = [], native.load_or_compile
    monkeypatch.setattr(native, "load_or_compile", lambda source, path: compiled.append(source) or plain(source, path))
    backend = CpuBackend(CpuBackend.devices()[0])
    values = backend.upload(np.arange(8))
    backend.launch(show.find_kernel(f"{kernels}:scaled"), 1, 1, values, 3, True, -1e3)
    assert backend.download(values).tolist() == [4 * i for i in range(8)]
    assert printed(capsys, f"{kernels}:scaled", "--as", "numba", *GIVEN).split() == compiled[0].split()


def test_opencl_gets_what_the_opencl_backend_builds(kernels, capsys, monkeypatch, opencl):
    built, plain = [], opencl.program
    monkeypatch.setattr(opencl, "program", lambda source, name: built.append(source) or plain(source, name))
    values = opencl.upload(np.arange(8))
    opencl.launch(show.find_kernel(f"{kernels}:scaled"), 1, 1, values, 3, True, -1e3)
    dialect = "opencl-intel" if opencl.is_intel else "opencl"
    text = printed(capsys, f"{kernels}:scaled", "--as", dialect, "--team-size", "1", *GIVEN)
    assert text.split() == built[0].split()


@pytest.mark.parametrize(
    ("dialect", "sign", "size"),
    [
        ("numba", "def scaled_(team_rank, team_count, values_):", None),
        ("cuda", "@team_kernel(32)\ndef scaled_(values_):", None),
        ("cuda-nvrtc", 'extern "C" __global__ void __launch_bounds__(32) scaled_(long long* values_)', None),
        ("opencl", "reqd_work_group_size(1024, 1, 1)))", 1024),
        ("opencl-intel", "#pragma nounroll", None),
    ],
)
def test_every_dialect_and_team_size_shows(kernels, capsys, dialect, sign, size):
    sized = [] if size is None else ["--team-size", size]
    text = printed(capsys, f"{kernels}:scaled", "--as", dialect, *sized, *GIVEN)
    # Functions that are called once are inlined for the CPU.
    assert sign in text and ("half" in text) == (dialect != "numba")


OFFERED = (
    "its kernels: scaled, pictured, wrong, shown; to show what its functions make, give it a name at module level: "
)
REFUSED = {
    "no kernel named": ([""], f"KERNELS: expected FILE:KERNEL; {OFFERED}inside"),
    "a kernel inside": ([":inside"], f"KERNELS: no kernel inside; {OFFERED}inside"),
    "a function": ([":half"], "KERNELS: half is a @function, which devices get as a part of the kernels that call it; its"),
    "no constants": ([":scaled"], "scaled: expected --constants factor=... exact=... shift=..., found none"),
    "no such type": ([":scaled", *GIVEN[:4], "--types", "T=int"], "no type 'int'; choose one of i8, "),
    "no number": ([":scaled", "--constants", "factor=x", *GIVEN[2:]], "scaled: factor=x; expected a number of type i32"),
    "too large": ([":scaled", "--constants", "factor=4294967296", *GIVEN[2:]],
                  "scaled: argument factor is i32; 4294967296 does not fit"),
    "lanes on a core": ([":scaled", "--team-size", "2", *GIVEN], "--team-size 2: numba runs teams of 1 to 1 lanes"),
    "an image": ([":pictured"], "pictured: image is an image, which exists on OpenCL devices; show it --as opencl"),
    "not in the language": ([":wrong"], "KERNELS:19: wrong: the float 1.5 beside i32"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_shown_is_told_in_one_line(kernels, capsys, case):
    (kernel, *options), expected = REFUSED[case]
    error = refused(capsys, f"{kernels}{kernel}", "--as", "numba", *options)
    assert error.startswith(expected.replace("KERNELS", str(kernels)))
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def k(:\n", ":1: invalid syntax"),
        ("from core.lang import *\n@kernel\n@kernel\ndef k():\n    pass\n", ":2: k: is a @kernel already; decorate it"),
        ("x = 1\n", ": no kernel k; it has no kernels\n"),
    ],
)
def test_a_file_that_does_not_load_is_told_in_one_line(tmp_path, capsys, monkeypatch, text, words):
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "own.py"
    path.write_text(text)
    error = refused(capsys, f"{path}:k", "--as", "cuda")
    assert error.startswith(f"{path}{words}")
    assert error.count("\n") == 1


@pytest.mark.parametrize("place", ["no/such/folder.py", "core/run", ""])
def test_a_file_that_is_not_there_is_told(capsys, place):
    message = refused(capsys, f"{place}:k", "--as", "numba")
    assert message == f"{place or 'nothing'}: no such file; expected FILE:KERNEL, FILE a path or a dotted module\n"


def test_a_module_goes_by_its_dotted_name(capsys):
    assert "known_answer_" in printed(capsys, "backends.self_test:known_answer", "--as", "opencl")


def test_intel_s_compiler_gets_no_complement(capsys):
    text = printed(capsys, "backends.self_test:known_answer", "--as", "opencl-intel")
    assert "~" not in text and "^ (int)-(int)get_work_dim())" in text
