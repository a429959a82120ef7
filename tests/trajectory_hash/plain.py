"""The hashes of `docs/trajectory-hash.md`, written from that page alone: plain Python, no package.

`python plain.py vectors.json` prints the hash of every vector.
"""

import json
import sys
from hashlib import blake2b
from math import isqrt

M32, M64, GOLDEN = 2**32 - 1, 2**64 - 1, 0x9E3779B97F4A7C15


def splitmix64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def random_word(seed, stream, step, attempt=0):
    c, low, high = [step, attempt, stream & M32, stream >> 32], seed & M32, seed >> 32
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [second >> 32 ^ c[1] ^ low, second & M32, first >> 32 ^ c[3] ^ high, first & M32]
        low, high = low + 0x9E3779B9 & M32, high + 0xBB67AE85 & M32
    return c[0]


def random_below(bound, seed, stream, step):
    attempt = 0
    while (product := random_word(seed, stream, step, attempt) * bound) & M32 < 2**32 % bound:
        attempt += 1
    return product >> 32


def hill_climbing(points, climbers):
    n, total = len(points), 0
    d = [[isqrt(4 * ((x - u) ** 2 + (y - v) ** 2) + 1) + 1 >> 1 for u, v in points] for x, y in points]
    for climber in range(climbers):
        tour, x, steps = list(range(n)), climber, 0
        for p in range(1, n):
            x = (1103515245 * x + 12345) % 2**31
            q = 1 + x % (n - 1)
            tour[p], tour[q] = tour[q], tour[p]
        while True:
            steps += 1
            t = [*tour, tour[0]]
            moves = (
                (d[t[i]][t[i + 1]] + d[t[j]][t[j + 1]] - d[t[i]][t[j]] - d[t[i + 1]][t[j + 1]], -i, -j)
                for i in range(n)
                for j in range(i + 2, n)
            )
            gain, minus_i, minus_j = max(moves)
            if gain <= 0:
                break
            reversed_part = slice(1 - minus_i, 1 - minus_j)
            tour[reversed_part] = tour[reversed_part][::-1]
        length = sum(d[a][b] for a, b in zip(tour, t[1:], strict=True))
        total += splitmix64(splitmix64(climber + GOLDEN & M64) ^ length << 32 ^ steps)
    return f"{total & M64:016x}"


def tabu_search(flows, distances, walks, iterations, seed):
    n, total = len(flows), 0
    tenure, span = 9 * n // 10, n // 5
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]

    def cost_of(p):
        return sum(flows[i][j] * distances[p[i]][p[j]] for i in range(n) for j in range(n))

    for walk in range(walks):
        p, digest = list(range(n)), 0
        for k in range(n - 1, 0, -1):
            q = random_below(k + 1, seed, walk, k)
            p[k], p[q] = p[q], p[k]
        cost = best = cost_of(p)
        forbidden = [[0] * n for _ in range(n)]
        for iteration in range(iterations):
            chosen = None
            for index, (i, j) in enumerate(pairs):
                p[i], p[j] = p[j], p[i]
                new = cost_of(p)
                is_tabu = min(forbidden[i][p[i]], forbidden[j][p[j]]) > iteration
                p[i], p[j] = p[j], p[i]
                if (not is_tabu or new < best) and (chosen is None or new < chosen[0]):
                    chosen = new, index
            if chosen is None:
                continue
            cost, index = chosen
            i, j = pairs[index]
            expiry = iteration + 1 + tenure + random_word(seed, walk + (4 << 32), iteration) % (span + 1)
            forbidden[i][p[i]] = forbidden[j][p[j]] = expiry
            p[i], p[j] = p[j], p[i]
            best = min(best, cost)
            digest = splitmix64(digest + GOLDEN & M64 ^ (index << 32 | cost & M32))
        total += splitmix64(digest ^ (walk + 1) * GOLDEN & M64)
    return f"{total & M64:016x}"


def common_subsequence(a, b, trace):
    row = [[0] * (len(b) + 1)]
    for x in a:
        above = row[-1]
        row.append([0])
        for j, y in enumerate(b, 1):
            row[-1].append(above[j - 1] + 1 if x == y else max(above[j], row[-1][j - 1]))
    i, j, pairs = len(a), len(b), []
    while trace and row[i][j]:
        while row[i][j - 1] == row[i][j]:
            j -= 1
        while row[i - 1][j] == row[i][j]:
            i -= 1
        i, j = i - 1, j - 1
        pairs = [i, j, *pairs]
    content = str(row[-1][-1]).encode() + b"".join(k.to_bytes(8, "little") for k in pairs)
    return blake2b(content, digest_size=8).hexdigest()


PROGRAMS = {"hill climbing": hill_climbing, "tabu search": tabu_search, "common subsequence": common_subsequence}

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        vectors = json.load(file)
    for vector in vectors:
        print(PROGRAMS[vector["algorithm"]](**vector["arguments"]), vector["hash"], vector["algorithm"])
