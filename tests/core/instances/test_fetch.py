"""Downloads, from a web server on this machine and from an archive made here."""

import gzip
import io
import itertools
import tarfile

import pytest

from core.instances import folders, optima, tsplib
from core.instances.downloads import catalogue, fetch, papers
from core.instances.errors import FetchError
from tests.core.instances import samples

UNREACHABLE = "http://127.0.0.1:9"  # nothing listens on port 9 of this machine


@pytest.fixture
def five(monkeypatch):
    digest = tsplib.parse(samples.EUCLIDEAN).sha256
    shrunk = catalogue.COLLECTIONS["tsplib"]._replace(digests=lambda: dict.fromkeys(("five", "house", "home"), digest))
    monkeypatch.setitem(catalogue.COLLECTIONS, "tsplib", shrunk)


def published(name, collection, shared_data):
    """The text of an instance at its publisher."""
    path = catalogue.COLLECTIONS[collection].reader.find(name, shared_data)
    text = path.read_text()
    if collection == "burkardt":
        # in the shared folder p01 is a TSPLIB file with the matrix of p01_d.txt
        return text.partition("EDGE_WEIGHT_SECTION\n")[2].removesuffix("EOF\n")
    if name == "dj38":
        # as on the site: a comment in several lines, and no EOF
        comment = "COMMENT : This file is a corrected version of dj89, where duplications\nCOMMENT :  were removed.\n"
        return text.replace("TYPE", comment + "TYPE", 1).removesuffix("EOF\n")
    return text


def test_an_instance_of_each_collection_arrives_and_is_found_by_its_name(site, shared_data):
    for name, collection, best in (
        ("burma14", "tsplib", 3323),
        ("eil7", "vrp", 66),
        ("eil22", "vrp", 278),
        ("dj38", "national", 6656),
        ("lu980", "national", 11340),
        ("p01", "burkardt", 291),
        ("nug12", "qaplib", 578),
    ):
        site.hold(name, published(name, collection, shared_data), collection)
        path = folders.cache_folder() / collection / f"{name}{catalogue.COLLECTIONS[collection].suffix}"
        assert list(fetch.fetch_collection(collection, [name])) == [(name, f"fetched {path}")]
        finder = catalogue.COLLECTIONS[collection].reader
        assert finder.find(name) == path
        instance = finder.load(name)
        assert (instance.name, instance.source) == (name, f"file {path}")
        assert (instance.best_known if collection == "qaplib" else instance.optimum) == best
        assert list(fetch.fetch_collection(collection, [name])) == [(name, f"kept {path}")]
    assert len(site.asked) == 7


def test_all_names_are_fetched_and_right_files_are_kept(site, five, tmp_path):
    for name in ("five", "house", "home"):
        site.hold(name, samples.EUCLIDEAN)
    assert [outcome.split()[0] for _, outcome in fetch.fetch_collection("tsplib", (), tmp_path)] == ["fetched"] * 3
    (tmp_path / "house.tsp").write_text(samples.EUCLIDEAN.replace("10.5", "10.6"))
    (tmp_path / "home.tsp").write_text("half a fi")
    site.asked.clear()
    outcomes = [outcome.split()[0] for _, outcome in fetch.fetch_collection("tsplib", (), tmp_path)]
    assert outcomes == ["kept", "fetched", "fetched"]
    assert site.asked == ["/tsplib/house.tsp.gz", "/tsplib/home.tsp.gz"]


def test_a_site_that_cannot_be_reached_and_a_folder_that_cannot_be_written_are_named(site, five, tmp_path, monkeypatch):
    monkeypatch.setenv("TSPLIB_URL", UNREACHABLE)
    outcomes = fetch.fetch_collection("tsplib", ["five", "home"], tmp_path)
    assert next(outcomes)[1].startswith(f"failed: {UNREACHABLE}/five.tsp.gz cannot be reached (")
    assert "was not tried" in next(outcomes)[1]
    with pytest.raises(FetchError, match="2 of 2 instances"):
        next(outcomes)
    monkeypatch.setenv("TSPLIB_URL", site.url)
    (tmp_path / "file").write_text("")
    site.hold("five", samples.EUCLIDEAN)
    outcome = next(iter(fetch.fetch_collection("tsplib", ["five"], tmp_path / "file")))[1]
    assert f"{tmp_path / 'file' / 'five.tsp'} cannot be written" in outcome


def test_a_right_file_anywhere_at_hand_is_kept_and_a_wrong_one_before_the_cache_is_named(
    site, five, tmp_path, monkeypatch
):
    own = tmp_path / "own" / "tsplib" / "five.tsp"
    own.parent.mkdir(parents=True)
    own.write_text(samples.EUCLIDEAN)
    monkeypatch.setenv("TSPLIB_DIR", str(tmp_path / "own"))
    assert list(fetch.fetch_collection("tsplib", ["five"])) == [("five", f"kept {own}")]
    own.write_text(samples.EUCLIDEAN.replace("10.5", "10.6"))
    site.hold("five", samples.EUCLIDEAN)
    path = folders.cache_folder() / "tsplib" / "five.tsp"
    said = f"fetched {path}, but {own} is found first and holds something else"
    assert list(fetch.fetch_collection("tsplib", ["five"])) == [("five", said)]
    assert site.asked == ["/tsplib/five.tsp.gz"]


@pytest.mark.parametrize(
    "collection, name, number, other",
    [
        ("tsplib", "burma14", "16.47", "16.48"),
        ("vrp", "eil7", "  11  ", "  12  "),
        ("national", "dj38", "42102.5", "42102.6"),
        ("burkardt", "p01", "29", "28"),
        ("qaplib", "nug12", " 5", " 6"),
    ],
)
def test_what_is_wrong_cut_or_not_there_is_not_installed(site, shared_data, tmp_path, collection, name, number, other):
    text = published(name, collection, shared_data)
    last = text.rstrip().removesuffix("EOF").rstrip()

    def refused(words):
        outcomes = fetch.fetch_collection(collection, [name], tmp_path / "into")
        said_of, outcome = next(outcomes)
        assert said_of == name and outcome.startswith("failed: ") and words in outcome, outcome
        assert f"{site.root}/{collection}/{name}" in outcome
        with pytest.raises(FetchError, match=f"1 of 1 instances could not be fetched; by hand: .* {tmp_path}/into, or"):
            next(outcomes)
        assert not list(tmp_path.glob("into/*"))

    refused(" answers 404 Not Found")
    assert number in text
    path = site.hold(name, text.replace(number, other), collection)
    refused(f"sent another instance than the pinned {name}")
    site.hold(name, "<html>Not here</html>", collection)
    refused("the download is not an instance: http")
    site.hold(name, last[:-25], collection)
    refused("the download is not an instance: http")
    site.hold(name, text, collection)
    site.breaks_off.add(path)
    refused("sent no whole file")
    site.breaks_off.clear()
    assert [outcome.split()[0] for _, outcome in fetch.fetch_collection(collection, [name], tmp_path)] == ["fetched"]


def test_a_file_is_unpacked_by_what_it_is_and_not_by_its_name(site, five, tmp_path):
    spaced = samples.EUCLIDEAN.replace("\n", " \r\n").replace(" ", "   ")  # the same instance
    site.pages["/tsplib/five.tsp.gz"] = spaced.encode()
    site.unpacks.add(site.hold("house", samples.EUCLIDEAN))
    site.pages["/tsplib/home.tsp.gz"] = gzip.compress(samples.EUCLIDEAN.encode())[:-20]
    outcomes = fetch.fetch_collection("tsplib", (), tmp_path)
    assert next(outcomes)[1].startswith("fetched ")
    assert next(outcomes)[1].startswith("fetched ")
    assert "home.tsp.gz sent unreadable content" in next(outcomes)[1]


def test_the_next_address_is_tried_and_a_silent_site_only_once(site, five, tmp_path, monkeypatch):
    monkeypatch.delenv("TSPLIB_URL")
    addresses = (f"{UNREACHABLE}/{{name}}.tsp", f"{site.root}/a/{{name}}.tsp.gz", f"{site.root}/b/{{name}}.tsp")
    changed = catalogue.COLLECTIONS["tsplib"]._replace(addresses=addresses)
    monkeypatch.setitem(catalogue.COLLECTIONS, "tsplib", changed)
    site.pages["/b/five.tsp"] = samples.EUCLIDEAN.encode()
    site.pages["/a/house.tsp.gz"] = gzip.compress(samples.EUCLIDEAN.replace("10.5", "10.6").encode())
    site.pages["/b/house.tsp"] = samples.EUCLIDEAN.encode()
    # the fourth step would raise, since one of the three is nowhere
    five_, house, home = dict(itertools.islice(fetch.fetch_collection("tsplib", (), tmp_path), 3)).values()
    assert five_.startswith("fetched ") and house.startswith("fetched ")
    reasons = home.removeprefix("failed: ").split("; ")
    assert reasons == [
        f"{UNREACHABLE}/home.tsp was not tried, as 127.0.0.1:9 did not answer before",
        f"{site.root}/a/home.tsp.gz answers 404 Not Found",
        f"{site.root}/b/home.tsp answers 404 Not Found",
    ]


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_a_papers_instances_come_by_one_command(site, shared_data, paper):
    wanted = [one for one in papers.instances_of(paper) if one.collection not in papers.GENERATED]
    for one in wanted:
        site.hold(one.name, published(one.name, one.collection, shared_data), one.collection)
    for word in ("fetched", "kept"):
        outcomes = dict(fetch.fetch_paper(paper))
        assert list(outcomes) == [one.name for one in papers.instances_of(paper)]
        for one in papers.instances_of(paper):
            assert outcomes[one.name] == (one.source if one not in wanted else f"{word} {one.file()}")
            assert one.is_available()
    assert len(site.asked) == len(wanted)


def test_what_a_paper_uses_comes_although_one_of_its_sites_is_silent(site, shared_data, monkeypatch):
    monkeypatch.setenv("VRP_URL", UNREACHABLE)
    for one in papers.instances_of("xavier2022"):
        if one.name != "gr17":
            site.hold(one.name, published(one.name, one.collection, shared_data), one.collection)
    cache, outcomes = folders.cache_folder(), fetch.fetch_paper("xavier2022")
    failed = [name for name, outcome in itertools.islice(outcomes, 15) if outcome.startswith("failed:")]
    assert failed == ["eil7", "eil13", "gr17", "eil22", "eil23", "eil30"]
    with pytest.raises(FetchError, match="^6 of 15 instances could not be fetched; by hand: ") as raised:
        next(outcomes)
    assert f"in {cache / 'vrp'} or {cache / 'tsplib'}, or in a folder of $TSPLIB_DIR" in str(raised.value)


def archive_of(path, texts):
    with tarfile.open(path, "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_archive_gives_its_instances_once(shared_data, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    texts = {
        f"tsplib95-0.7.1/tests/data/{name}.tsp": (shared_data / "tsplib" / f"{name}.tsp").read_text()
        for name in fetch.ARCHIVED
    }
    packed = archive_of(tmp_path / "source.tar.gz", {**texts, "setup.py": "raise SystemExit"})
    downloads = []
    monkeypatch.setattr(fetch, "_download_archive", lambda folder: downloads.append(folder) or packed)
    folder = tmp_path / "cache" / "archive"
    for outcome in ("fetched", "kept"):
        assert dict(fetch.fetch_archive()) == {name: f"{outcome} {folder / name}.tsp" for name in fetch.ARCHIVED}
        for name in fetch.ARCHIVED:
            assert tsplib.load(folder / f"{name}.tsp").sha256 == optima.collection("tsplib")[name].sha256
    assert len(downloads) == 1 and capfd.readouterr() == ("", "")


def test_pip_without_an_index_is_reported_in_its_own_words(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(FetchError, match="pip cannot download tsplib95==0.7.1 .*No matching distribution"):
        list(fetch.fetch_archive())


@pytest.mark.slow
def test_pip_does_not_run_an_archive_with_other_bytes_than_the_pinned_ones(monkeypatch, tmp_path):
    setup = f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit('it ran')"
    archive_of(tmp_path / "tsplib95-0.7.1.tar.gz", {"tsplib95-0.7.1/setup.py": setup})
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # as pip reads it: build with what is installed here
    with pytest.raises(FetchError, match="DO NOT MATCH THE HASHES"):
        list(fetch.fetch_archive())
    assert not (tmp_path / "ran").exists()
