/* Speed, compared with the textbook pseudoinverse route on LAPACK (pseudoinverse.h), in one run.
 *
 * Every line is the median over ROUNDS rounds; in each round all routes of a table run one after
 * another on the same data, and a ratio is the median of the ratios of the rounds. On both sides
 * workspaces exist before the clock starts. The table has the certificate of every answer.
 *
 *     speed           all tables
 *     speed quick     fewer repetitions */
#include <inttypes.h>
#include <string.h>

#include "measure.h"
#include "pseudoinverse.h"
#include "scene/dice.h"
#include "scene/scene.h"

enum { ROUNDS = 9, INSTANTS = 12 };

/* OFTEN: the dsyev route with as many pseudoinverses as zwang needed factorizations, cold
 * or warm. */
typedef enum route { COLD, WARM, EIGEN, CHOLESKY, OFTEN_COLD, OFTEN_WARM, ROUTES } route;

static double budget = 0.02; /* least number of seconds of one route in one round */

/* One instant to solve, and everything that the routes need for it. */
typedef struct instant {
    scene *now;
    zw_gauss_work *work;
    zw_gauss_options cold, warm;
    double *guess; /* lambda of the instant before */
#ifdef ZW_HAVE_LAPACK
    struct peer *peer;
#endif
    double worst;    /* certificate of zwang's answer, cold or warm */
    int factored[2]; /* factorizations cold and warm */
    const char *method[2];
} instant;

static void die(const scene *s, const zw_error *error)
{
    fprintf(stderr, "%s: %s\n", s->name, error->text);
    exit(1);
}

/* The free motion (or force) of the previous instant differs by 1 %, number by number. */
static scene *instant_before(const scene *now, dice *d)
{
    scene *before = scene_copy(now);
    double *x = before->free ? before->free : before->force;
    for (int i = 0; x != NULL && i < before->problem.n; i++)
        x[i] *= 1 + 0.01 * dice_between(d, -1, 1);
    return before;
}

static void instant_open(instant *t, scene *now, zw_contact_law law, dice *d)
{
    zw_error error = {0};
    zw_motion motion;
    memset(t, 0, sizeof *t);
    t->now = now;
    t->cold = zw_gauss_options_default();
    t->cold.contact = law;
    t->work = zw_gauss_work_create(&now->problem, &t->cold, &error);
    if (t->work == NULL)
        die(now, &error);

    scene *before = instant_before(now, d);
    t->guess = allocate((size_t)now->m, sizeof *t->guess);
    if (zw_gauss_solve(&before->problem, &t->cold, t->work, &motion, &error) != ZW_OK)
        die(before, &error);
    memcpy(t->guess, motion.lambda, (size_t)now->m * sizeof *t->guess);
    t->warm = t->cold;
    t->warm.guess = t->guess;
    scene_free(before);

    for (int warm = 0; warm < 2; warm++) {
        const zw_gauss_options *options = warm ? &t->warm : &t->cold;
        if (zw_gauss_solve(&now->problem, options, t->work, &motion, &error) != ZW_OK)
            die(now, &error);
        double worst = certified(&now->problem, law, motion.a, motion.lambda, motion.C).worst;
        t->worst = fmax(t->worst, worst);
        t->factored[warm] = motion.factorizations;
        t->method[warm] = motion.method;
    }
#ifdef ZW_HAVE_LAPACK
    t->peer = peer_create(now);
#endif
}

static void instant_close(instant *t)
{
    zw_gauss_work_free(t->work);
#ifdef ZW_HAVE_LAPACK
    peer_free(t->peer);
#endif
    free(t->guess);
    scene_free(t->now);
}

static void run(instant *t, route by)
{
    zw_motion motion;
#ifdef ZW_HAVE_LAPACK
    if (by >= EIGEN) {
        int times = by >= OFTEN_COLD ? t->factored[by == OFTEN_WARM] : 1;
        if (peer_solve(t->peer, by != CHOLESKY, times) != 0)
            exit(1);
        return;
    }
#endif
    zw_gauss_solve(&t->now->problem, by == WARM ? &t->warm : &t->cold, t->work, &motion, NULL);
}

/* Seconds per solve, over the instants in turn until the budget is spent. */
static double clocked(instant *list, int count, route by)
{
    int solves = 0;
    double start = seconds_computed(), spent;
    do {
        for (int i = 0; i < 8 * count; i++) /* reading the clock costs as much as a small solve */
            run(&list[i % count], by);
        solves += 8 * count;
        spent = seconds_computed() - start;
    } while (spent < budget);
    return spent / solves;
}

/* ---- Tables ------------------------------------------------------------------------------- */

/* The result of comparing all routes: microseconds, and ratios of the rounds. */
typedef struct outcome {
    double us[ROUTES];
    double ratio[2][ROUTES]; /* LAPACK's time over zwang's, cold and warm */
    double zwang, lapack;    /* worst certificates */
    double factored[2];      /* medians over the instants */
    int most[2];
} outcome;

static int has_lapack(void)
{
#ifdef ZW_HAVE_LAPACK
    return 1;
#else
    return 0;
#endif
}

/* The certificate of LAPACK's answer, with all rows as equalities. */
static double lapack_certificate(const instant *t)
{
#ifdef ZW_HAVE_LAPACK
    scene *s = scene_copy(t->now);
    for (int k = 0; k < s->problem.block_count; k++)
        s->block[k].kind = ZW_EQUALITY;
    peer_solve(t->peer, 1, 1);
    peer_multipliers(t->peer);
    double worst =
        certified(&s->problem, ZW_CONTACT_CONVEX, t->peer->a, t->peer->lambda, NULL).worst;
    scene_free(s);
    return worst;
#else
    (void)t;
    return NAN;
#endif
}

static outcome contest(instant *list, int count)
{
    outcome o = {0};
    double time[ROUTES][ROUNDS] = {{0}}, ratio[ROUNDS], factored[INSTANTS];
    for (int round = -1; round < ROUNDS; round++) /* the first one warms up and does not count */
        for (int by = 0; by < (has_lapack() ? ROUTES : EIGEN); by++)
            time[by][round < 0 ? 0 : round] = clocked(list, count, (route)by);

    for (int by = EIGEN; by < ROUTES && has_lapack(); by++)
        for (int warm = 0; warm < 2; warm++) {
            for (int round = 0; round < ROUNDS; round++)
                ratio[round] = time[by][round] / time[warm][round];
            o.ratio[warm][by] = median(ratio, ROUNDS);
        }
    for (int by = 0; by < ROUTES; by++)
        o.us[by] = 1e6 * median(time[by], ROUNDS);
    for (int i = 0; i < count; i++) {
        o.zwang = fmax(o.zwang, list[i].worst);
        o.lapack = fmax(o.lapack, lapack_certificate(&list[i]));
    }
    for (int warm = 0; warm < 2; warm++) {
        for (int i = 0; i < count; i++) {
            factored[i] = list[i].factored[warm];
            o.most[warm] =
                list[i].factored[warm] > o.most[warm] ? list[i].factored[warm] : o.most[warm];
        }
        o.factored[warm] = median(factored, count);
    }
    return o;
}

static void print_head(const char *title)
{
    printf("\n## %s\n\n", title);
    printf(
        "| zwang solves | times faster than dsyev route | than Cholesky route | than dsyev route,"
        " one pseudoinverse a factorization | zwang us | factorizations median, most |"
        " certificate |\n");
    printf("|---|---|---|---|---|---|---|\n");
}

static void print_zwang(const char *label, const outcome *o, int warm)
{
    printf("| %s | **%.1f** | %.1f | %.1f | %.1f | %.0f, %d | %.1e |\n", label,
           o->ratio[warm][EIGEN], o->ratio[warm][CHOLESKY],
           o->ratio[warm][warm ? OFTEN_WARM : OFTEN_COLD], o->us[warm], o->factored[warm],
           o->most[warm], o->zwang);
}

static void print_lapack(const outcome *o)
{
    if (!has_lapack())
        printf("\nLAPACK absent: no ratios.\n");
    else
        printf("\nLAPACK, the rows as equalities: dsyev + dgelsd %.1f us, dpotrf + dgelsd %.1f us,"
               " certificate %.1e.\n",
               o->us[EIGEN], o->us[CHOLESKY], o->lapack);
}

/* (a) A humanoid on its feet and hands: cones compared with equalities of the same size. */
static void table_robot(void)
{
    instant list[INSTANTS];
    outcome o = {0};
    print_head("27 unknowns, 12 friction cones (36 rows), dense metric");
    for (int law = ZW_CONTACT_COULOMB; law <= ZW_CONTACT_CONVEX; law++) {
        dice d = dice_of(27);
        int count = 0;
        for (uint64_t seed = 1; count < INSTANTS; seed++) {
            scene *s = scene_contact(SCENE_ROBOT, seed);
            if (s->free == NULL) /* the peer starts from a free motion */
                scene_free(s);
            else
                instant_open(&list[count++], s, (zw_contact_law)law, &d);
        }
        o = contest(list, count);
        print_zwang(law == ZW_CONTACT_COULOMB ? "Coulomb's law, cold" : "the convex law, cold", &o,
                    0);
        print_zwang(law == ZW_CONTACT_COULOMB ? "Coulomb's law, warm" : "the convex law, warm", &o,
                    1);
        for (int i = 0; i < count; i++)
            instant_close(&list[i]);
    }
    print_lapack(&o);
    printf("%d instants of the scene `robot`; warm: the multipliers of an instant whose free"
           " motion differs by 1 %%.\n",
           INSTANTS);
}

/* m equality rows in blocks of up to five, dense metric of condition about 1e3. */
static scene *equality_scene(int n, int m, uint64_t seed)
{
    scene *s = scene_new("equality", n);
    dice d = dice_of(seed);
    size_t cells = (size_t)(n * n), entries = (size_t)(m * n);
    double *root = allocate(cells, sizeof *root);
    s->metric = scene_alloc(s, cells, sizeof(double));
    s->row = scene_alloc(s, entries, sizeof(double));
    s->free = scene_alloc(s, (size_t)n, sizeof(double));
    s->b = scene_alloc(s, (size_t)m, sizeof(double));
    s->block = scene_alloc(s, (size_t)(m + 4) / 5, sizeof *s->block);
    s->metric_count = cells;
    s->row_count = entries;
    s->m = m;
    for (size_t i = 0; i < cells; i++)
        root[i] = dice_bell(&d);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? 0.01 * n : 0;
            for (int k = 0; k < n; k++)
                sum += root[i * n + k] * root[j * n + k];
            s->metric[i * n + j] = sum;
        }
    for (size_t i = 0; i < entries; i++)
        s->row[i] = dice_bell(&d);
    for (int i = 0; i < n; i++)
        s->free[i] = dice_bell(&d);
    for (int i = 0; i < m; i++)
        s->b[i] = dice_bell(&d);
    for (int at = 0, k = 0; at < m; at += 5, k++) {
        s->block[k].kind = ZW_EQUALITY;
        s->block[k].name = "joint";
        s->block[k].rows = m - at < 5 ? m - at : 5;
        s->problem.block_count = k + 1;
    }
    s->problem.metric = (zw_metric){.kind = ZW_METRIC_DENSE, .value = s->metric};
    s->problem.free = s->free;
    s->problem.block = s->block;
    s->problem.A.dense = s->row;
    s->problem.b = s->b;
    free(root);
    return s;
}

static outcome equality_contest(int n, int m)
{
    instant list[4];
    dice d = dice_of(40);
    for (int i = 0; i < 4; i++)
        instant_open(&list[i], equality_scene(n, m, (uint64_t)(i + 1)), ZW_CONTACT_CONVEX, &d);
    outcome o = contest(list, 4);
    for (int i = 0; i < 4; i++)
        instant_close(&list[i]);
    return o;
}

/* (b) 40 rows. */
static void table_equality(void)
{
    for (int n = 60; n >= 45; n -= 15) {
        char title[64];
        snprintf(title, sizeof title, "%d unknowns, 40 equality rows, dense metric", n);
        outcome o = equality_contest(n, 40);
        print_head(title);
        print_zwang("equalities", &o, 0);
        print_lapack(&o);
    }
}

/* (c) All sizes. */
static void table_sizes(void)
{
    printf("\n## Equality rows, dense metric, all sizes\n\n");
    printf("| unknowns | rows | times faster than dsyev route | than Cholesky route | zwang us |"
           " LAPACK us | certificate zwang | LAPACK |\n|---|---|---|---|---|---|---|---|\n");
    for (int n = 6; n <= 60; n += n < 24 ? 6 : 12)
        for (int third = 1; third <= 3; third++) {
            outcome o = equality_contest(n, n * third / 3);
            printf("| %d | %d | **%.1f** | %.1f | %.2f | %.1f, %.1f | %.1e | %.1e |\n", n,
                   n * third / 3, o.ratio[0][EIGEN], o.ratio[0][CHOLESKY], o.us[COLD], o.us[EIGEN],
                   o.us[CHOLESKY], o.zwang, o.lapack);
        }
}

/* ---- Chains ------------------------------------------------------------------------------- */

enum { CHAINS = 3, CHAIN_ROUNDS = 9 };

typedef struct chain {
    int links;
    scene *s;
    zw_gauss_work *work;
    double create[CHAIN_ROUNDS], solve[CHAIN_ROUNDS]; /* seconds */
    double worst;                                     /* certificate */
} chain;

/* Creates a new workspace, and solves in the one of the previous round (at first the new one). */
static zw_status chain_round(chain *c, int round, zw_error *error)
{
    zw_gauss_options options = zw_gauss_options_default();
    zw_motion motion;
    double start = seconds_computed();
    zw_gauss_work *fresh = zw_gauss_work_create(&c->s->problem, &options, error);
    c->create[round] = seconds_computed() - start;
    if (fresh == NULL)
        return error->status;
    if (c->work == NULL) {
        c->work = fresh; /* its pages are touched here, outside the timing */
        zw_gauss_solve(&c->s->problem, &options, c->work, &motion, error);
    } else {
        zw_gauss_work_free(fresh);
    }
    start = seconds_computed();
    zw_status status = zw_gauss_solve(&c->s->problem, &options, c->work, &motion, error);
    c->solve[round] = seconds_computed() - start;
    if (status == ZW_OK)
        c->worst =
            certified(&c->s->problem, ZW_CONTACT_CONVEX, motion.a, motion.lambda, motion.C).worst;
    return status;
}

/* (d) Returns 1 if a chain was not solved. */
static int table_chain(void)
{
    chain list[CHAINS] = {{.links = 1000}, {.links = 10000}, {.links = 100000}};
    zw_error error = {0};
    zw_status status = ZW_OK;
    double least = HUGE_VAL, most = 0;
    printf("\n## Open chain in Cartesian points, one distance row a link\n\n");
    for (int k = 0; k < CHAINS; k++)
        list[k].s = scene_chain(list[k].links);
    for (int round = 0; round < CHAIN_ROUNDS && status == ZW_OK; round++)
        for (int k = 0; k < CHAINS && status == ZW_OK; k++)
            status = chain_round(&list[k], round, &error);
    if (status == ZW_OK)
        printf("| links | solve ns a link | solve ms | workspace ms, once | certificate |\n"
               "|---|---|---|---|---|\n");
    else
        printf("sparse path absent: %s\n", error.text);
    for (int k = 0; k < CHAINS; k++) {
        double solve = median(list[k].solve, CHAIN_ROUNDS), each = 1e9 * solve / list[k].links;
        if (status == ZW_OK)
            printf("| %d | **%.0f** | %.2f | %.2f | %.1e |\n", list[k].links, each, 1e3 * solve,
                   1e3 * median(list[k].create, CHAIN_ROUNDS), list[k].worst);
        least = fmin(least, each);
        most = fmax(most, each);
        zw_gauss_work_free(list[k].work);
        scene_free(list[k].s);
    }
    if (status == ZW_OK)
        printf("\nTime a link, slowest over fastest: **%.2f** (wanted: at most 2).\n",
               most / least);
    return status != ZW_OK;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "quick") == 0)
        budget = 0.002;
#ifdef ZW_HAVE_LAPACK
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    printf("LAPACK: %s, one thread\n", openblas_get_config ? openblas_get_config() : "reference");
#else
    printf("LAPACK: absent\n");
#endif
    printf("processor time, median of %d rounds (chains %d), routes interleaved, %.0f ms a route "
           "and round\n",
           ROUNDS, CHAIN_ROUNDS, 1e3 * budget);
    table_robot();
    table_equality();
    table_sizes();
    return table_chain();
}
