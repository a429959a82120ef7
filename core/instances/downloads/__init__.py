"""Downloads of instances: collections and their addresses, the instances of each paper, digests, limits."""
