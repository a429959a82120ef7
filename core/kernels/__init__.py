"""The algorithms, written once in the kernel language: a package for each family, which says where its idea comes from.

Kernels are launched by `core.search`; problems use the moves and bundles of `local_search`.
Host code, launch shapes and names of devices do not belong here.
"""
