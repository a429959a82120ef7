"""Ant colony optimisation (`menezes2019`): tours of ants, roulette selection and pheromone, all in integers.

`published_ants` has the paper's own mapping; `core.search.ant_colony` launches all of these kernels.
The local search of ants' tours is in `core.kernels.two_opt.neighbour_queue`.
"""
