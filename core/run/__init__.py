"""Common parts of all searches: protocols, loop, stop criteria, progress, checkpoints and partition.

A `Search` gets a problem in its constructor. Its `run` takes a `Stop`, a callback and a `Checkpointer`, makes a `Run`,
and calls the `Steps` of the search until it is over; the result is a `SearchResult`.

Other packages import `protocol`, `stop` and `checkpoint`; every search imports the rest. A search receives a backend
and a communicator of any kind, of which `devices` has what searches use. Options and files belong to `drivers`.
"""
