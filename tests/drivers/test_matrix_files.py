"""Files with a matrix that are not what their names say: one line, exit code 2."""

import io
import os
import warnings

import numpy as np
import pytest

from core.instances.errors import InstanceError
from drivers import heldkarp
from drivers.workload.matrix_files import load_matrix

DRIVER = heldkarp
MATRIX = np.array([[0, 4, 3], [1, 0, 7], [9, 2, 0]])


def npy(array):
    file = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):  # of a format that older versions of NumPy cannot read
        np.save(file, array)
    return file.getvalue()


def header(text, version=b"\x01\x00"):
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[0] == 1 else 4, "little") + text.encode("latin-1")


def npz(array):
    file = io.BytesIO()
    np.savez(file, array)
    return file.getvalue()


WHOLE, WIDE = npy(MATRIX), np.finfo(np.longdouble)
BOAST = "{'descr': '<i8', 'fortran_order': False, 'shape': (99999, 99999)}\n"
ARRAYS = {
    "an archive": (npz(MATRIX), "an archive of arrays (.npz), expected an array saved by numpy.save"),
    "a text": (b"0 1\n1 0\n", "no array of numbers ("),
    "cut in the elements": (WHOLE[:-1], "no array of numbers (mmap length is greater than file size)"),
    "pickled code": (
        npy(np.array([[print]])),
        "no array of numbers (Array can't be memory-mapped: Python objects in dtype.)",
    ),
    "named fields": (npy(np.zeros((2, 2), [("é€", "i4")])), "elements of [('é€', '<i4')], expected integers"),
    "a half": (npy(np.tril(MATRIX)), "zeros alone on one side of the diagonal, expected the whole matrix"),
    "a cube": (npy(np.zeros((2, 2, 2), int)), "an array of shape (2, 2, 2), expected a square matrix"),
    "a boast": (header(BOAST), "no array of numbers (mmap length is greater than file size)"),
    "a nested header": (header("(" * 9000), "no array of numbers ("),
    "not a number": (npy(np.array([[0, np.nan], [1, 0]])), "distance nan from city 0 to 1, expected an integer"),
    "halves": (npy(MATRIX / 2), "distance 1.5 from city 0 to 2, expected an integer"),
    "large wide floats": (npy(np.array([[0, WIDE.max], [1, 0]])), "distance inf from city 0 to 1, expected an integer"),
    "beyond 32 bits": (npy(MATRIX.astype(np.uint64) << 40), "distance 4398046511104 from city 0 to 1, expected 0 to"),
}


TEXTS = [
    ("exact", "0 1\n1 0 2\n", ":2: found 3 numbers, expected 2, as in the first row"),
    ("exact", "0 1 2\n\n1 0 3\n", ":3: found 2 rows of 3 numbers, expected a square matrix"),
    ("exact", "# nothing\n", ": found no numbers, expected a square matrix of distances"),
    ("exact", "0 one\n1 0\n", ":1: found 'one', expected an integer"),
    ("exact", "0 1 2\n1 0 3\n# three\n2 4 0\n", ":4: found distance 4 from city 2 to 1 and 3 back"),
    ("heldkarp", "0 1 2\n0 0 3\n0 0 0\n", ":1: found zeros alone on one side of the diagonal, expected the whole"),
    ("exact", "0,0,0\n1,0,0\n2,3,0\n", ":1: found zeros alone on one side of the diagonal, expected the whole matrix"),
    ("heldkarp", "0\n1 0\n2 3 0\n", ":2: found 2 numbers, expected 1, as in the first row: whole rows, not a half"),
    ("heldkarp", "0 1\n\n-1 0\n", ":3: found distance -1 from city 1 to 0, expected 0 to 2147483647"),
]
REFUSED = [("heldkarp", content, f": found {message}") for content, message in ARRAYS.values()] + TEXTS


@pytest.mark.parametrize(("driver", "content", "message"), REFUSED, ids=[*ARRAYS, *(one[2] for one in TEXTS)])
def test_a_broken_matrix_is_refused_in_one_line(tmp_path, driver, content, message):
    path = tmp_path / ("m.txt" if isinstance(content, str) else "m.npy")
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with warnings.catch_warnings(action="error"), pytest.raises(InstanceError) as raised:
        load_matrix(str(path), symmetric=driver == "exact")
    assert str(raised.value).startswith(f"{path}{message}") and str(raised.value).isprintable()


@pytest.mark.parametrize(
    "array",
    [MATRIX, np.asfortranarray(MATRIX), MATRIX.astype(">u2"), MATRIX.astype(np.float16), MATRIX.astype(np.longdouble)],
)
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_an_array_of_any_layout_and_number_is_read(tmp_path, array, version):
    with open(tmp_path / "m.npy", "wb") as file:
        np.lib.format.write_array(file, array, version)
    assert (load_matrix(str(tmp_path / "m.npy"), symmetric=False).distances == MATRIX).all()


@pytest.mark.timeout(60)
def test_a_driver_ends_with_code_2_and_one_line(drive, tmp_path):
    (tmp_path / "m.npy").write_bytes(npz(MATRIX))
    os.mkfifo(tmp_path / "pipe.npy")
    for name, message in (("m.npy", "an archive of arrays"), ("pipe.npy", "a pipe"), ("", "a folder")):
        code, said, error = drive("--matrix", tmp_path / name)
        assert (code, said) == (2, "") and error.count("\n") == 1
        assert f"found {message}" in error and str(tmp_path) in error
