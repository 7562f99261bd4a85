/* Boxes: multipliers between limits. A motor with a force range, a joint with dry friction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gauss/contact/islands.h"

enum { N = 8, ROWS = 16 };

typedef struct scene {
    int n, m, blocks;
    double M[N * N], free[N], A[ROWS * N], b[ROWS], give[ROWS], guess[ROWS];
    zw_block block[ROWS];
    zw_gauss problem;
    double a[N], lambda[ROWS];
    zw_certificate certificate;
    int conflicts, conflict[ROWS];
} scene;

static unsigned long seed;

static double random_number(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static void begin(scene *s, int n)
{
    *s = (scene){.n = n};
    for (int i = 0; i < n; i++) {
        s->M[i * n + i] = 1;
    }
}

static double *add(scene *s, zw_block block, double b)
{
    int first = s->m;
    block.rows = block.rows > 0 ? block.rows : 1;
    s->block[s->blocks++] = block;
    s->b[first] = b;
    s->m += block.rows;
    return s->A + first * s->n;
}

static double *add_box(scene *s, double low, double high, double b)
{
    return add(s, (zw_block){.name = "box", .kind = ZW_BOX, .limit = {low, high}}, b);
}

static const zw_gauss *problem(scene *s)
{
    double most = 0;
    for (int i = 0; i < s->m; i++) {
        most = fmax(most, s->give[i]);
    }
    s->problem = (zw_gauss){.n = s->n,
                            .metric = {.kind = ZW_METRIC_DENSE, .value = s->M},
                            .free = s->free,
                            .block_count = s->blocks,
                            .block = s->block,
                            .A = {.dense = s->A},
                            .b = s->b,
                            .compliance = most > 0 ? s->give : NULL};
    return &s->problem;
}

static zw_status solve(scene *s, zw_contact_law law, const double *guess)
{
    zw_gauss_options options = {.contact = law, .guess = guess};
    zw_gauss_work *work = zw_gauss_work_create(problem(s), &options, NULL);
    zw_motion motion;
    zw_error error;
    assert_non_null(work);
    zw_status status = zw_gauss_solve(&s->problem, &options, work, &motion, &error);
    memcpy(s->a, motion.a, (size_t)s->n * sizeof(double));
    memcpy(s->lambda, motion.lambda, (size_t)s->m * sizeof(double));
    s->certificate = motion.certificate;
    s->conflicts = motion.conflict_count;
    for (int k = 0; k < motion.conflict_count; k++) {
        s->conflict[k] = motion.conflict[k];
    }
    zw_gauss_work_free(work);
    return status;
}

/* The same by islands, compressed, from the guess: prox.c solves it or leaves it to the core. */
static zw_status solve_islands(scene *s, gauss_islands *islands, zw_contact_law law,
                               const double *guess)
{
    int start[N + 1], row[N * N], A_start[ROWS + 1], column[ROWS * N], at = 0;
    double M[N * N], A[ROWS * N];
    for (int j = 0; j < s->n; j++) {
        start[j] = at;
        for (int i = j; i < s->n; i++) {
            row[at] = i;
            M[at++] = s->M[i * s->n + j];
        }
    }
    start[s->n] = at;
    at = 0;
    for (int i = 0; i < s->m; i++) {
        A_start[i] = at;
        for (int j = 0; j < s->n; j++) {
            if (s->A[i * s->n + j] != 0) {
                column[at] = j;
                A[at++] = s->A[i * s->n + j];
            }
        }
    }
    A_start[s->m] = at;
    zw_gauss given = *problem(s);
    given.metric = (zw_metric){.kind = ZW_METRIC_SPARSE, .value = M, .start = start, .row = row};
    given.A = (zw_rows){.start = A_start, .column = column, .value = A};
    zw_gauss_options options = {.contact = law, .guess = guess};
    gauss_islands_answer answer;
    zw_error error;
    zw_status status = gauss_islands_solve(islands, &given, &options, NULL, &answer, &error);
    memcpy(s->a, answer.a, (size_t)s->n * sizeof(double));
    memcpy(s->lambda, answer.lambda, (size_t)s->m * sizeof(double));
    s->certificate.worst = answer.certificate;
    return status;
}

/* ---- Closed forms --------------------------------------------------------------------------- */

/* A mass of 2 at speed v, stopped by an impulse within limits: p = 2 v, clamped to the limits. */
static void one_mass(void **state)
{
    static const double table[][4] = {
        /* v, low, high: lambda */
        {1, -3, 3, -2},
        {1, -1.5, 3, -1.5},
        {-1, -1, 3, 2},
        {-1, -1, 0.5, 0.5},
        {1, 0, 0, 0},
        {1, 0.25, 0.25, 0.25},
        {1, 0, INFINITY, 0},
        {-1, 0, INFINITY, 2},
        {1, -INFINITY, 0, -2},
        {-1, -INFINITY, 0, 0},
        {3, -INFINITY, INFINITY, -6},
        {1, 0.5, 4, 0.5},
        {1, -4, -3, -3},
        {0, -1, 1, 0},
        {1e-9, -1, 1, -2e-9},
        {1e6, -1, 1, -1},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        const double *t = table[k];
        scene s;
        begin(&s, 1);
        s.M[0] = 2;
        s.free[0] = t[0];
        *add_box(&s, t[1], t[2], 0) = 1;
        assert_int_equal(solve(&s, ZW_CONTACT_COULOMB, NULL), ZW_OK);
        assert_true(fabs(s.lambda[0] - t[3]) <= 1e-13 * (1 + fabs(t[3])));
        assert_true(fabs(s.a[0] - (t[0] + t[3] / 2)) <= 1e-13 * (1 + fabs(t[0])));
    }
    (void)state;
}

/* A motor with lambda = (b - v)/give as long as that is in its range: a drive with a damper. */
static void motor_with_a_range(void **state)
{
    for (int k = -4; k <= 4; k++) {
        scene s;
        begin(&s, 1);
        s.M[0] = 2;
        s.give[0] = 0.5;
        *add_box(&s, -1, 2, k) = 1;
        double wish = k / (0.5 + 0.5), lambda = fmin(fmax(wish, -1), 2);
        assert_int_equal(solve(&s, ZW_CONTACT_COULOMB, NULL), ZW_OK);
        assert_true(fabs(s.lambda[0] - lambda) < 1e-14);
    }
    (void)state;
}

/* A joint driven by an equation, with dry friction: the full friction acts against the motion. */
static void driven_joint(void **state)
{
    for (int sign = -1; sign <= 1; sign++) {
        scene s;
        begin(&s, 2);
        *add(&s, (zw_block){.name = "drive", .kind = ZW_EQUALITY}, sign) = 1;
        *add_box(&s, -0.3, 0.3, 0) = 1;
        assert_int_equal(solve(&s, ZW_CONTACT_COULOMB, NULL), ZW_OK);
        assert_true(fabs(s.a[0] - sign) < 1e-14);
        if (sign != 0) { /* at rest the two multipliers are not unique */
            assert_true(fabs(s.lambda[1] + 0.3 * sign) < 1e-14);
            assert_true(fabs(s.lambda[0] - 1.3 * sign) < 1e-14);
        }
    }
    (void)state;
}

/* A block on a slope of 45 degrees with mu = 0.5 and a brake: N = g cos, and the brake takes what
 * friction leaves, up to its limit. */
static void brake_and_friction(void **state)
{
    const double g = 10 * sqrt(0.5);
    for (int k = 0; k < 8; k++) {
        double most = k, rest = fmax(g - 0.5 * g - most, 0);
        scene s;
        begin(&s, 2);
        s.free[0] = g;  /* down the slope */
        s.free[1] = -g; /* into it */
        double *A = add(&s, (zw_block){.kind = ZW_CONE, .rows = 2, .friction = {0.5}}, 0);
        A[1] = A[2] = 1;
        *add_box(&s, -most, most, 0) = 1;
        assert_int_equal(solve(&s, ZW_CONTACT_COULOMB, NULL), ZW_OK);
        assert_true(fabs(s.a[0] - rest) < 1e-10 && fabs(s.a[1]) < 1e-10);
        assert_true(fabs(s.lambda[0] - g) < 1e-9);
    }
    (void)state;
}

/* ---- The certificate ------------------------------------------------------------------------ */

static double certify(scene *s, double a, double lambda)
{
    zw_certificate c;
    zw_gauss_certify(problem(s), ZW_CONTACT_CONVEX, &a, &lambda, NULL, NULL, &c);
    return c.worst;
}

static void certificate_sees_it(void **state)
{
    scene s;
    begin(&s, 1);
    s.free[0] = 1;
    *add_box(&s, -0.5, 2, 0) = 1;
    assert_true(certify(&s, 0.5, -0.5) < 1e-15);
    assert_true(certify(&s, 0, -1) > 0.4);       /* holds with more than its limit */
    assert_true(certify(&s, 0.75, -0.25) > 0.2); /* slides with less */
    assert_true(certify(&s, 3, 2) > 0.5);        /* pushes in the direction of motion */
    s.free[0] = 0.25;
    assert_true(certify(&s, 0, -0.25) < 1e-15);
    (void)state;
}

/* ---- Contradictions ------------------------------------------------------------------------- */

static void conflicts_are_named(void **state)
{
    scene s;
    begin(&s, 2);
    *add_box(&s, -1, 1, 5) = 1; /* a limited force contradicts nothing */
    *add(&s, (zw_block){.kind = ZW_EQUALITY}, 1) = 1;
    *add_box(&s, -INFINITY, INFINITY, 2) = 1; /* but without limits this is an equation */
    assert_int_equal(solve(&s, ZW_CONTACT_CONVEX, NULL), ZW_CONFLICT);
    assert_int_equal(s.conflicts, 2);
    assert_int_equal(s.conflict[0], 1);
    assert_int_equal(s.conflict[1], 2);
    s.block[2].limit[1] = 0; /* a <= 2 */
    assert_int_equal(solve(&s, ZW_CONTACT_CONVEX, NULL), ZW_OK);
    s.b[2] = 0; /* a <= 0 */
    assert_int_equal(solve(&s, ZW_CONTACT_CONVEX, NULL), ZW_CONFLICT);
    (void)state;
}

static void nonsense_is_refused(void **state)
{
    static const double limit[][2] = {{1, -1}, {NAN, 1}, {0, NAN}, {INFINITY, INFINITY}};
    for (size_t k = 0; k < sizeof limit / sizeof *limit; k++) {
        scene s;
        zw_error error;
        begin(&s, 1);
        *add_box(&s, limit[k][0], limit[k][1], 0) = 1;
        assert_null(zw_gauss_work_create(problem(&s), NULL, &error));
        assert_int_equal(error.status, ZW_BAD_INPUT);
        assert_non_null(strstr(error.text, "box: limits"));
    }
    (void)state;
}

/* ---- Random problems ------------------------------------------------------------------------ */

static int scaled(int count)
{
    const char *wish = getenv("ZW_CAMPAIGN");
    double factor = wish == NULL || *wish == '\0' ? 1.0 : atof(wish);
    factor = wish != NULL && strcmp(wish, "small") == 0 ? 0.1 : factor;
    return factor > 0 ? (int)ceil(factor * count) : count;
}

static void random_metric(scene *s)
{
    double G[N * N];
    for (int i = 0; i < s->n * s->n; i++) {
        G[i] = random_number();
    }
    for (int i = 0; i < s->n; i++) {
        for (int j = 0; j < s->n; j++) {
            s->M[i * s->n + j] = i == j ? 0.1 : 0;
            for (int k = 0; k < s->n; k++) {
                s->M[i * s->n + j] += G[i * s->n + k] * G[j * s->n + k];
            }
        }
        s->free[i] = 3 * random_number();
    }
}

static void random_limits(double limit[2])
{
    double x = random_number(), y = random_number();
    int kind = (int)(4 * (1 + random_number()));
    limit[0] = kind == 0 ? -INFINITY : kind == 1 ? 0 : fmin(x, y);
    limit[1] = kind == 2 ? INFINITY : kind == 1 ? 0 : fmax(x, y);
    if (kind > 4) { /* dry friction */
        limit[0] = -fabs(x);
        limit[1] = fabs(x);
    }
}

/* `boxes` boxes, every third row with a single entry, some with compliance. */
static void random_scene(scene *s, int n, int boxes, int equalities, int cones)
{
    begin(s, n);
    random_metric(s);
    for (int k = 0; k < equalities + boxes + cones; k++) {
        int cone = k >= equalities + boxes;
        zw_block block = {.kind = k < equalities ? ZW_EQUALITY
                                  : cone         ? ZW_CONE
                                                 : ZW_BOX,
                          .rows = cone ? 3 : 1,
                          .friction = {0.5, 0.5}};
        random_limits(block.limit);
        int first = s->m;
        double *A = add(s, block, random_number()), sparse = random_number();
        for (int i = 0; i < block.rows * n; i++) {
            A[i] = sparse > 0.3 && !cone && i != k % n ? 0 : random_number();
        }
        for (int i = first; i < s->m; i++) {
            s->b[i] = random_number();
            s->give[i] = !cone && random_number() > 0.5 ? fabs(random_number()) : 0;
        }
    }
}

/* x = K \ x, by elimination with pivots; 0: singular. */
static int eliminate(int n, double *K, double *x)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c + 1; i < n; i++) {
            best = fabs(K[i * ROWS + c]) > fabs(K[best * ROWS + c]) ? i : best;
        }
        if (fabs(K[best * ROWS + c]) < 1e-9) {
            return 0;
        }
        for (int j = 0; j < n; j++) {
            double t = K[c * ROWS + j];
            K[c * ROWS + j] = K[best * ROWS + j];
            K[best * ROWS + j] = t;
        }
        double t = x[c];
        x[c] = x[best];
        x[best] = t;
        for (int i = c + 1; i < n; i++) {
            double f = K[i * ROWS + c] / K[c * ROWS + c];
            for (int j = c; j < n; j++) {
                K[i * ROWS + j] -= f * K[c * ROWS + j];
            }
            x[i] -= f * x[c];
        }
    }
    for (int c = n - 1; c >= 0; c--) {
        for (int j = c + 1; j < n; j++) {
            x[c] -= K[c * ROWS + j] * x[j];
        }
        x[c] /= K[c * ROWS + c];
    }
    return 1;
}

/* W = A M^-1 A' + compliance, and w = W lambda + c. */
static int delassus(const scene *s, double W[ROWS][ROWS], double *c)
{
    for (int i = 0; i < s->m; i++) {
        double K[ROWS * ROWS] = {0}, x[ROWS] = {0};
        c[i] = -s->b[i];
        for (int j = 0; j < s->n; j++) {
            memcpy(K + j * ROWS, s->M + j * s->n, (size_t)s->n * sizeof(double));
            x[j] = s->A[i * s->n + j];
            c[i] += x[j] * s->free[j];
        }
        if (!eliminate(s->n, K, x)) {
            return 0;
        }
        for (int k = 0; k < s->m; k++) {
            W[k][i] = k == i ? s->give[i] : 0;
            for (int j = 0; j < s->n; j++) {
                W[k][i] += s->A[k * s->n + j] * x[j];
            }
        }
    }
    return 1;
}

/* Multipliers by trying all modes of all boxes; 0: no clear result (ties, dependent rows). */
static int by_all_modes(const scene *s, double *lambda)
{
    double W[ROWS][ROWS], c[ROWS];
    int all = 1;
    if (!delassus(s, W, c)) {
        return 0;
    }
    for (int i = 0; i < s->m; i++) {
        all *= 3;
    }
    for (int code = 0; code < all; code++) {
        double K[ROWS * ROWS] = {0};
        int mode[ROWS], fits = 1;
        for (int i = 0, left = code; i < s->m; i++, left /= 3) {
            const zw_block *it = &s->block[i];
            mode[i] = left % 3;
            fits &= mode[i] == 2 || (it->kind == ZW_BOX && isfinite(it->limit[mode[i]]));
            for (int j = 0; j < s->m && fits; j++) {
                K[i * ROWS + j] = mode[i] == 2 ? W[i][j] : i == j;
            }
            lambda[i] = mode[i] == 2 ? -c[i] : it->limit[mode[i]];
        }
        if (!fits || !eliminate(s->m, K, lambda)) {
            continue;
        }
        for (int i = 0; i < s->m && fits; i++) {
            const zw_block *it = &s->block[i];
            double w = c[i];
            for (int j = 0; j < s->m; j++) {
                w += W[i][j] * lambda[j];
            }
            fits = mode[i] == 2 ? it->kind == ZW_EQUALITY || (lambda[i] > it->limit[0] + 1e-9 &&
                                                              lambda[i] < it->limit[1] - 1e-9)
                                : (mode[i] == 0 ? w : -w) > 1e-9 || it->limit[0] == it->limit[1];
        }
        if (fits) {
            return 1;
        }
    }
    return 0;
}

static double away(int n, const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i] - y[i]) / (1 + fabs(y[i])));
    }
    return most;
}

/* Compared with the search over all 3^m modes; cold and warm started; mirrored; by islands. */
static void agrees_with_all_modes(void **state)
{
    gauss_islands *islands = gauss_islands_create();
    int count = scaled(1500), known = 0;
    double worst = 0, guess[ROWS];
    seed = 1;
    for (int k = 0; k < count; k++) {
        scene s, near;
        double lambda[ROWS];
        random_scene(&s, 2 + k % 5, 1 + k % 5, k % 3, 0);
        if (!by_all_modes(&s, lambda)) {
            continue;
        }
        known++;
        assert_int_equal(solve(&s, ZW_CONTACT_COULOMB, NULL), ZW_OK);
        worst = fmax(worst, away(s.m, s.lambda, lambda));
        near = s;
        for (int i = 0; i < s.m; i++) {
            guess[i] = lambda[i] + 0.3 * random_number();
        }
        assert_int_equal(solve(&near, ZW_CONTACT_COULOMB, guess), ZW_OK);
        worst = fmax(worst, away(s.m, near.lambda, lambda));
        assert_int_equal(solve_islands(&near, islands, ZW_CONTACT_COULOMB, guess), ZW_OK);
        worst = fmax(worst, away(s.m, near.lambda, lambda));
        for (int i = 0; i < s.m * s.n; i++) {
            near.A[i] = -s.A[i];
        }
        for (int i = 0; i < s.m; i++) {
            near.b[i] = -s.b[i];
            near.block[i].limit[0] = -s.block[i].limit[1];
            near.block[i].limit[1] = -s.block[i].limit[0];
            guess[i] = -guess[i];
            lambda[i] = -lambda[i];
        }
        assert_int_equal(solve_islands(&near, islands, ZW_CONTACT_COULOMB, guess), ZW_OK);
        worst = fmax(worst, away(s.m, near.lambda, lambda));
    }
    print_message("%d of %d problems by all modes: off by %.1e at most\n", known, count, worst);
    assert_true(10 * known > 9 * count && worst < 1e-8);
    gauss_islands_free(islands);
    (void)state;
}

/* The same row twice: the limits add up; how the two share the force is undetermined. */
static void dependent_rows(void **state)
{
    int count = scaled(300);
    seed = 2;
    for (int k = 0; k < count; k++) {
        scene s, twice;
        random_scene(&s, 3 + k % 4, 2 + k % 4, 0, k % 2);
        memset(s.give, 0, sizeof s.give);
        twice = s;
        memcpy(add_box(&twice, -0.25, 0.5, s.b[0]), s.A, (size_t)s.n * sizeof(double));
        s.block[0].limit[0] -= 0.25;
        s.block[0].limit[1] += 0.5;
        zw_status one = solve(&s, ZW_CONTACT_CONVEX, NULL);
        assert_int_equal(solve(&twice, ZW_CONTACT_CONVEX, NULL), one);
        if (one == ZW_OK) {
            assert_true(away(s.n, twice.a, s.a) < 1e-7);
            assert_true(fabs(twice.lambda[0] + twice.lambda[twice.m - 1] - s.lambda[0]) <
                        1e-6 * (1 + fabs(s.lambda[0])));
        }
    }
    (void)state;
}

/* With Coulomb's cones. A symmetric box is also a cone of two rows whose normal row states that
 * lambda_N = limit: 0 a - b + lambda_N = 0. */
static void boxes_with_cones(void **state)
{
    gauss_islands *islands = gauss_islands_create();
    int count = scaled(600), solved = 0, jammed = 0, near = 0, same = 0, other = 0;
    seed = 3;
    for (int k = 0; k < count; k++) {
        scene s, as_cone;
        random_scene(&s, 4 + k % 4, 1 + k % 4, k % 2, 1 + k % 2);
        zw_status status = solve(&s, ZW_CONTACT_COULOMB, NULL);
        solved += status == ZW_OK;
        jammed += status == ZW_JAMMED; /* Painleve: Coulomb's law may have no solution */
        as_cone = s;
        if (status != ZW_OK) {
            continue;
        }
        for (int i = 0; i < s.m; i++) {
            s.guess[i] = s.lambda[i] * (1 + 0.1 * random_number());
        }
        near += solve_islands(&s, islands, ZW_CONTACT_COULOMB, s.guess) == ZW_OK &&
                s.certificate.worst <= 1e-8;
        double limit = 0.4;
        scene box = as_cone;
        *add_box(&box, -limit, limit, 0.1) = 1;
        double *A = add(&as_cone, (zw_block){.kind = ZW_CONE, .rows = 2, .friction = {1}}, limit);
        A[as_cone.n] = 1;
        as_cone.b[as_cone.m - 1] = 0.1;
        as_cone.give[as_cone.m - 2] = 1;
        if (solve(&box, ZW_CONTACT_COULOMB, NULL) == ZW_OK &&
            solve(&as_cone, ZW_CONTACT_COULOMB, NULL) == ZW_OK) {
            int agree = away(s.n, box.a, as_cone.a) < 1e-6;
            same += agree;
            other += !agree;
        }
    }
    print_message("boxes with cones: %d of %d solved, %d jam, %d again from near; "
                  "%d as cones, %d of them "
                  "on another branch\n",
                  solved, count, jammed, near, same + other, other);
    assert_true(solved + jammed == count && 100 * jammed <= count && near == solved);
    assert_true(20 * other <= same);
    gauss_islands_free(islands);
    (void)state;
}

/* A chain of many unknowns, too large for prox.c: dry friction on each, motors on every other, and
 * contacts on some. The dense kernel is the reference. */
enum { LONG = 120, CHAIN_ROWS = LONG + LONG / 2 + 3 * (LONG / 10) };

typedef struct chain {
    double M[2 * LONG], free[LONG], A[4 * CHAIN_ROWS], b[CHAIN_ROWS], give[CHAIN_ROWS];
    int start[LONG + 1], row[2 * LONG], A_start[CHAIN_ROWS + 1], column[4 * CHAIN_ROWS];
    zw_block block[CHAIN_ROWS];
    zw_gauss problem;
    int m, entries;
} chain;

static void put(chain *c, zw_block block, int column, int width)
{
    c->block[c->problem.block_count++] = block;
    for (int r = 0; r < block.rows; r++) {
        for (int i = 0; i < width; i++) {
            c->column[c->entries] = column + i;
            c->A[c->entries++] = width == 1 ? 1 : random_number() + 2 * (i == r);
        }
        c->b[c->m] = block.kind == ZW_CONE ? 0 : 0.5 * random_number();
        c->A_start[++c->m] = c->entries;
    }
}

static void make_chain(chain *c)
{
    *c = (chain){.m = 0};
    for (int j = 0, at = 0; j < LONG; j++) {
        c->start[j] = at;
        for (int i = j; i < LONG && i <= j + 1; i++) {
            c->row[at] = i;
            c->M[at++] = i == j ? 2.5 : -1;
        }
        c->start[j + 1] = at;
        c->free[j] = 3 * random_number();
        double limit = fabs(random_number());
        put(c, (zw_block){.kind = ZW_BOX, .rows = 1, .limit = {-limit, limit}}, j, 1);
        if (j % 2 == 0) {
            put(c, (zw_block){.kind = ZW_BOX, .rows = 1, .limit = {-1, 0.5}}, j, 1);
            c->give[c->m - 1] = 0.3;
        }
        if (j % 10 == 5) {
            put(c, (zw_block){.kind = ZW_CONE, .rows = 3, .friction = {0.3, 0.3}}, j, 3);
        }
    }
    c->problem.n = LONG;
    c->problem.metric =
        (zw_metric){.kind = ZW_METRIC_SPARSE, .value = c->M, .start = c->start, .row = c->row};
    c->problem.free = c->free;
    c->problem.block = c->block;
    c->problem.A = (zw_rows){.start = c->A_start, .column = c->column, .value = c->A};
    c->problem.b = c->b;
    c->problem.compliance = c->give;
}

static void long_chains(void **state)
{
    static chain c;
    gauss_islands *islands = gauss_islands_create();
    int count = scaled(20), other = 0, handed_on = 0;
    double worst = 0;
    seed = 5;
    for (int k = 0; k < count; k++) {
        make_chain(&c);
        zw_gauss_work *work = zw_gauss_work_create(&c.problem, NULL, NULL);
        zw_gauss_options options = {.contact = ZW_CONTACT_COULOMB};
        zw_motion motion;
        gauss_islands_answer answer;
        assert_int_equal(zw_gauss_solve(&c.problem, &options, work, &motion, NULL), ZW_OK);
        double guess[CHAIN_ROWS];
        for (int turn = 0; turn < 2; turn++) { /* cold, and warm from a nearby problem */
            options.guess = turn > 0 ? guess : NULL;
            assert_int_equal(
                gauss_islands_solve(islands, &c.problem, &options, NULL, &answer, NULL), ZW_OK);
            assert_int_equal(answer.largest, LONG);
            assert_true(answer.certificate <= 1e-8);
            handed_on += turn > 0 && answer.factorizations > 6;
            double off = away(LONG, answer.a, motion.a);
            other += off > 1e-6; /* Coulomb's law may have several motions */
            worst = off > 1e-6 ? worst : fmax(worst, off);
            for (int i = 0; i < c.m; i++) {
                guess[i] = answer.lambda[i] + 0.01 * random_number();
            }
        }
        zw_gauss_work_free(work);
    }
    print_message(
        "%d long chains: off the dense kernel by %.1e at most, %d on another branch; from "
        "near, %d of them handed on to it\n",
        count, worst, other, handed_on);
    assert_true(100 * other <= count && 100 * handed_on <= 3 * count);
    gauss_islands_free(islands);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mass),
        cmocka_unit_test(motor_with_a_range),
        cmocka_unit_test(driven_joint),
        cmocka_unit_test(brake_and_friction),
        cmocka_unit_test(certificate_sees_it),
        cmocka_unit_test(conflicts_are_named),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(agrees_with_all_modes),
        cmocka_unit_test(dependent_rows),
        cmocka_unit_test(boxes_with_cones),
        cmocka_unit_test(long_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
