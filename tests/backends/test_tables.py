"""Tables in all places: every backend reads them like plain memory, or refuses with the reason."""

from types import SimpleNamespace

import numpy as np
import pytest

from backends.device import LaunchRefused
from backends.emit.opencl_c import OpenClC
from core.lang import Array, Generic, bundle, function, kernel, lane, team_count, team_rank, team_size
from core.lang.bundles import FORM_SUFFIX, form_of, placed
from core.lang.types import BY_NAME, f32, i32, u16

E = Generic("E")
D = Generic("D")
COUNT = 500
TEAMS = 3
IN_IMAGES = ("i8", "i16", "i32", "u8", "u16", "u32", "f32")


@bundle
class Given:
    table: Array[E]
    n: i32


@function
def gathered(first: i32, step: i32, out: Array[E], facts: Given):
    """Every element once, far from its predecessor."""
    for i in range(first, facts.n, step):
        out[i] = facts.table[(i * 7 + 3) % facts.n]


@kernel
def gather(out: Array[E], given: D):
    gathered(team_rank() * team_size() + lane(), team_count() * team_size(), out, given)


@kernel
def unread(out: Array[E], given: D):
    out[0] = E(given.n)


def program(place, element, count=COUNT):
    host = np.broadcast_to(np.zeros(1, element.dtype), count)  # no memory, whatever the size
    form = form_of(placed(Given(host, COUNT), place), owner="given")
    return gather.specialise({}, 32, {"E": element, "E of given": element, "given" + FORM_SUFFIX: form})


def numbers(name):
    """Numbers over the whole range of a type, its ends among them."""
    dtype, draw = BY_NAME[name].dtype, np.random.default_rng(5)
    if dtype.kind == "f":
        return (draw.standard_normal(COUNT) * 10.0 ** draw.integers(-30, 30, COUNT)).astype(dtype)
    ends = np.iinfo(dtype)
    drawn = draw.integers(ends.min, ends.max, COUNT, dtype, endpoint=True)
    drawn[:2] = ends.min, ends.max
    return drawn


def shuffled(values):
    return values[(np.arange(COUNT) * 7 + 3) % COUNT]


def refusal(backend, place, name):
    if place != "image":
        return None
    if backend.name != "opencl":
        return "images exist on OpenCL devices; use readonly"
    if not backend.handle.image_support:
        return "has none; use readonly"
    return None if name in IN_IMAGES else "images hold i8 to i32, u8 to u32 and f32"


def reads_as_numpy(backend, place, name, size):
    """Gather a table's elements and compare; False if it was refused as it should be."""
    values = numbers(name)
    bundle, out = placed(backend.load(Given(values, COUNT)), place), backend.allocate(COUNT, values.dtype)
    words = refusal(backend, place, name)
    if words is not None:
        with pytest.raises(LaunchRefused, match=words):
            backend.launch(gather, TEAMS, size, out, bundle)
        return False
    backend.launch(gather, TEAMS, size, out, bundle)
    assert backend.download(out).tobytes() == shuffled(values).tobytes()
    return True


@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"])
@pytest.mark.parametrize("place", ["readonly", "shared", "image"])
def test_a_table_is_read_as_it_was_written(backend, place, name):
    if name == "f64" and not backend.capabilities.float64:
        pytest.skip(f"{backend.device.name} has no f64")
    reads_as_numpy(backend, place, name, min(32, backend.capabilities.max_team_size))


@pytest.mark.parametrize("place", ["readonly", "shared", "image"])
def test_a_table_written_again_is_read_anew(backend, place):
    """Recorded launches too: an image shares the memory, and a team copies at every launch."""
    if refusal(backend, place, "u16"):
        pytest.skip(f"no {place} tables on {backend.name}")
    size, out = min(7, backend.capabilities.max_team_size), backend.allocate(COUNT, np.uint16)
    bundle = placed(backend.load(Given(np.zeros(COUNT, np.uint16), COUNT)), place)
    with backend.record() as sequence:
        backend.launch(gather, TEAMS, size, out, bundle)
    for values in (numbers("u16"), numbers("u16") ^ 7):
        backend.write(bundle.table, values)
        sequence.replay(2)
        assert (backend.download(out) == shuffled(values)).all()


def test_a_table_shorter_than_its_kind_is_refused(cpu):
    out = cpu.allocate(COUNT, np.int32)
    bundle = placed(cpu.load(Given(np.zeros(500, np.int32), 499)), "shared")
    bundle.table = cpu.upload(np.zeros(499, np.int32))
    with pytest.raises(LaunchRefused, match=r"gather: table given\.table has 500 elements; 499 given"):
        cpu.launch(gather, 1, 1, out, bundle)


def test_a_readonly_table_of_another_size_is_read_whole(backend):
    out, table = backend.allocate(COUNT, np.int32), np.arange(COUNT, dtype=np.int32)
    for count in (1, COUNT):  # both launches run one program, made for the first
        values = placed(backend.load(Given(table[:count].copy(), count)), "readonly")
        backend.launch(gather, 1, 1, out, values)
    assert (backend.download(out) == shuffled(table)).all()


def test_a_shared_table_that_does_not_fit_is_refused(backend):
    room = backend.capabilities.shared_bytes
    if room > 1 << 26:
        pytest.skip(f"{backend.name} has shared memory for all")
    count = room // 4 + 4
    out, bundle = backend.allocate(COUNT, np.uint32), backend.load(Given(np.zeros(count, np.uint32), COUNT))
    with pytest.raises(LaunchRefused, match=f"gather needs {4 * count} bytes of shared memory; a team has {room}"):
        backend.launch(gather, 1, 1, out, placed(bundle, "shared"))
    backend.launch(unread, 1, 1, out, placed(bundle, "shared"))


# --- OpenCL ---

TEXTS = {
    ("readonly", u16): "const __global ushort* restrict given_table_field, int given_n_field)",
    ("shared", f32): "const __local float* restrict given_table_field",
    ("image", u16): "((ushort)read_imageui(given_table_field, ",
    ("image", f32): "((float)read_imagef(given_table_field, ",
}


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: f"{case[0]}-{case[1].__name__}")
def test_each_place_in_opencl_c(case):
    text = OpenClC(program(*case)).source()
    assert TEXTS[case] in text and ("barrier(" in text) == (case[0] == "shared")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"image_support": False}, "argument given.table is an image, and .* has none; use readonly"),
        ({"image_support": True, "image_max_buffer_size": 499}, "image of 500 elements; .* has at most 499"),
    ],
)
def test_images_that_an_opencl_device_lacks_are_refused(opencl, monkeypatch, facts, words):
    out, table = opencl.allocate(COUNT, np.int32), opencl.load(Given(np.zeros(COUNT, np.int32), COUNT))
    monkeypatch.setattr(opencl, "handle", SimpleNamespace(**facts))
    with pytest.raises(LaunchRefused, match=words):
        opencl.launch(gather, 1, 1, out, placed(table, "image"))
