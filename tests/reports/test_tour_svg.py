"""Tours drawn as SVG."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from reports.plots.tour import draw_tour

SVG = "{http://www.w3.org/2000/svg}"


def path_points(document):
    path = ElementTree.fromstring(document).find(f"{SVG}path").get("d")
    assert path.startswith("M")
    assert path.endswith("Z")
    return np.array([[float(x), float(y)] for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)])


def test_the_path_visits_the_cities_in_the_order_of_the_tour():
    rng = np.random.default_rng(5)
    cities, tour = rng.uniform(-1000, 3000, (50, 2)), rng.permutation(50)
    drawn = path_points(draw_tour(cities, tour))
    # One scale for both axes and y upside down; the least-squares fit recovers it from the picture alone.
    scale = np.ptp(drawn[:, 0]) / np.ptp(cities[:, 0])
    expected = cities[tour] * [scale, -scale]
    assert np.allclose(drawn - drawn[0], expected - expected[0], atol=0.2)


def test_every_city_is_a_dot_inside_the_picture():
    cities = np.array([[0, 0], [10, 0], [10, 5], [0, 5]])
    root = ElementTree.fromstring(draw_tour(cities, np.arange(4), title="a < b & c"))
    width, height = map(float, root.get("viewBox").split()[2:])
    dots = root.findall(f".//{SVG}circle")
    assert len(dots) == 4
    assert all(0 < float(dot.get("cx")) < width and 0 < float(dot.get("cy")) < height for dot in dots)
    assert root.find(f"{SVG}text").text == "a < b & c"


@pytest.mark.parametrize("cities", [[[3, 3]], [[1, 1], [1, 1], [1, 1]], [[0, 0], [7, 0]]])
def test_cities_on_one_point_or_line_can_be_drawn(cities):
    drawn = path_points(draw_tour(np.array(cities), np.arange(len(cities))))
    assert np.isfinite(drawn).all()
    assert len(drawn) == len(cities)


@pytest.mark.parametrize(
    ("cities", "tour", "expected"),
    [
        (np.zeros((3, 2)), [0, 1, 1], "a permutation"),
        (np.zeros((3, 3)), [0, 1, 2], "finite coordinates"),
        (np.full((3, 2), np.nan), [0, 1, 2], "finite coordinates"),
    ],
)
def test_what_is_no_tour_or_no_place_is_refused(cities, tour, expected):
    with pytest.raises(ValueError, match=f"expected {expected}"):
        draw_tour(cities, np.array(tour))
