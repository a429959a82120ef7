/* Iterative hill climbing (oneil2011) on one core: a reference program of drivers.bench.
 *
 * Plain C: every climb starts from a random tour and takes the best of all 2-opt moves until none makes the tour
 * shorter. Ordinary loops that `gcc -O3 -march=native` turns into vector code. It does the suite's work climb for
 * climb, so its digest must be theirs: the paper's generator, and of moves that gain the same the one with the smallest
 * i, then the smallest j. With -DORDERED every tour has its own copy of the distances in the order of its cities, as
 * core/hill_climbing/kernels/columns.py has it: scans then read consecutive memory, and moves have more to turn round.
 *
 *     hill_climbing FILE CLIMBERS
 *
 * FILE, written by drivers/experiments/c_programs.py, little-endian: uint64 n; n * n distances, uint32. Prints the best
 * length, the smallest climber that reached it, steps and evaluated moves of all climbs, digest, and their seconds.
 */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FEWEST_CITIES = 5, MOST_CITIES = 46340 };

typedef struct {
    int32_t n;
    const int32_t *distances;   /* n * n */
    int32_t *ordered;           /* with ORDERED n rows of n + 1: row c has the distances from city c along the tour */
    int32_t *tour;              /* n + 1 cities, the last is the first again */
    int32_t *edges;             /* n lengths, of the edge after each position */
} Climb;

/* Reverses positions i + 1 to j. */
typedef struct {
    int32_t gain, i, j;
} Move;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "hill_climbing: %s\n", what);
    exit(2);
}

static void *allocated(size_t count, size_t size)
{
    void *memory = aligned_alloc(64, (count * size + 63) / 64 * 64);
    if (!memory)
        fail("out of memory");
    return memory;
}

static uint64_t scrambled(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The distances from a city, and where among them stands that to the city at a position of the tour. */
#ifdef ORDERED
#define ROW(climb, city) ((climb)->ordered + (size_t)(city) * ((climb)->n + 1))
#define COLUMN(climb, position) (position)
#else
#define ROW(climb, city) ((climb)->distances + (size_t)(city) * (climb)->n)
#define COLUMN(climb, position) ((climb)->tour[position])
#endif

/* A random tour from city 0, by the linear congruential generator of the paper's released program. */
static void start(Climb *climb, uint64_t climber)
{
    const int32_t n = climb->n;
    int32_t *tour = climb->tour;
    uint32_t x = climber & 0x7FFFFFFF;
    for (int32_t p = 0; p < n; p++)
        tour[p] = p;
    for (int32_t p = 1; p < n; p++) {
        x = (x * 1103515245u + 12345u) & 0x7FFFFFFF;
        const int32_t q = 1 + x % (uint32_t)(n - 1), city = tour[p];
        tour[p] = tour[q];
        tour[q] = city;
    }
    tour[n] = tour[0];
    for (int32_t p = 0; p < n; p++)
        climb->edges[p] = climb->distances[(size_t)tour[p] * n + tour[p + 1]];
#ifdef ORDERED
    for (int32_t c = 0; c < n; c++)
        for (int32_t p = 0; p <= n; p++)
            climb->ordered[(size_t)c * (n + 1) + p] = climb->distances[(size_t)c * n + tour[p]];
#endif
}

/* The best move; its gain is 0 in a local optimum. A row's largest gain is found first and its j afterwards, so that
 * the inner loop has no branch. */
static Move best_move(const Climb *climb)
{
    const int32_t n = climb->n;
    const int32_t *tour = climb->tour, *edges = climb->edges;
    Move best = {0, 0, 0};
    for (int32_t i = 0; i < n - 2; i++) {
        const int32_t *here = ROW(climb, tour[i]), *after = ROW(climb, tour[i + 1]);
        int32_t most = INT32_MIN;
        for (int32_t j = i + 2; j < n; j++) {
            const int32_t gain = edges[j] - here[COLUMN(climb, j)] - after[COLUMN(climb, j + 1)];
            most = gain > most ? gain : most;
        }
        if (most + edges[i] > best.gain) {
            int32_t j = i + 2;
            while (edges[j] - here[COLUMN(climb, j)] - after[COLUMN(climb, j + 1)] != most)
                j++;
            best = (Move){most + edges[i], i, j};
        }
    }
    return best;
}

static void reverse(int32_t *sequence, int32_t first, int32_t last)
{
    for (; first < last; first++, last--) {
        const int32_t kept = sequence[first];
        sequence[first] = sequence[last];
        sequence[last] = kept;
    }
}

static void apply(Climb *climb, Move move)
{
    const int32_t i = move.i, j = move.j;
    const int32_t ahead = ROW(climb, climb->tour[i])[COLUMN(climb, j)];
    const int32_t behind = ROW(climb, climb->tour[i + 1])[COLUMN(climb, j + 1)];
#ifdef ORDERED
    for (int32_t c = 0; c < climb->n; c++)
        reverse(climb->ordered + (size_t)c * (climb->n + 1), i + 1, j);
#endif
    reverse(climb->tour, i + 1, j);
    reverse(climb->edges, i + 1, j - 1);
    climb->edges[i] = ahead;
    climb->edges[j] = behind;
}

static Climb read_instance(const char *path)
{
    uint64_t n;
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot open the instance");
    if (fread(&n, sizeof n, 1, file) != 1)
        fail("the instance is cut short");
    if (n < FEWEST_CITIES || n > MOST_CITIES)
        fail("expected 5 to 46340 cities");
    int32_t *distances = allocated(n * n, sizeof *distances);
    if (fread(distances, sizeof *distances, n * n, file) != n * n)
        fail("the instance is cut short");
    fclose(file);
    Climb climb = {.n = n, .distances = distances};
#ifdef ORDERED
    climb.ordered = allocated(n * (n + 1), sizeof *climb.ordered);
#endif
    climb.tour = allocated(n + 1, sizeof *climb.tour);
    climb.edges = allocated(n, sizeof *climb.edges);
    return climb;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: hill_climbing FILE CLIMBERS");
    Climb climb = read_instance(argv[1]);
    const uint64_t climbers = strtoull(argv[2], 0, 10);
    if (!climbers || climbers > UINT32_MAX)
        fail("CLIMBERS is at least 1 and has 32 bits");

    uint64_t best = UINT64_MAX, all_steps = 0, digest = 0;
    const double began = now();
    for (uint64_t climber = 0; climber < climbers; climber++) {
        start(&climb, climber);
        uint32_t steps = 1, length = 0;     /* the last step finds no move */
        for (Move move; (move = best_move(&climb)).gain > 0; steps++)
            apply(&climb, move);
        for (int32_t p = 0; p < climb.n; p++)
            length += climb.edges[p];
        const uint64_t key = (uint64_t)length << 32 | climber;
        best = key < best ? key : best;
        all_steps += steps;
        digest += scrambled(scrambled(climber + 0x9E3779B97F4A7C15u) ^ (uint64_t)length << 32 ^ steps);
    }
    const double seconds = now() - began;
    const uint64_t moves = all_steps * ((uint64_t)climb.n * (climb.n - 3) / 2);
    printf("best %" PRIu64 " index %" PRIu64 " steps %" PRIu64 " evaluations %" PRIu64 " digest %016" PRIx64
           " seconds %.9f\n", best >> 32, best & UINT32_MAX, all_steps, moves, digest, seconds);
    return 0;
}
