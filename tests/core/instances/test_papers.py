"""The instances of the five papers: complete, at hand with what is beside the checkout, and the right ones."""

import pytest

from core import tours as tsp
from core.instances import tsplib
from core.instances.downloads import catalogue, papers
from core.instances.errors import InstanceError
from reports.papers.files import load

pytestmark = pytest.mark.usefixtures("no_instances")


def named(paper, *, in_print):
    """Instances of all rows, or of those with published figures; neither Weierstrass functions nor generated ones."""
    return {
        row.instance
        for exhibit in load(paper).exhibits
        for row in exhibit.rows
        if (row.workload or exhibit.workload) != "weierstrass" and row.instance and ":" not in row.instance
        if row.figures or not in_print
    }


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_the_papers_instances_are_those_of_its_rows(paper):
    """O'Connell draws the times of its instances and prints none."""
    ours = {one.name for one in papers.instances_of(paper)}
    assert named(paper, in_print=True) <= ours <= named(paper, in_print=False)
    assert len(ours) == {"oneil2011": 5, "menezes2019": 9, "xavier2022": 15, "luong2013": 24, "oconnell2014": 6}[paper]


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_the_files_beside_the_checkout_are_the_pinned_ones(shared_data, paper):
    for entry in papers.instances_of(paper):
        if entry.collection in papers.GENERATED:
            assert entry.is_available() and entry.file(shared_data) is None
            continue
        assert not entry.is_available() and entry.is_available(shared_data)
        instance = catalogue.COLLECTIONS[entry.collection].reader.read(entry.file(shared_data))
        assert instance.sha256 == catalogue.COLLECTIONS[entry.collection].digests()[entry.name]
        assert instance.sha256 == tsp.load(entry.name, shared_data).sha256 and instance.optimum is not None


def test_whether_an_instance_is_at_hand_is_said_without_opening_its_file(tmp_path):
    (tmp_path / "eil7.vrp").write_text("no instance")
    eil7 = papers.instances_of("xavier2022")[0]
    assert eil7.name == "eil7" and eil7.is_available(tmp_path) and eil7.file(tmp_path) == str(tmp_path / "eil7.vrp")
    with pytest.raises(InstanceError):
        tsplib.load(eil7.file(tmp_path))


def test_a_source_names_the_publisher_and_the_address(monkeypatch):
    sources = {one.name: one.source for one in papers.instances_of("menezes2019")}
    assert sources["lu980"] == (
        "World TSP, national instances (University of Waterloo): https://www.math.uwaterloo.ca/tsp/world/lu980.tsp"
    )
    monkeypatch.setenv("NATIONAL_URL", "http://mirror.example/world/")
    assert papers.source("national", "lu980").endswith(": http://mirror.example/world/lu980.tsp")
    with pytest.raises(InstanceError, match="nobody2000: found no such paper, expected one of oneil2011, menezes2019"):
        papers.instances_of("nobody2000")
