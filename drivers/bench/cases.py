"""Benchmark cases: rows of `cases.toml` on the devices of this machine, as cases of a plan."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import backends
from core.problems.instances.errors import InstanceError
from drivers.bench.c_programs import PROGRAMS, CProgramCase
from drivers.experiments.case import Case
from drivers.experiments.configurations import ONE_CORE, Configuration
from drivers.experiments.plan import plan_work
from drivers.workload.registry import get_workload

FILE = Path(__file__).with_suffix(".toml")
GPU_INSTANCE = "kroE100"
"""Default instance of hill climbing on GPUs."""
TABLES = tomllib.loads(FILE.read_text(encoding="utf-8"))
FAMILIES = tuple(dict.fromkeys(one["family"] for one in TABLES["case"]))
"""Values of `--workload` among these."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A case of the plan, and its name among those that do the same work."""

    name: str
    variant: str
    case: Case


@dataclass(frozen=True)
class BenchmarkCase:
    """Candidates that do the same work.

    Attributes
    ----------
    by_kernels
        True to compare kernel times, False to compare end-to-end times without compilation.
    unequal
        True if the variants find different results.
    phases
        True to show the times of an iteration's phases.
    remark
        Line under the table; may be empty.
    """

    title: str
    candidates: tuple[Candidate, ...]
    by_kernels: bool = False
    unequal: bool = False
    phases: bool = False
    remark: str = ""

    def baseline(self, candidate: Candidate) -> Candidate:
        """Return the candidate that another is compared with.

        The C program for one core, one core in the same variant for other devices, else the first candidate.
        """
        programs = [other for other in self.candidates if isinstance(other.case, CProgramCase)]
        on_one_core = [other for other in self.candidates if other.case.is_of_one_core and other not in programs]
        if programs and candidate in on_one_core:
            return programs[0]
        alike = (other for other in on_one_core if other.variant == candidate.variant and other is not candidate)
        return next(alike, self.candidates[0])


def build_cases(
    options: argparse.Namespace, devices: Sequence[Any], records: Path, *, with_c: bool
) -> Iterator[BenchmarkCase]:
    """Yield the chosen cases; report and omit those with missing instances.

    Raises `UserError` if the user's own instance is missing, or no row is chosen.
    """
    asked = [row for row in TABLES["case"] if row["family"] in families(options.workload)]
    for row in asked:
        for places in placements(row["on"], devices, options):
            for values in value_sets(row, options):
                try:
                    yield make_case(row, values, places, options, records, with_c=with_c)
                except InstanceError as error:
                    if options.instance and values["instance"] == options.instance:
                        raise
                    print(f"{row['title'].format(**values)}: not measured ({error})", flush=True)


def families(asked: str) -> Sequence[str]:
    return [family for family in FAMILIES if family not in TABLES["only_when_named"]] if asked == "all" else [asked]


def is_chosen(title: str, options: argparse.Namespace) -> bool:
    return any(part in title.lower() for part in (options.rows or "").lower().split(","))


def value_sets(row: Mapping[str, Any], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the values of each case of a row, with those of the benchmark's options."""
    from core.problems.instances.sources import default_instance

    on_gpu = row["on"] == "gpu"
    usual = {
        "instance": options.instance or (GPU_INSTANCE if on_gpu else default_instance(options.data)[0]),
        "climbers": options.gpu_climbers if on_gpu else options.climbers,
        "seed": options.seed,
        "next_seed": options.seed + 1,
        "workload": row.get("workload", ""),
    }
    combined = dict(row.get("product", {}))
    if "instance" in combined and options.instance:
        combined["instance"] = options.instance.split(",")
    sets = row.get("for") or [dict(zip(combined, chosen, strict=True)) for chosen in product(*combined.values())]
    for variant in sets:
        values = {**usual, **variant}
        if is_chosen(row["title"].format(**values), options) and (options.full or not variant.get("full")):
            yield values


def make_case(
    row: Mapping[str, Any],
    values: Mapping[str, Any],
    places: Sequence[Configuration],
    options: argparse.Namespace,
    records: Path,
    *,
    with_c: bool,
) -> BenchmarkCase:
    """Make a case of a row with these values on these devices. Raises `InstanceError` if its instance is missing."""
    workload = get_workload(values["workload"])
    arguments = [*row["arguments"].format(**values).split(), *(["--data", options.data] if options.data else [])]
    seeds = [options.seed + k for k in range(row.get("seeds", 1))]
    repeats = 1 if len(seeds) > 1 else values.get("repeats", options.repeats)

    def planned(more: str, about: str) -> Case:
        words, peers = [*arguments, *more.split()], row.get("peers", False)
        return plan_work(workload, words, seeds, repeats, records, peers=peers, about=about)[0]

    worded = ((name.format(**values), more.format(**values)) for name, more in row.get("variants", {"": ""}).items())
    variants = {name: planned(more, name) for name, more in worded}
    candidates = [
        Candidate(name if name and len(places) == 1 else f"{device_label(place)} {name}".strip(), name, case.on(place))
        for place in places
        for name, case in variants.items()
    ]
    if row.get("c") and with_c:
        plain = planned("", "")
        forms = PROGRAMS[workload.name].forms
        candidates += [Candidate(form, next(iter(variants)), CProgramCase.beside(plain, form)) for form in forms]
    where = f", {device_label(places[0])} on {places[0].device_name}" if len(places) == 1 else ""
    return BenchmarkCase(
        row["title"].format(**values) + where,
        tuple(candidates),
        row.get("time") == "kernels",
        row.get("unequal", False),
        row.get("phases", False),
        values.get("remark", ""),
    )


# --- devices ---


def usable_devices(rows: Sequence[Any]) -> list[Configuration]:
    devices = [Configuration.of(row) for row in rows if row.usable and not row.is_reference]
    return sorted(devices, key=lambda one: one.kind != ONE_CORE)


def placements(on: str, devices: Sequence[Configuration], options: argparse.Namespace) -> list[list[Configuration]]:
    """Return the devices of each case of a row; see `cases.toml`."""
    gpus = [device for device in devices if device.kind == "gpu"]
    others = [device for device in devices if device.kind != "gpu"]
    if on in ("ranks of cores", "ranks of GPUs"):
        by_gpus = rank_gpus(gpus, options)
        firsts = by_gpus if on == "ranks of GPUs" else (others or devices)[: not by_gpus]
        return [[first, replace(first, ranks=options.ranks)] for first in firsts]
    alone = [[one] for one in (gpus if on == "gpu" else others)]
    return {
        "one core": alone[:1] if others and others[0].kind == ONE_CORE else [],
        "cores": [others] * bool(others),
    }.get(on, alone)


def rank_gpus(gpus: Sequence[Configuration], options: argparse.Namespace) -> list[Configuration]:
    """Return the first GPU of each backend that has one for every rank, that of ``--backend auto`` first."""
    by_backend = {gpu.backend: [one for one in gpus if one.backend == gpu.backend] for gpu in gpus}
    enough = [of[0] for of in by_backend.values() if len(of) >= options.ranks]
    return sorted(enough, key=lambda one: one.backend != backends.automatic("gpu"))


def device_label(place: Configuration) -> str:
    """Return a device's name: the backend, with the device if not the first, or the number of ranks."""
    if place.ranks > 1:
        return f"{place.ranks} ranks"
    return place.backend if place.device == "0" else f"{place.backend} {place.device}"
