"""Program for the system's Python, which has SimGrid: builds a platform, simulates exchanges of actors, prints times.

Reads JSON from standard input: `hosts` and `sites` (of each rank), `cores`, `between_hosts` and `between_sites` (each
[latency in s, bytes per s]; the last with a latency for each pair of sites), `exchange` (a name below), `bytes`,
`compute_s`, `pieces`, `iterations`. Prints when the last actor ended each iteration.

SimGrid's correction factors are switched off: `network/model:CM02` with factors of 1, no TCP window (gamma), no
cross-traffic. Short messages are received at once (a mailbox with a receiver), as in MPI.
"""

import json
import sys

from simgrid import Actor, Comm, Engine, Host, Link, LinkInRoute, Mailbox, NetZone, this_actor

SETTINGS = (
    "network/model:CM02",
    "network/bandwidth-factor:1.0",
    "network/latency-factor:1.0",
    "network/TCP-gamma:0",
    "network/weight-S:0",
    "network/crosstraffic:0",
)
FLOPS = 1e9
EAGER = 4096
"""Bytes from which a message waits for its receiver, as MPI's long ones do."""
READY_S = 1.0
"""Seconds until all actors have started."""
actors, ended = {}, {}


# --- the platform ---


def link(zone, name, latency, bandwidth, shared=True):
    created = zone.create_link(name, bandwidth)
    created.set_latency(latency)
    if not shared:
        created.set_sharing_policy(Link.SharingPolicy.FATPIPE, None)
    return created.seal()


def build(asked):
    """Make a host of SimGrid for every rank; routes pass its machine's network card and its site's line."""
    zone = NetZone.create_full_zone("all")
    places = list(zip(asked["hosts"], asked["sites"], strict=True))
    hosts = [zone.create_host(f"rank{rank}", FLOPS) for rank in range(len(places))]
    cores, cards, lines = asked["cores"], asked["between_hosts"], asked["between_sites"]
    inside = link(zone, "memory", *cores, shared=False)
    card = {
        (machine, way): link(zone, f"card{machine}{way}", cards[0] / 2, cards[1])
        for machine in set(asked["hosts"])
        for way in ("out", "in")
    }
    line, travel = {}, {}
    for site in set(asked["sites"]):
        for way in ("out", "in"):
            line[site, way] = link(zone, f"line{site}{way}", 0.0, lines[1])
        for other in set(asked["sites"]) - {site}:
            latency = lines[0][abs(site - other) - 1] - cards[0]
            travel[site, other] = link(zone, f"way{site}to{other}", latency, lines[1], shared=False)
    for source, (machine, site) in enumerate(places):
        for target, (other, there) in enumerate(places):
            if source == target:
                continue
            if machine == other:
                passed = [inside]
            elif site == there:
                passed = [card[machine, "out"], card[other, "in"]]
            else:
                far = [line[site, "out"], travel[site, there], line[there, "in"]]
                passed = [card[machine, "out"], *far, card[other, "in"]]
            ends = hosts[source].netpoint, hosts[target].netpoint
            zone.add_route(*ends, None, None, [LinkInRoute(one) for one in passed], False)
    zone.seal()


# --- ranks ---


class Rank:
    """An actor that sends and receives by separate mailboxes, one for each message."""

    def __init__(self, asked, number):
        self.asked, self.number, self.size = asked, number, len(asked["hosts"])
        self.bytes, self.prefix, self.sent = asked["bytes"], "", []

    def __call__(self):
        this_actor.sleep_until(READY_S)
        for iteration in range(self.asked["iterations"]):
            self.prefix = str(iteration)
            EXCHANGES[self.asked["exchange"]](self)
            ended.setdefault(iteration, []).append(Engine.clock - READY_S)
        Comm.wait_all(self.sent)  # messages of an actor are lost when it ends

    def compute(self, seconds):
        this_actor.execute(seconds * FLOPS)

    def send(self, to, tag, size):
        mailbox = Mailbox.by_name(f"{self.prefix} {to} {tag}")
        if 0 < size < EAGER:
            mailbox.set_receiver(actors[to])
        if size > 0:
            self.sent.append(mailbox.put_async(b"x", round(size)))

    def receive(self, tag):
        Mailbox.by_name(f"{self.prefix} {self.number} {tag}").get()

    def exchange(self, other, tag, size):
        self.send(other, tag, size)
        self.receive(tag)


def folded(rank, body):
    """Let the ranks beyond a power of two send their data to a neighbour, and receive the result."""
    power = 1
    while 2 * power <= rank.size:
        power *= 2
    beyond = rank.size - power
    if rank.number < 2 * beyond and rank.number % 2 == 0:
        rank.send(rank.number + 1, "fold", rank.bytes)
        rank.receive("unfold")
        return
    if rank.number < 2 * beyond:
        rank.receive("fold")
    mine = rank.number // 2 if rank.number < 2 * beyond else rank.number - beyond
    body(rank, mine, power, lambda new: 2 * new + 1 if new < beyond else new + beyond)
    if rank.number < 2 * beyond:
        rank.send(rank.number - 1, "unfold", rank.bytes)


def doubling(rank):
    def body(rank, mine, power, real):
        mask = 1
        while mask < power:
            rank.exchange(real(mine ^ mask), f"d{mask}", rank.bytes)
            mask *= 2

    rank.compute(rank.asked["compute_s"])
    folded(rank, body)


def halving(rank):
    def body(rank, mine, power, real):
        mask, part = power // 2, rank.bytes
        while mask:
            part /= 2
            rank.exchange(real(mine ^ mask), f"h{mask}", part)
            mask //= 2
        mask = 1
        while mask < power:
            rank.exchange(real(mine ^ mask), f"g{mask}", part)
            mask, part = 2 * mask, 2 * part

    rank.compute(rank.asked["compute_s"])
    folded(rank, body)


def up_and_down(rank, members, tag, between=lambda: None):
    """A tree over some ranks: to the first of them, then the part between, then back."""
    place, mask, up = members.index(rank.number), 1, []
    while mask < len(members):
        if place & mask:
            rank.send(members[place - mask], f"{tag}up{mask}", rank.bytes)
            rank.receive(f"{tag}down")
            break
        if place + mask < len(members):
            rank.receive(f"{tag}up{mask}")
            up.append(members[place + mask])
        mask *= 2
    if place == 0:
        between()
    for child in reversed(up):
        rank.send(child, f"{tag}down", rank.bytes)


def hosts_first(rank):
    rank.compute(rank.asked["compute_s"])
    hosts = rank.asked["hosts"]
    ranks = [other for other in range(rank.size) if hosts[other] == hosts[rank.number]]
    firsts = [hosts.index(host) for host in sorted(set(hosts))]
    up_and_down(rank, ranks, "host", lambda: up_and_down(rank, firsts, "all"))


def strips(rank):
    for piece in range(rank.asked["pieces"]):
        if rank.number > 0:
            rank.receive(f"p{piece}")
        rank.compute(rank.asked["compute_s"])
        if rank.number + 1 < rank.size:
            rank.send(rank.number + 1, f"p{piece}", rank.bytes)


EXCHANGES = {"doubling": doubling, "halving": halving, "hosts first": hosts_first, "strips": strips}


def main():
    asked = json.load(sys.stdin)
    engine = Engine(["replay", "--log=root.thresh:error", *(f"--cfg={setting}" for setting in SETTINGS)])
    build(asked)
    for number in range(len(asked["hosts"])):
        actors[number] = Actor.create(f"actor{number}", Host.by_name(f"rank{number}"), Rank(asked, number))
    engine.run()
    assert len(ended[asked["iterations"] - 1]) == len(asked["hosts"]), "not all actors came to their end"
    print(json.dumps([max(times) for _, times in sorted(ended.items())]))


main()
