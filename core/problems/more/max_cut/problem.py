"""Max-cut for local search: the quadratic form of a graph, see `core.problems.more.max_cut.qubo`."""

import os

from core.arguments import loaded_instance
from core.problems.instances.errors import InstanceError
from core.problems.more.max_cut import graphs, quadratic_forms
from core.problems.more.max_cut.qubo import Qubo


class MaxCut(Qubo):
    """Divide the vertices of a graph in two with the largest weight between the parts; the cost is minus that.

    Parameters
    ----------
    instance : core.problems.more.max_cut.graphs.GraphInstance or str
        The graph, or its path, name or generator, see `core.problems.more.max_cut.graphs.load`:
        ``random:100:density=0.1``.
    data : path, optional
        Folder of instances, searched first.

    Raises
    ------
    InstanceError
        No such graph, too large sums of weights, or an instance for more than two parts.
    """

    tested = True

    def __init__(self, instance: graphs.GraphInstance | str, data: str | os.PathLike | None = None) -> None:
        graph = loaded_instance(instance, graphs.GraphInstance, lambda name: graphs.load(name, data))
        if graph.k != 2:
            raise InstanceError(graph.name, None, f"{graph.k} parts", "2; `MaxKCut` divides in more")
        super().__init__(quadratic_forms.of_graph(graph))
        self.graph, self.tenures = graph, {"flip1": (graph.n // 20, graph.n // 20)}
