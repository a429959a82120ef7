"""One program per workload, and the comparison over all backends."""
