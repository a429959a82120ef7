"""Exhibits without a run of ours: the reason, and how to get one."""

from __future__ import annotations

from reports.papers.exhibits import NO_RECORD, FilledExhibit
from reports.papers.measures import MEASURES
from reports.papers.paper import Exhibit
from reports.papers.plots import panels


def gap_reason(exhibit: Exhibit, shown: FilledExhibit) -> str:
    """Return why an exhibit shows no run of ours, and how to get one; empty if it shows one.

    Parameters
    ----------
    exhibit : Exhibit
        A table, or a figure that draws one.
    shown : Shown
        The table with our runs.
    """
    if shown.exhibit.never_ours or _has_our_runs(exhibit, shown):
        return ""
    row = exhibit.plot.row if exhibit.of and exhibit.plot else ""
    if not any(datum.line == row or not row for datum in shown.ours):
        reasons = [f"{what}: {why}" if what else why for what, why in shown.missing]
        drawn = f"it draws {row}, which did not run; --{exhibit.kind} {exhibit.number} runs it" if row else NO_RECORD
        return "; ".join(reasons) or drawn
    notes = dict.fromkeys(note for datum in shown.ours for note in datum.notes if note.startswith("no "))
    words = dict.fromkeys(word for datum in shown.ours for word in datum.words if word.startswith(("no ", "not ")))
    again = "; then --rerun" if any("not found" in note for note in notes) else ""
    without = f"none of our runs has {MEASURES[exhibit.plot.measure].axis}" if exhibit.plot else NO_RECORD
    return ("; ".join(notes or words) or without) + again


def _has_our_runs(exhibit: Exhibit, shown: FilledExhibit) -> bool:
    if not exhibit.of:
        return any(datum.values for datum in shown.ours)
    return any(not curve.published for panel in panels(exhibit, shown) for curve in panel.curves)
