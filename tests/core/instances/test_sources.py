"""Resolution of instance names, and the order of places."""

import gzip
import os

import pytest

from core import tours as tsp
from core.instances import optima, sources
from core.instances.downloads import fetch
from core.instances.errors import InstanceError
from tests.core.instances import samples


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch, no_instances):

    def refuse(*arguments, **options):
        raise AssertionError("a download that nobody asked for")

    for name in ("_download", "_download_archive"):
        monkeypatch.setattr(fetch, name, refuse)
    return tmp_path


def put(path, cities=5, pack=False):
    lines = samples.EUCLIDEAN.replace(": 5", f": {cities}").splitlines()
    text = "\n".join([*lines[: 6 + cities], "EOF\n"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if pack else text.encode())


def test_path_then_data_then_environment_then_cache(places, monkeypatch):
    monkeypatch.chdir(places)
    put(places / "cache" / "tsplib" / "own.tsp", 3)
    assert tsp.load("own").n == 3
    put(places / "environment" / "own.tsp", 4)
    monkeypatch.setenv("TSPLIB_DIR", str(places / "environment"))
    assert tsp.load("own").n == 4
    put(places / "data" / "own.tsp", 5)
    assert tsp.load("own", data="data").n == 5
    assert tsp.load("own").n == 4
    put(places / "own.tsp", 3)
    assert tsp.load("own.tsp", data="data").n == 3
    assert tsp.load("own", data="data").n == 5


def test_the_environment_may_name_several_folders_and_the_first_that_has_a_name_counts(places, monkeypatch):
    put(places / "a" / "vrp" / "own.vrp", 3)
    put(places / "b" / "own.tsp", 4)
    put(places / "b" / "other.tsp", 5)
    several = os.pathsep.join(["", str(places / "none"), str(places / "a"), str(places / "b"), ""])
    monkeypatch.setenv("TSPLIB_DIR", several)
    assert tsp.load("own").n == 3 and tsp.load("other").n == 5
    assert sources.local_files() == {"own": places / "a" / "vrp" / "own.vrp", "other": places / "b" / "other.tsp"}
    # an empty name is no folder, least of all this one
    monkeypatch.chdir(places / "b")
    monkeypatch.setenv("TSPLIB_DIR", os.pathsep)
    assert sources.find("other") is None


def test_a_matrix_of_burkardts_is_found_under_the_name_of_its_instance(places, shared_data):
    text = (shared_data / "national" / "p01.tsp").read_text()
    (places / "data").mkdir()
    path = places / "data" / "p01_d.txt"
    path.write_text(text.partition("EDGE_WEIGHT_SECTION\n")[2].removesuffix("EOF\n"))
    for spec, data in (("p01", places / "data"), (str(path), None)):
        instance = tsp.load(spec, data)
        assert (instance.name, instance.n, instance.optimum) == ("p01", 15, 291)
        assert (instance.distances == tsp.load("p01", shared_data).distances).all()
    path.write_text("0 1\n1 0\n")
    with pytest.raises(InstanceError, match="p01_d.txt: found 2 cities, expected 3 to 100000 cities"):
        tsp.load("p01", places / "data")


@pytest.mark.parametrize("place", ["own.tsp", "tsplib/own.tsp", "national/own.tsp", "vrp/own.vrp"])
def test_subfolders_and_packed_files_are_found(places, place):
    put(places / "data" / place)
    assert tsp.load("own", places / "data").source.endswith(place)
    (places / "data" / place).unlink()
    put(places / "data" / f"{place}.gz", pack=True)
    assert tsp.load("own", places / "data").name == "own"


def test_unknown_name_is_refused_with_advice(places, monkeypatch):
    with pytest.raises(InstanceError) as raised:
        tsp.load("kroa100")
    assert "did you mean kroA100?" in str(raised.value) and str(places / "cache") in str(raised.value)
    monkeypatch.setenv("TSPLIB_DIR", "elsewhere")
    with pytest.raises(InstanceError, match=r"TSPLIB_DIR \(elsewhere\).*fetch tsplib kroA100. gets it"):
        tsp.load("kroA100")
    for name, advice in (
        ("gr17", "fetch tsplib gr17`, or `fetch archive`, gets"),
        ("eil22", "fetch vrp eil22` gets it"),
        ("lu980", "fetch national lu980` gets it"),
        ("p01", "fetch burkardt p01` gets it"),
    ):
        with pytest.raises(InstanceError, match=f"{name}: found no such instance.*{advice}"):
            tsp.load(name)


def test_what_has_the_name_and_is_no_file_is_named(places, monkeypatch):
    for path in ("absent.tsp", "./absent", "folder/kroA100", "absent.vrp.gz"):
        with pytest.raises(InstanceError, match="found no such file"):
            tsp.load(path)
    for read in (lambda: tsp.load("own", data="nowhere"), lambda: sources.default_instance("nowhere")):
        with pytest.raises(InstanceError, match="nowhere: found no such folder"):
            read()
    monkeypatch.chdir(places)
    (places / "own").mkdir()
    with pytest.raises(InstanceError, match="^own: found a folder, expected a TSPLIB file"):
        tsp.load("own")
    put(places / "data" / "own.tsp")
    assert tsp.load("own", "data").n == 5
    (places / "data" / "other.tsp").mkdir()
    assert set(sources.local_files("data")) == {"own"}
    with pytest.raises(InstanceError, match="other: found no such instance in data"):
        tsp.load("other", "data")


def test_default_is_the_best_real_instance_at_hand(places):
    name, reason = sources.default_instance()
    assert name == "uniform:100:seed=1" and "not a real one" in reason and "fetch archive`" in reason
    put(places / "cache" / "archive" / "pcb442.tsp")
    name, reason = sources.default_instance()
    assert name == "pcb442" and "kroA100 is not at hand" in reason
    put(places / "data" / "tsplib" / "kroA100.tsp")
    name, reason = sources.default_instance(places / "data")
    assert name == "kroA100" and str(places / "data") in reason


def test_known_optimum_comes_with_the_content_whatever_the_name(shared_data, places):
    put(places / "kroA100.tsp")
    assert tsp.load(str(places / "kroA100.tsp")).optimum is None
    text = (shared_data / "tsplib" / "kroA100.tsp").read_text()
    (places / "mine.tsp").write_text(text.replace("kroA100", "mine").replace(" ", "  "))
    assert tsp.load(str(places / "mine.tsp")).optimum == 21282
    one_off = text.replace("1380 939", "1380 938")
    assert one_off != text
    (places / "mine.tsp").write_text(one_off)
    assert tsp.load(str(places / "mine.tsp")).optimum is None


def test_table_agrees_with_the_published_solutions(shared_data):
    lines = (shared_data / "tsplib" / "solutions").read_text().splitlines()
    published = {line.split()[0]: int(line.split()[2]) for line in lines if " : " in line}
    ours = {name: row.optimum for name, row in optima.collection("tsplib").items()}
    assert "linhp318" not in ours and published.pop("linhp318")  # a fixed edge
    assert ours == published
