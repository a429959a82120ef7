"""The pictures of docs/papers.md: how each paper lays its work on a GPU. `python docs/pictures/draw.py` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

WIDTH, HEIGHT = 640, 250
BLUE, ORANGE, GREEN, GREY, INK = "#cfe3f5", "#f8d7b5", "#cdebd3", "#ececec", "#222222"


class Picture:
    """Boxes, arrows and words on a white sheet, as SVG."""

    def __init__(self, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="{INK}">',
            f"<title>{title}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0 8 4 0 8z" fill="{INK}"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="white"/>',
        ]

    def box(self, x: float, y: float, width: float, height: float, words: str = "", fill: str = BLUE) -> None:
        """A box with words in its middle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{fill}" stroke="#777777"/>'
        )
        if words:
            self.words(x + width / 2, y + height / 2 + 4.5, words, "middle")

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """A dashed frame round what belongs together."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="none" stroke="#777777" '
            'stroke-dasharray="5 3"/>'
        )

    def words(self, x: float, y: float, words: str, anchor: str = "start") -> None:
        """A line of text that begins, or has its middle, there."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>')

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """A straight arrow."""
        self.parts.append(
            f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" stroke="{INK}" marker-end="url(#tip)"/>'
        )

    @property
    def svg(self) -> str:
        """The finished file."""
        return "\n".join([*self.parts, "</svg>"]) + "\n"


def hill_climbing() -> Picture:
    """O'Neil, Tamir and Burtscher: a thread climbs; the suite: several lanes climb together."""
    one = Picture("Hill climbing: a climber is a thread, or several lanes share one")
    one.words(20, 28, "as published: a climber is a thread")
    one.frame(15, 40, 290, 195)
    one.box(30, 52, 260, 34, "all distances, in the block's memory", GREY)
    for k in range(6):
        one.box(30 + 44 * k, 120, 36, 26, f"t{k}")
        one.arrow(48 + 44 * k, 118, 48 + 44 * k, 90)
        one.box(30 + 44 * k, 176, 36, 40, f"c{k}", ORANGE)
        one.arrow(48 + 44 * k, 148, 48 + 44 * k, 173)
    one.words(340, 28, "the suite: lanes share a climber's moves")
    one.frame(335, 40, 290, 195)
    one.box(350, 52, 260, 34, "all distances, in the team's memory", GREY)
    for k in range(6):
        one.box(350 + 44 * k, 120, 36, 26, f"l{k}", BLUE if k < 3 else GREEN)
        one.arrow(368 + 44 * k, 118, 368 + 44 * k, 90)
    for c in range(2):
        one.box(350 + 132 * c, 176, 124, 40, f"climber c{c}", ORANGE)
        for k in range(3):
            one.arrow(368 + 44 * (3 * c + k), 148, 368 + 44 * (3 * c + k), 173)
    return one


def local_search() -> Picture:
    """Luong, Melab and Talbi: a thread for every neighbour; the host takes one."""
    one = Picture("Local search: a thread evaluates a neighbour, the host takes the best")
    one.words(20, 24, "an iteration: the neighbourhood is cut into threads")
    one.box(20, 115, 105, 60, "solution", ORANGE)
    one.words(20, 195, "on the host")
    one.frame(165, 62, 290, 180)
    for k in range(5):
        one.box(180, 72 + 28 * k, 120, 23, f"thread {k}: move {k}")
        one.box(330, 72 + 28 * k, 110, 23, f"adds {[12, -3, 40, -9, 5][k]}", GREEN if k == 3 else GREY)
        one.arrow(302, 83.5 + 28 * k, 327, 83.5 + 28 * k)
    one.words(180, 231, "on the GPU: index to (i, j), then delta")
    one.arrow(127, 145, 163, 145)
    one.box(495, 115, 115, 60, "take the least", ORANGE)
    one.words(495, 195, "on the host, or")
    one.words(495, 212, "reduced on the GPU")
    one.arrow(457, 145, 493, 145)
    one.parts.append(f'<path d="M552 113 C530 24 120 24 75 113" fill="none" stroke="{INK}" marker-end="url(#tip)"/>')
    return one


def ants() -> Picture:
    """Menezes and others: an ant is a thread, or a block; the pheromone by one thread or by all."""
    one = Picture("Ant colonies: coarse, fine, and fine with a parallel deposit")
    for column, (name, words) in enumerate(
        (("coarse", "an ant is a thread"), ("fine", "an ant is a block"), ("fine-deposit", "an ant is a block"))
    ):
        left = 15 + 208 * column
        one.words(left + 5, 28, name)
        one.frame(left, 38, 195, 197)
        one.words(left + 10, 58, words)
        for ant in range(3):
            if column == 0:
                one.box(left + 20 + 56 * ant, 70, 44, 40, f"ant {ant}", ORANGE)
                continue
            one.box(left + 10 + 60 * ant, 70, 54, 40, "", ORANGE)
            for city in range(3):
                one.box(left + 14 + 60 * ant + 16 * city, 76, 13, 13)
            one.words(left + 37 + 60 * ant, 105, f"ant {ant}", "middle")
        for ant in range(3):
            foot = left + (42 + 56 * ant if column == 0 else 37 + 60 * ant)
            one.arrow(foot, 112, foot if column == 2 else left + 97, 158)
        if column == 2:
            for k in range(11):
                one.box(left + 10 + 16 * k, 160, 13, 24, "", GREEN)
        else:
            one.box(left + 77, 160, 40, 24, "1", GREEN)
        one.words(left + 10, 206, "pheromone: all threads," if column == 2 else "pheromone: one thread")
        one.words(left + 10, 223, "atomic additions" if column == 2 else "while all others wait")
    return one


def exact() -> Picture:
    """Xavier: every beginning of a tour is an item, which one thread searches depth first."""
    one = Picture("Exact search: beginnings of tours are items, a thread searches each depth first")
    one.words(20, 28, "beginnings of tours, numbered")
    one.words(345, 28, "below each, one thread, depth first")
    one.box(145, 40, 50, 24, "0", GREY)
    for a in range(3):
        one.box(40 + 105 * a, 95, 50, 24, f"0 {a + 1}", GREY)
        one.arrow(170, 66, 65 + 105 * a, 92)
        for b in range(2):
            x = 15 + 105 * a + 52 * b
            one.box(x, 150, 46, 24, f"0 {a + 1} {[b + 1, b + 2][a <= b] if a else b + 2}", ORANGE)
            one.arrow(65 + 105 * a, 121, x + 23, 147)
            one.box(x, 200, 46, 24, f"t{2 * a + b}")
            one.arrow(x + 23, 176, x + 23, 198)
    one.frame(345, 40, 280, 195)
    for level, (x, words) in enumerate(((470, "item"), (430, ""), (395, ""))):
        one.box(x, 55 + 50 * level, 50, 24, words, ORANGE if level == 0 else BLUE)
    one.arrow(490, 81, 458, 102)
    one.arrow(450, 131, 422, 152)
    one.arrow(500, 81, 545, 102)
    one.box(520, 105, 90, 24, "bound: cut", GREY)
    one.arrow(470, 131, 500, 152)
    one.box(460, 155, 90, 24, "bound: cut", GREY)
    one.words(360, 205, "bound: length so far, and the shortest")
    one.words(360, 222, "edge of every city that is left")
    return one


def dynamic_programming() -> Picture:
    """O'Connell and Mumford: cells of a diagonal at once; finished ones go to the host."""
    one = Picture("Dynamic programming: a diagonal at a time, finished cells to the host")
    one.words(20, 28, "a wave: all cells of a diagonal, a thread each")
    for row in range(6):
        for column in range(8):
            wave = row + column
            fill = GREY if wave < 4 else GREEN if wave < 6 else ORANGE if wave == 6 else "white"
            one.box(25 + 40 * column, 45 + 31 * row, 36, 27, str(wave) if wave < 7 else "", fill)
    for y, fill, words in (
        (60, ORANGE, "being computed"),
        (95, GREEN, "kept: the next wave reads them"),
        (130, GREY, "finished: copied to the host"),
    ):
        one.box(370, y, 30, 22, "", fill)
        one.words(410, y + 16, words)
    one.frame(365, 175, 260, 55)
    one.words(378, 198, "the host's memory holds the table,")
    one.words(378, 216, "the GPU three waves of it")
    return one


PICTURES: dict[str, Callable[[], Picture]] = {
    "hill-climbing": hill_climbing,
    "local-search": local_search,
    "ants": ants,
    "exact": exact,
    "dynamic-programming": dynamic_programming,
}


def main() -> None:
    """Write all pictures beside this file."""
    for name, draw in PICTURES.items():
        Path(__file__).with_name(f"{name}.svg").write_text(draw().svg, encoding="utf-8")


if __name__ == "__main__":
    main()
