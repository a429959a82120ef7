/* The tours of Ant System with GNU C's vector types: ant_system.c includes this under -DVECTORS.
 *
 * The same draws, sums and choices as the plain form, in two registers of 16 columns with AVX-512, four of 8 without;
 * prefix sums by shuffles; and GROUP ants go in step.
 */

#ifdef __AVX512F__
enum { WIDTH = 16 };
#else
enum { WIDTH = 8 };
#endif
enum { PARTS = COLUMNS / WIDTH, GROUP = 4 };

/* As many columns of the table as a register holds; PARTS of them are a row. gcc lets it alias its elements. */
typedef uint32_t Part __attribute__((vector_size(4 * WIDTH)));

/* An ant on its way, among GROUP ants that go in step. */
typedef struct {
    uint32_t city;
    uint32_t column;                        /* where the roulette stopped, and what is left of its target there */
    uint32_t target;
    uint32_t *unvisited;                    /* stride masks: all ones or zero */
    uint32_t *draws;                        /* one per step */
    uint16_t *tour;
    Part sums[PARTS];                       /* of the columns */
    uint32_t before[COLUMNS] __attribute__((aligned(64)));      /* sums of all earlier columns */
} Ant;

static void visit(Ant *ant, uint32_t step, uint32_t city)
{
    ant->city = city;
    ant->tour[step] = city;
    ant->unvisited[city] = 0;
}

static void add_columns(Ant *ant, const Colony *colony)
{
    const Part *weights = (const Part *)(colony->weights + (size_t)ant->city * colony->stride);
    const Part *unvisited = (const Part *)ant->unvisited;
    Part sums[PARTS] = {0};
    for (uint32_t row = 0; row < colony->rows; row++)
        for (uint32_t p = 0; p < PARTS; p++)
            sums[p] += weights[row * PARTS + p] & unvisited[row * PARTS + p];
    for (uint32_t p = 0; p < PARTS; p++)
        ant->sums[p] = sums[p];
}

/* The values moved up by some places, with zeros before them. */
static inline Part moved(Part values, uint32_t places)
{
    Part from;
    for (uint32_t k = 0; k < WIDTH; k++)
        from[k] = k < places ? 0 : WIDTH + k - places;
    return __builtin_shuffle((Part){0}, values, from);
}

/* Prefix sums over the columns, and the target that they give. */
static void spin(Ant *ant, uint32_t draw)
{
    uint32_t total = 0;
    for (uint32_t p = 0; p < PARTS; p++) {
        Part run = ant->sums[p];
        run += moved(run, 1);
        run += moved(run, 2);
        run += moved(run, 4);
        if (WIDTH > 8)
            run += moved(run, 8);
        run += total;
        ((Part *)ant->before)[p] = run - ant->sums[p];
        total = run[WIDTH - 1];
    }
    ant->target = high(draw, total);
}

/* The column where the running sum exceeds the target: the last one that does not begin beyond it. */
static void find_column(Ant *ant)
{
    uint32_t begun = 0;
    for (uint32_t c = 0; c < COLUMNS; c++)
        begun += ant->before[c] <= ant->target;
    ant->column = begun - 1;
    ant->target -= ant->before[begun - 1];
}

static uint32_t city_of_column(const Ant *ant, const Colony *colony)
{
    const uint32_t *weights = colony->weights + (size_t)ant->city * colony->stride;
    uint32_t run = 0, passed = 0;
    for (uint32_t row = 0; row < colony->rows; row++) {
        const uint32_t city = row * COLUMNS + ant->column;
        run += weights[city] & ant->unvisited[city];
        passed += run <= ant->target;
    }
    return passed * COLUMNS + ant->column;
}

/* The tours of up to GROUP ants. They go in step, phase by phase, and without a branch on what they find: so the
 * processor works on the next ant while an ant's chain of sums is on its way. */
static void construct_group(const Colony *colony, Ant *group, uint32_t ants, uint32_t first, uint32_t iteration,
                      uint64_t seed)
{
    for (uint32_t k = 0; k < ants; k++) {
        draw(group[k].draws, colony->n, iteration, first + k, seed);
        memset(group[k].unvisited, 0xFF, colony->n * sizeof *group[k].unvisited);
        visit(&group[k], 0, high(group[k].draws[0], colony->n));
    }
    for (uint32_t step = 1; step < colony->n; step++) {
        for (uint32_t k = 0; k < ants; k++)
            add_columns(&group[k], colony);
        for (uint32_t k = 0; k < ants; k++)
            spin(&group[k], group[k].draws[step]);
        for (uint32_t k = 0; k < ants; k++)
            find_column(&group[k]);
        for (uint32_t k = 0; k < ants; k++)
            visit(&group[k], step, city_of_column(&group[k], colony));
    }
}

/* The tours of all ants. */
static void construct(const Colony *colony, uint16_t *tours, uint32_t ants, uint32_t iteration, uint64_t seed)
{
    Ant group[GROUP];
    for (int k = 0; k < GROUP; k++) {
        group[k].unvisited = allocated(colony->stride, sizeof *group[k].unvisited);
        group[k].draws = allocated(colony->n + 3, sizeof *group[k].draws);
    }
    for (uint32_t first = 0; first < ants; first += GROUP) {
        const uint32_t count = ants - first < GROUP ? ants - first : GROUP;
        for (uint32_t k = 0; k < count; k++)
            group[k].tour = tours + (size_t)(first + k) * colony->n;
        construct_group(colony, group, count, first, iteration, seed);
    }
    for (int k = 0; k < GROUP; k++) {
        free(group[k].unvisited);
        free(group[k].draws);
    }
}
