"""Makespans of a flow shop with a job inserted at every position, in time proportional to the number of operations.

Source: E. Taillard, "Some efficient heuristic methods for the flow shop sequencing problem", European Journal of
Operational Research 47, 1990.
"""

from core.lang import Array, Row, barrier, bundle, function, i32, lane, max, team_size


@bundle
class InsertionShop:
    """Processing time of each job on each machine, with heads and tails of every machine for a walk.

    Row p of ``heads`` has the completion times of the first p jobs of an order; row p of ``tails`` has the times from
    the start of the job at position p to the end.
    """

    times: Array[i32]
    heads: Array[i32] = Row("cells")
    tails: Array[i32] = Row("cells")
    jobs: i32
    machines: i32
    cells: i32


@function
def head_and_tail(order: Array[i32], count: i32, p: i32, shop: InsertionShop):
    """Store the heads of p + 1 jobs and the tails of as many, from those of p; one lane calls this."""
    machines = shop.machines
    job, head = order[p] * machines, p * machines
    other, tail = (order[count - 1 - p] + 1) * machines - 1, (count - p + 1) * machines - 1
    ready, waiting = 0, 0
    for machine in range(machines):
        ready = max(ready, shop.heads[head + machine]) + shop.times[job + machine]
        shop.heads[head + machines + machine] = ready
        waiting = max(waiting, shop.tails[tail - machine]) + shop.times[other - machine]
        shop.tails[tail - machines - machine] = waiting


@function
def diagonal(order: Array[i32], count: i32, step: i32, shop: InsertionShop):
    """Store heads and tails on one diagonal: numbers of job and machine add up to ``step``. All lanes share it."""
    machines = shop.machines
    for k in range(lane(), 2 * machines, team_size()):
        machine = k >> 1
        p = step - machine
        if 0 <= p < count:
            if k & 1 == 0:
                ready = shop.heads[p * machines + machine]
                if machine > 0:
                    ready = max(ready, shop.heads[(p + 1) * machines + machine - 1])
                shop.heads[(p + 1) * machines + machine] = ready + shop.times[order[p] * machines + machine]
            else:
                position = count - 1 - p
                cell = (position + 1) * machines - 1 - machine
                waiting = shop.tails[cell + machines]
                if machine > 0:
                    waiting = max(waiting, shop.tails[cell + 1])
                time = shop.times[(order[position] + 1) * machines - 1 - machine]
                shop.tails[cell] = waiting + time


@function
def insertion_makespans(order: Array[i32], count: i32, element: i32, changes: Array[i32], shop: InsertionShop):
    """Write the increase of an order's makespan by a job at each position."""
    machines = shop.machines
    for machine in range(lane(), machines, team_size()):
        shop.heads[machine] = 0
        shop.tails[count * machines + machine] = 0
    barrier()
    if team_size() == 1:
        for p in range(count):
            head_and_tail(order, count, p, shop)
    else:
        for step in range(count + machines - 1 if count > 0 else 0):
            diagonal(order, count, step, shop)
            barrier()
    makespan = shop.heads[(count + 1) * machines - 1]
    for p in range(lane(), count + 1, team_size()):
        ready, longest = 0, 0
        for machine in range(machines):
            ready = max(ready, shop.heads[p * machines + machine]) + shop.times[element * machines + machine]
            longest = max(longest, ready + shop.tails[p * machines + machine])
        changes[p] = longest - makespan
