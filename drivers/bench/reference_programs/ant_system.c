/* Ant System (menezes2019, section III) on one core: a reference program of drivers.bench.
 *
 * Plain C: one ant at a time, ordinary loops that `gcc -O3 -march=native` turns into vector code. It does the suite's
 * work draw for draw, so its digest must be theirs: counter-based random numbers, weights of 32-bit fixed point, and a
 * roulette that goes through a row of weights as a table of 32 columns, column by column. With -DVECTORS the tours are
 * those of ant_system_vectors.h: the same, as fast as we can write it in C.
 *
 *     ant_system FILE ANTS ITERATIONS RHO SEED     RHO: the rate of evaporation, times 2^32
 *
 * FILE, written by drivers/experiments/c_programs.py, little-endian: uint64 n; uint64 length of the nearest-neighbour tour;
 * n * n distances, uint32; n * n heuristic values, float32. Prints the best length, the first ant that had it,
 * digest, seconds of the iterations, and how many of these the tours took.
 */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 32, MOST_CITIES = 65535 };

typedef struct {
    uint32_t n;             /* cities */
    uint32_t rows;          /* of the table that a city's weights are: n / 32, rounded up */
    uint32_t stride;        /* elements of a city's weights: 32 * rows */
    uint64_t nearest;       /* length of the nearest-neighbour tour */
    uint32_t *distances;    /* n * n */
    float *heuristic;       /* n * n */
    uint32_t *pheromone;    /* n * n, 0 on the diagonal */
    uint32_t *weights;      /* n * stride, 0 on the diagonal and beyond n */
} Colony;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "ant_system: %s\n", what);
    exit(2);
}

static void *allocated(size_t count, size_t size)
{
    size_t bytes = (count * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    if (!memory)
        fail("out of memory");
    return memset(memory, 0, bytes);
}

static uint64_t scrambled(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static uint32_t high(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b >> 32;
}

/* The draws of all steps of an ant: Philox4x32-10, four words per counter. */
static void draw(uint32_t *draws, uint32_t count, uint32_t iteration, uint32_t ant, uint64_t seed)
{
    for (uint32_t k = 0; k < (count + 3) / 4; k++) {
        uint32_t a = k, b = iteration, c = ant, d = 0, low = seed, top = seed >> 32;
        for (int round = 0; round < 10; round++) {
            uint64_t first = (uint64_t)a * 0xD2511F53u, second = (uint64_t)c * 0xCD9E8D57u;
            a = (uint32_t)(second >> 32) ^ b ^ low;
            b = second;
            c = (uint32_t)(first >> 32) ^ d ^ top;
            d = first;
            low += 0x9E3779B9u;
            top += 0xBB67AE85u;
        }
        draws[4 * k] = a;
        draws[4 * k + 1] = b;
        draws[4 * k + 2] = c;
        draws[4 * k + 3] = d;
    }
}

/* Equation 1 in fixed point, alpha = 1: each row's weights sum to less than 2^32, the least is 1. */
static void weigh(const Colony *colony, float *attraction, uint32_t *share)
{
    const uint32_t n = colony->n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *pheromone = colony->pheromone + (size_t)i * n;
        const float *heuristic = colony->heuristic + (size_t)i * n;
        uint32_t *weights = colony->weights + (size_t)i * colony->stride;
        uint32_t most = 0;
        for (uint32_t j = 0; j < n; j++)
            most = pheromone[j] > most ? pheromone[j] : most;
        /* The bits of floats that are not negative are in the order of the floats, and their maximum is a vector's. */
        const float scale = (float)most;
        uint32_t largest = 0;
        for (uint32_t j = 0; j < n; j++) {
            uint32_t bits;
            attraction[j] = (float)pheromone[j] / scale * heuristic[j];
            memcpy(&bits, &attraction[j], sizeof bits);
            largest = bits > largest ? bits : largest;
        }
        float top;
        memcpy(&top, &largest, sizeof top);
        uint64_t sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            share[j] = (uint32_t)(attraction[j] / top * 4294967040.0f);
            sum += share[j];
        }
        uint64_t factor = ((uint64_t)(UINT32_MAX - n) << 32) / sum;
        const uint32_t fixed = factor < UINT32_MAX ? factor : UINT32_MAX;
        for (uint32_t j = 0; j < n; j++) {
            uint32_t weight = high(share[j], fixed);
            weights[j] = weight > 1 ? weight : 1;
        }
        weights[i] = 0;
    }
}

#ifdef VECTORS
#include "ant_system_vectors.h"
#else

/* The next city: where the running sum of the unvisited cities' weights, column by column, exceeds the draw's part of
 * the total. gcc 12 keeps the sums in registers because no index into them is a variable: the search has a copy. */
static uint32_t choose(const uint32_t *restrict weights, const uint32_t *restrict unvisited, uint32_t rows,
                       uint32_t draw)
{
    uint32_t growing[COLUMNS] = {0}, sums[COLUMNS], total = 0;
    for (uint32_t row = 0; row < rows; row++)
#pragma GCC unroll 32
        for (uint32_t c = 0; c < COLUMNS; c++)
            growing[c] += weights[row * COLUMNS + c] & unvisited[row * COLUMNS + c];
    for (uint32_t c = 0; c < COLUMNS; c++)
        sums[c] = growing[c];
    for (uint32_t c = 0; c < COLUMNS; c++)
        total += sums[c];

    uint32_t target = high(draw, total), column = 0;
    while (sums[column] <= target)
        target -= sums[column++];
    uint32_t city = column;
    while ((weights[city] & unvisited[city]) <= target) {
        target -= weights[city] & unvisited[city];
        city += COLUMNS;
    }
    return city;
}

/* The tours of all ants. */
static void construct(const Colony *colony, uint16_t *tours, uint32_t ants, uint32_t iteration, uint64_t seed)
{
    const uint32_t n = colony->n;
    uint32_t *unvisited = allocated(colony->stride, sizeof *unvisited);     /* masks: all ones or zero, 0 beyond n */
    uint32_t *draws = allocated(n + 3, sizeof *draws);                      /* one per step */
    for (uint32_t ant = 0; ant < ants; ant++) {
        uint16_t *tour = tours + (size_t)ant * n;
        draw(draws, n, iteration, ant, seed);
        memset(unvisited, 0xFF, n * sizeof *unvisited);
        for (uint32_t step = 0, city = high(draws[0], n); step < n; step++) {
            if (step > 0)
                city = choose(colony->weights + (size_t)city * colony->stride, unvisited, colony->rows, draws[step]);
            tour[step] = city;
            unvisited[city] = 0;
        }
    }
    free(unvisited);
    free(draws);
}

#endif

static uint32_t tour_length(const Colony *colony, const uint16_t *tour)
{
    uint32_t length = 0;
    for (uint32_t step = 0; step < colony->n; step++)
        length += colony->distances[(size_t)tour[step] * colony->n + tour[step + 1 < colony->n ? step + 1 : 0]];
    return length;
}

/* Equation 2. */
static void evaporate(const Colony *colony, uint32_t rate)
{
    uint32_t *pheromone = colony->pheromone;
    for (size_t k = 0; k < (size_t)colony->n * colony->n; k++)
        pheromone[k] -= high(pheromone[k], rate);
}

/* Equation 3: an ant's tour, in both directions. */
static void deposit(const Colony *colony, const uint16_t *tour, uint32_t amount)
{
    for (uint32_t step = 0; step < colony->n; step++) {
        const uint32_t i = tour[step], j = tour[step + 1 < colony->n ? step + 1 : 0];
        uint32_t *there = &colony->pheromone[(size_t)i * colony->n + j];
        uint32_t *back = &colony->pheromone[(size_t)j * colony->n + i];
        const uint32_t sum = *there + amount;
        *there = *back = sum < amount ? UINT32_MAX : sum;
    }
}

/* No tour is shorter: it leaves every city, and where distances obey the triangle inequality the nearest-neighbour tour
 * is at most (ceil(log2 n) + 1) / 2 times as long as the shortest (Rosenkrantz, Stearns, Lewis 1977). */
static uint64_t lower_bound(const Colony *colony)
{
    const uint32_t n = colony->n;
    uint64_t sum = 0, levels = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t least = UINT32_MAX;
        for (uint32_t j = 0; j < n; j++)
            if (j != i && colony->distances[(size_t)i * n + j] < least)
                least = colony->distances[(size_t)i * n + j];
        sum += least;
    }
    while (1u << levels < n)
        levels++;
    const uint64_t other = 2 * colony->nearest / (levels + 1);
    sum = sum > other ? sum : other;
    return sum > 1 ? sum : 1;
}

static Colony read_colony(const char *path)
{
    Colony colony = {0};
    uint64_t head[2];
    FILE *file = fopen(path, "rb");
    if (!file || fread(head, sizeof *head, 2, file) != 2 || head[0] < 3 || head[0] > MOST_CITIES)
        fail("cannot read the instance");
    colony.n = head[0];
    colony.nearest = head[1];
    colony.rows = (colony.n + COLUMNS - 1) / COLUMNS;
    colony.stride = colony.rows * COLUMNS;
    const size_t square = (size_t)colony.n * colony.n;
    colony.distances = allocated(square, sizeof *colony.distances);
    colony.heuristic = allocated(square, sizeof *colony.heuristic);
    colony.pheromone = allocated(square, sizeof *colony.pheromone);
    colony.weights = allocated((size_t)colony.n * colony.stride, sizeof *colony.weights);
    if (fread(colony.distances, sizeof *colony.distances, square, file) != square ||
        fread(colony.heuristic, sizeof *colony.heuristic, square, file) != square)
        fail("the instance is cut short");
    fclose(file);
    return colony;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        fail("usage: ant_system FILE ANTS ITERATIONS RHO SEED");
    const Colony colony = read_colony(argv[1]);
    const uint32_t n = colony.n, ants = strtoul(argv[2], 0, 10), iterations = strtoul(argv[3], 0, 10);
    const uint32_t rate = strtoul(argv[4], 0, 10);
    const uint64_t seed = strtoull(argv[5], 0, 10);
    if (!ants || !rate)
        fail("ANTS and RHO are at least 1");

    uint16_t *tours = allocated((size_t)ants * n, sizeof *tours);
    float *attraction = allocated(n, sizeof *attraction);
    uint32_t *share = allocated(n, sizeof *share);

    const uint64_t bound = lower_bound(&colony);
    const uint64_t quantity = bound * (rate > 1u << 22 ? rate : 1u << 22) / (2 * (uint64_t)ants);
    uint64_t initial = ants * (quantity / (colony.nearest > bound ? colony.nearest : bound));
    initial = initial < 1 ? 1 : initial < UINT32_MAX ? initial : UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            colony.pheromone[i * n + j] = i == j ? 0 : initial;
            colony.heuristic[i * n + j] = i == j ? 0 : colony.heuristic[i * n + j];
        }
    }

    const double began = now();
    uint32_t best = UINT32_MAX, best_ant = 0;
    uint64_t digest = 0;
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        weigh(&colony, attraction, share);
        construct(&colony, tours, ants, iteration, seed);
        evaporate(&colony, rate);
        for (uint32_t ant = 0; ant < ants; ant++) {
            const uint16_t *tour = tours + (size_t)ant * n;
            const uint32_t length = tour_length(&colony, tour);
            if (length < best) {
                best = length;
                best_ant = ant;
            }
            deposit(&colony, tour, quantity / (length > bound ? length : bound));
            digest += scrambled(scrambled(ant + ((uint64_t)iteration << 32) + 0x9E3779B97F4A7C15u) ^ length);
        }
    }
    const double seconds = now() - began;
    const uint64_t weighed = (uint64_t)ants * n * n * iterations;
    printf("best %" PRIu32 " index %" PRIu32 " evaluations %" PRIu64 " digest %016" PRIx64
           " seconds %.9f\n", best, best_ant, weighed, digest, seconds);
    return 0;
}
