"""Tables of `python -m cluster check`; only the rank that prints them imports this."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from cluster.measure.measurement import ClusterMeasurement, Network, RankSpeed
from reports.text.formatting import rate as per_second
from reports.text.formatting import seconds, size
from reports.text.tables import TextTable

PLACES = {"on one host": True, "between hosts": False}


def check_tables(measured: ClusterMeasurement) -> Iterator[TextTable]:
    yield message_table(measured)
    sizes = {one.bytes: f">{size(one.bytes)}" for one in measured.reductions}
    rows: dict[int, list[str]] = {}
    for reduction in measured.reductions:
        rows.setdefault(reduction.ranks, [f"{reduction.ranks} ranks"]).append(seconds(reduction.seconds))
    yield TextTable("", ("reduction of", *sizes.values()), list(rows.values()))
    yield rank_table(measured.ranks)


def message_table(measured: ClusterMeasurement) -> TextTable:
    def row(title: str, same_host: bool, network: Network) -> tuple[str, ...]:
        links = [link for link in measured.links if link.same_host is same_host]
        slowest = max(links, key=lambda link: link.alpha_s)
        bandwidth = f"{per_second(1 / network.beta_s_per_byte)}B/s" if network.beta_s_per_byte else "not limited"
        most = f"{seconds(slowest.alpha_s)} ({slowest.source}, {slowest.target})"
        return title, str(len(links)), seconds(network.alpha_s), bandwidth, most

    kinds = [(title, same, measured.network(same_host=same)) for title, same in PLACES.items()]
    headings = ("messages", ">pairs", ">latency (alpha)", ">bandwidth (1/beta)", ">slowest pair")
    return TextTable("", headings, [row(title, same, network) for title, same, network in kinds if network])


def rank_table(ranks: tuple[RankSpeed, ...]) -> TextTable:
    """Speeds of ranks: a row for ranks of a host with one kind of device."""
    alike: dict[str, list[RankSpeed]] = {}
    for rank in ranks:
        alike.setdefault(f"{rank.host}, {rank.backend} ({rank.device})", []).append(rank)
    return TextTable.of(
        "",
        alike.items(),
        {
            ranks[0].kernel: lambda row: row[0],
            ">ranks": lambda row: len(row[1]),
            ">neighbours/s": lambda row: per_second(median(rank.rate for rank in row[1])),
            ">least..most": lambda row: "..".join(per_second(end(rank.rate for rank in row[1])) for end in (min, max)),
            ">alone": lambda row: per_second(median(rank.rate_in_turn for rank in row[1])),
        },
    )
