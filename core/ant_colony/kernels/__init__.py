"""Ant colony optimisation (`menezes2019`): tours of ants, roulette selection and pheromone, all in integers.

`published_ants` has the paper's own mapping; `neighbour_queue` is a local search of ants' tours.
"""
