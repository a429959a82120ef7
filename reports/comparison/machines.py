"""Machines of records, distinguished by hardware: records of several commits on one machine share its letter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reports.records.schema import Record
from reports.text.formatting import letters, machine

EQUAL_VALUES = ("host", "cpu_model", "cores", "host_count")
EQUAL_IF_RECORDED = (
    *("sockets", "physical_cores", "hardware_threads", "cpu_mhz_nominal", "cpu_mhz_max"),
    *("virtual", "memory_gib"),
)
GPUS = "gpus"
SEPARATOR = " / "
"""Separator of versions of one machine's records."""


def letter_machines(records: Iterable[Record]) -> dict[str, Mapping[str, Any]]:
    """Give each machine of the records a letter.

    Returns environments by letter: that of the machine's first record, with hardware that other records name. Versions
    that differ among its records are listed.
    """
    machines: list[dict[str, Any]] = []
    for record in records:
        environment = _environment(record)
        machine = next((machine for machine in machines if _is_same(machine, environment)), None)
        if machine is None:
            machines.append(environment)
        else:
            machine.update(_joined(machine, environment))
    return {letters(position).upper(): environment for position, environment in enumerate(machines)}


def describe_machines(records: Iterable[Record]) -> list[str]:
    return [machine(environment) for environment in letter_machines(records).values()]


def machine_letter(record: Record, machines: Mapping[str, Mapping[str, Any]]) -> str:
    environment = _environment(record)
    return next(letter for letter, one in machines.items() if _is_same(one, environment))


def _environment(record: Record) -> dict[str, Any]:
    """Environment of a record, with the GPU that it ran on if no GPUs are recorded."""
    named = record.details.get("device_name")
    used = {GPUS: [str(named)]} if named and record.device_kind == "gpu" else {}
    return used | dict(record.environment)


def _is_same(machine: Mapping[str, Any], environment: Mapping[str, Any]) -> bool:
    """True if no hardware is known to differ; CUDA and OpenCL may shorten each other's names of a GPU."""
    theirs, ours = machine.get(GPUS) or [], environment.get(GPUS) or []
    gpus = not theirs or not ours or any(one in other or other in one for one in theirs for other in ours)
    known = [name for name in EQUAL_IF_RECORDED if machine.get(name) is not None and environment.get(name) is not None]
    return gpus and all(machine.get(name) == environment.get(name) for name in (*EQUAL_VALUES, *known))


def _joined(machine: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    joined = {**environment, **machine}
    for name in ("commit", "python", "os"):
        joined[name] = _listed(machine.get(name), environment.get(name))
    versions = [one.get("packages") or {} for one in (machine, environment)]
    if any(versions):
        names = dict.fromkeys(name for version in versions for name in version)
        joined["packages"] = {name: _listed(*(version.get(name) for version in versions)) for name in names}
    return {name: value for name, value in joined.items() if value is not None}


def _listed(before: str | None, more: str | None) -> str | None:
    known = before.split(SEPARATOR) if before else []
    return SEPARATOR.join(dict.fromkeys([*known, *([more] if more else [])])) or None
