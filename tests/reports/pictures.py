"""Legibility of a picture, measured: sizes of texts at 400 pixels, ticks of every axis, texts that overlap."""

from itertools import combinations

SHOWN_PIXELS, LEAST_PIXELS = 400, 8
"""Width of a picture on a page, and smallest size of its texts."""
SLACK = 1.0
"""Pixels by which two texts may overlap: boxes of texts have a margin."""


def illegible(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if not hasattr(figure.canvas, "get_renderer"):
        FigureCanvasAgg(figure)
    figure.canvas.draw()
    return [*_small(figure), *_without_ticks(figure), *_overlapping(figure), *_of_two_kinds(figure)]


def _small(figure):
    for text in _texts(figure):
        pixels = text.get_fontsize() / 72 * SHOWN_PIXELS / figure.get_size_inches()[0]
        if pixels < LEAST_PIXELS:
            yield f"{text.get_text()!r} has {pixels:.1f} pixels, expected {LEAST_PIXELS} at least"


def _without_ticks(figure):
    for axes in figure.axes:
        if not axes.axison:
            continue
        shared = {
            "horizontal": [sibling.xaxis for sibling in axes.get_shared_x_axes().get_siblings(axes)],
            "vertical": [sibling.yaxis for sibling in axes.get_shared_y_axes().get_siblings(axes)],
        }
        for name, alike in shared.items():
            labels = [text for axis in alike for text in _tick_texts(axis) if text.get_text()]
            if len(labels) < 2 and (labels or alike[0].get_scale() == "log"):
                yield f"the {name} axis has {len(labels)} tick labels, expected two at least"


def _of_two_kinds(figure):
    for which in "xy":
        kinds = {getattr(axes, f"get_{which}scale")() for axes in figure.axes if axes.axison}
        if len(kinds) > 1:
            yield f"the {which} axes are {' and '.join(sorted(kinds))}, expected one kind"


def _overlapping(figure):
    boxes = [(text, _box(text, figure)) for text in _texts(figure)]
    for text, box in boxes:
        if not all(figure.bbox.padded(SLACK).contains(*corner) for corner in box.vertices):
            yield f"{text.get_text()!r} is cut off"
    for (one, box), (other, its) in combinations(boxes, 2):
        if box.intersects_path(its, filled=True):
            yield f"{one.get_text()!r} and {other.get_text()!r} overlap"


def _texts(figure):
    texts = []
    if figure._suptitle is not None:
        texts.append(figure._suptitle)
    for legend in figure.legends:
        texts += legend.get_texts()
    for axes in figure.axes:
        if not axes.axison:
            continue
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        texts += [*_tick_texts(axes.xaxis), *_tick_texts(axes.yaxis)]
        texts += axes.get_legend().get_texts() if axes.get_legend() else []
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def _tick_texts(axis):
    """Labels of the ticks within the axis' limits; shared axes have labels at one side only."""
    low, high = sorted(axis.get_view_interval())
    shown = [tick for tick in axis.get_major_ticks() if _within(axis, tick.get_loc(), low, high)]
    return [text for tick in shown for text in (tick.label1, tick.label2) if text.get_visible()]


def _within(axis, place, low, high):
    """True if a place is on the axis, up to rounding."""
    change = axis.get_transform().transform
    low, place, high = change([low, place, high])
    slack = 1e-6 * (high - low)
    return low - slack <= place <= high + slack


def _box(text, figure):
    """Outline of a text, a little smaller than its box: at right angles, or turned about its anchor."""
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    turned, about = text.get_rotation(), text.get_transform().transform(text.get_unitless_position())
    turn = Affine2D() if turned % 90 == 0 else Affine2D().rotate_deg_around(*about, turned)
    text.set_rotation(turned if turned % 90 == 0 else 0)
    extent = text.get_window_extent(figure.canvas.get_renderer()).padded(-SLACK / 2)
    text.set_rotation(turned)
    return Path(extent.corners()[[0, 1, 3, 2, 0]]).transformed(turn)
