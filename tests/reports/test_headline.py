"""The first sentence of a report."""

import pytest

from reports.comparison.headline import headline
from reports.comparison.speedups import compare

CUDA, THREADS = {"backend": "cuda"}, {"backend": "threads"}
FULL, PRUNED = {"execution": {"scan": "full"}}, {"execution": {"scan": "pruned"}}
INCREMENTAL, LINEAR = {"execution": {"evaluation": "incremental"}}, {"execution": {"evaluation": "linear"}}
SIMULATED = CUDA | {"details": {"simulated": True}}
SIX = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
SAID = {
    "the fastest, with both times": ([([2.0], {}), ([1.0], THREADS), ([0.1], CUDA)],
        "cuda is 20.0x as fast as one core: 100 ms against 2.00 s."),
    "none beats one core": ([([1.0], {}), ([4.0], CUDA), ([2.0], THREADS)],
        "None beats one core: cpu is the fastest with 1.00 s. The next is threads with 2.00 s, 0.500x as fast."),
    "six times that overlap": ([(SIX, {}), ([0.9, 1.0, 1.1, 1.2, 1.3, 1.6], THREADS)],
        "... not significantly faster than one core ..."),
    "two times that overlap": ([([1.0, 1.3], {}), ([0.9, 1.1], THREADS)],
        "... not significantly faster than one core ..."),
    "a faster baseline in another way": ([([10.0], FULL), ([1.0], PRUNED), ([0.5], CUDA | FULL)],
        "cuda is 20.0x as fast as one core: 500 ms against 10.0 s. The fastest run on one core is cpu (scan = pruned) "
        "with 1.00 s, and over that it is 2.00x."),
    "a fast way on one core": ([([10.0], FULL), ([1.0], PRUNED), ([2.0], CUDA | FULL)], "None beats one core..."),
    "simulated beside one core": ([([1.0], {}), ([0.1], SIMULATED)], "Only one core ran: cpu took 1.00 s."),
    "simulated alone": ([([0.1], SIMULATED)], "All runs are simulated, so no time is that of a device."),
    "without one core": ([([1.0], CUDA)],
        "The fastest is cuda with 1.00 s; there is no run on one core to compare with."),
    "another algorithm": ([([1.0], INCREMENTAL), ([0.1], CUDA | LINEAR)],
        "... with 100 ms, and its algorithm did not run on one core: no ratio."),
    "a busy core": ([([25.5, 30.2, 35.1], {}), ([0.025], CUDA)],
        "cuda is 1,208x as fast as one core: 25.0 ms against 30.2 s. Doubtful, its baseline: spread above 10 % of the "
        "median (from the shortest to the longest time): 32 %."),
    "a quiet core": ([([30.0, 30.2, 30.4], {}), ([0.025], CUDA)],
        "cuda is 1,208x as fast as one core: 25.0 ms against 30.2 s."),
}  # fmt: skip
"""Times and other fields of runs, and their sentence; dots stand for further words."""


@pytest.mark.parametrize(("runs", "said"), SAID.values(), ids=SAID)
def test_the_first_sentence_is_the_most_that_the_runs_show(make_record, runs, said):
    text = headline(compare([make_record(times=times, **changes) for times, changes in runs]))
    assert all(part.strip() in text for part in said.split("..."))
    assert "..." in said or text == said
