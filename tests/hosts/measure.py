"""What the wire really gives, beside what its profile states: `python -m tests.hosts.measure [NETWORK...]`.

Two hosts exchange 16 bytes over TCP again and again (a round trip, the least, the median and the 90th percentile of up
to 2,000), then one sends as fast as it can. A round trip includes what Python takes at both ends, some 10 us; a
profile's rate includes Ethernet's and TCP's headers, 6 % of full frames.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

from tests.hosts.hosts import Hosts, obstacle
from tests.hosts.profiles import PROFILES, profile

PORT = 5000
STREAM_S = 1.0
ROUND_TRIPS_S = 1.0
MOST_ROUND_TRIPS = 2000
MIB = 1 << 20
US = 1e-6

ANSWER = f"""
import socket, sys
listener = socket.socket()
listener.bind(("", int(sys.argv[1])))
listener.listen()
print("ready", flush=True)
while True:
    peer, _ = listener.accept()
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with peer:
        while words := peer.recv({MIB}):
            if len(words) == 16:
                peer.send(words)
"""
ASK = f"""
import json, socket, sys, time
def connected():
    peer = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer
peer, times = connected(), []
began = time.perf_counter()
while len(times) < {MOST_ROUND_TRIPS} and time.perf_counter() < began + {ROUND_TRIPS_S}:
    sent = time.perf_counter()
    peer.send(bytes(16))
    peer.recv(16)
    times.append(time.perf_counter() - sent)
peer, block, blocks = connected(), bytes({MIB}), 0
began = time.perf_counter()
while time.perf_counter() < began + {STREAM_S}:
    peer.sendall(block)
    blocks += 1
peer.shutdown(socket.SHUT_WR)
peer.recv(1)
print(json.dumps([sorted(times), blocks * {MIB} / (time.perf_counter() - began)]))
"""


class Found(NamedTuple):
    """What was measured between two hosts, in seconds and payload bytes per second."""

    least_s: float
    median_s: float
    slow_s: float
    bytes_per_s: float


def measured(hosts: Hosts, one: int, other: int, port: int = PORT) -> Found:
    """Measure between two hosts."""
    script = [sys.executable, "-S", "-c"]
    answering = hosts.start(other, [*script, ANSWER, port])
    try:
        assert answering.stdout is not None
        answering.stdout.readline()
        asked = hosts.run(one, [*script, ASK, hosts.name(other), port])
    finally:
        answering.terminate()
        answering.communicate()
    if asked.returncode:
        raise RuntimeError(asked.stderr)
    times, rate = json.loads(asked.stdout)
    return Found(times[0], times[len(times) // 2], times[len(times) * 9 // 10], rate)


def main() -> int:
    """Measure the networks and print a table."""
    why_not = obstacle()
    if why_not is not None:
        sys.exit(f"error: {why_not}")
    print("         stated    least   median 90th pc.     stated   found")
    for name in sys.argv[1:] or PROFILES:
        network = profile(name)
        with Hosts(network, 2) as hosts:
            found = measured(hosts, 0, 1)
        trips = (network.round_trips(2)[0][1], found.least_s, found.median_s, found.slow_s)
        shown = "".join(f" {seconds / US:8.0f}" for seconds in trips)
        rates = f"{network.bits_per_s / 1e9:7.1f} {found.bytes_per_s * 8 / 1e9:7.2f} Gb/s"
        print(f"{network.name:6}{shown} us {rates}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
