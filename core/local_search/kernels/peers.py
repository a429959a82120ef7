"""Ranks of one memory that agree on the smallest key inside a kernel: each writes its key into the others' mailboxes.

A reduction between two kernels costs a launch and two waits of the whole device. Here the team that makes the move
exchanges keys itself. All ranks' kernels run at the same time, each on a separate device.
"""

from __future__ import annotations

from core.lang import *

P = Generic("P")  # `Peers` or `NoPeers`

BOX = 1 << 18
"""Words from one rank's mailbox to the next: 2 MiB, a page of a GPU's memory, so that each lies on its rank's GPU."""


@bundle
class NoPeers:
    """The only rank of a search, or ranks that agree by a collective."""

    ranks: Const[i32]


@bundle
class Peers:
    """The ranks that search together, and their mailboxes, which all of them write.

    This rank exchanges keys with the ranks ``first`` to ``end - 1``: all, or in a rehearsal itself. ``mail`` has `BOX`
    words for each rank: two for each sender, for exchanges of even and of odd numbers. ``count`` has the number of
    exchanges so far.
    """

    rank: i32
    ranks: i32
    first: i32
    end: i32
    mail: Array[u64]
    count: Array[u64]


@function
def first_of_rank(neighbours: u32, rank: i32, ranks: i32) -> u32:
    """Return the first of a rank's part of the neighbours."""
    return u32(u64(neighbours) * u64(rank) // u64(ranks))


@function
def received(half: i32, number: u32, peers: Peers) -> u64:
    """Wait for half a key, and return it; the other half of its word has the number of the exchange."""
    word = atomic_add(peers.mail, half, u64(0))
    while u32(word >> u64(32)) != number:
        word = atomic_add(peers.mail, half, u64(0))
    return u64(u32(word))


@function
def least_of_ranks(key: u64, keys: Array[u64], peers: Peers) -> u64:
    """Return the smallest key of all ranks, also in ``keys[0]``, which has this rank's; the whole team calls it.

    A key is sent as two words, each with half of it and with the number of the exchange. Space for two exchanges is
    enough: an exchange needs all ranks, and no rank is more than one ahead.
    """
    number = u32(peers.count[0]) + u32(1)
    side = i32(number & u32(1)) * peers.ranks
    tag = u64(number) << u64(32)
    for rank in range(peers.first + lane(), peers.end, team_size()):
        slot = rank * BOX + 2 * (side + peers.rank)
        peers.mail[slot] = tag | u64(u32(key))
        peers.mail[slot + 1] = tag | (key >> u64(32))
    for rank in range(peers.first + lane(), peers.end, team_size()):
        slot = peers.rank * BOX + 2 * (side + rank)
        low = received(slot, number, peers)
        high = received(slot + 1, number, peers)
        atomic_min(keys, 0, (high << u64(32)) | low)
    barrier()
    if lane() == 0:
        peers.count[0] = u64(number)
    return keys[0]
