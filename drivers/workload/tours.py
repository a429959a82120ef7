"""What the workloads of the travelling salesman share: instances, the best tour's files, and who knows its length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.errors import UserError
from drivers.options.declaration import RESULTS, OptionGroup, Options, option
from drivers.options.output_files import OutputFile, reporting_write_errors
from drivers.workload.declaration import PUBLISHED_OPTIMUM, SCORER, Task, VerifierVerdict

# --- instances ---


def matrix_option(directed: bool) -> Any:
    """Declare `--matrix`; where distances may be directed, the way back may have another length."""
    form = "a NumPy .npy file or a text with a row a line"
    ways = f"a matrix of distances, {form}; the way back may have another length"
    both = f"a symmetric matrix of distances, {form}"
    return option(None, f"in place of --instance: {ways if directed else both}", metavar="FILE")


def available_instance(options: Options) -> Task:
    """The instance that the options name, else what is at hand."""
    from core.problems import tsp
    from core.problems.instances.sources import default_instance

    if options.instance is not None:
        instance = tsp.load(options.instance, options.data)
        return Task(options, instance, instance.source)
    spec, reason = default_instance(options.data)
    return Task(options, tsp.load(spec, options.data), reason)


def small_instance(options: Any, chosen: str, generated: str, *, symmetric: bool) -> Task:
    """The instance that `--matrix` or `--instance` names, else the chosen one if it is at hand, else a generated one.

    Raises
    ------
    UserError
        Both are given, or what is found is no instance.

    """
    from core.problems import tsp
    from core.problems.instances import sources

    if options.matrix is not None:
        from drivers.workload.matrix_files import load_matrix

        if options.instance is not None:
            raise UserError("--matrix and --instance: expected one of them")
        instance: Any = load_matrix(options.matrix, symmetric=symmetric)
    else:
        spec = options.instance or (chosen if sources.find(chosen, options.data) else generated)
        instance = tsp.load(spec, options.data)
    return Task(options, instance, instance.source)


def refuse_seed(options: Options) -> None:
    """Refuse a seed of a run in which nothing is random.

    Raises
    ------
    UserError
        One is given.

    """
    if options.seed or options.seeds:
        raise UserError("--seed changes nothing here: nothing is random (an instance has its own: uniform:20:seed=1)")


# --- results ---


def instance_details(instance: Any) -> Mapping[str, Any]:
    """What a record's details hold of an instance."""
    return {"cities": instance.n, "optimum": instance.optimum}


def tour_verdict(instance: Any, tour: Any, length: int) -> VerifierVerdict:
    """The plain scorer, which adds up a tour's distances."""
    scored = instance.tour_length(tour)
    return VerifierVerdict(SCORER, None if scored == length else f"the scorer finds length {scored}", scored)


def optimum_verdicts(instance: Any, length: int, *, exactly: bool) -> Iterator[VerifierVerdict]:
    """The published optimum: no tour is shorter, and one that is proved to be shortest is as long."""
    optimum = instance.optimum
    if optimum is None:
        return
    if length != optimum if exactly else length < optimum:
        yield VerifierVerdict("", f"the optimum is known to be {optimum}")
    elif exactly:
        yield VerifierVerdict(PUBLISHED_OPTIMUM)


# --- files ---


def tour_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--tour`."""
    return option(None, "save the best tour as a TSPLIB .tour file", OutputFile, "FILE", group=group)


def svg_option(group: OptionGroup = RESULTS) -> Any:
    """Declare `--svg`."""
    return option(None, "draw the best tour", OutputFile, "FILE", group=group)


def refuse_blank_drawing(options: Any, instance: Any) -> None:
    """Refuse `--svg` for an instance that cannot be drawn.

    Raises
    ------
    UserError
        It has distances and no coordinates.

    """
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")


def save_tour(options: Any, instance: Any, tour: Any, finder: str) -> None:
    """Write the best tour, if there is one, where the user asked for it; its file names the program that found it.

    Raises
    ------
    UserError
        The disk refuses.

    """
    if tour is None:
        return
    if options.tour:
        from core.problems.tsp import tour_files

        with reporting_write_errors(options.tour):
            tour_files.write(options.tour, tour, name=instance.name, comment=f"found by onekernel, {finder}")
    if options.svg:
        from reports.plots.tour import draw_tour

        with reporting_write_errors(options.svg), open(options.svg, "w", encoding="utf-8") as file:
            file.write(draw_tour(instance.display, tour, instance.name))
