/* The lambda(t) that minimises what is left of R: Theorem 2, see variation.h.
 *
 * At a sample W lambda = P lambda' + S lambda, with a vector of n forces for each multiplier. The
 * part of R along P determines lambda' for given lambda, and the other parts determine lambda, at
 * all times at once: this is a least-squares problem constrained by a differential equation. lambda
 * is a spline (spline.c) with one coefficient per sample and multiplier, so that the discrete
 * problem has no more conditions on lambda' than the continuous one; the integral becomes a sum
 * over samples. Each equation involves a few neighbouring coefficients (band.c), so the time is
 * proportional to the number of samples. The equations of one sample are first reduced to at most
 * two for each multiplier.
 *
 * Discretisation errors: for a motion, lambda' is accurate to order eight in the step at even
 * times; on very uneven ones splines are less accurate. So the problem is solved with splines of
 * degree six as well, and the difference of the two is the error estimate. Of a path that is not a
 * motion the defect comes out too small, by order three: lambda' has as many degrees of freedom as
 * there are samples, and near the ends the sum over samples does not represent the integral for
 * such a lambda. The weights of the sum are of order six; where times are so uneven that one would
 * not be positive, they are those of trapezoids. */
#include "path/law/variation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/dense/dense.h"
#include "path/fit/band.h"
#include "path/fit/spline.h"

enum { POLL = 1024, NODES = 6, LOOKS = 32 };

#define ROUND (8 * DBL_EPSILON)
#define LEAST 1e-10 /* lambda that exerts less than this part of its usual force is ignored */

/* lambda as splines of one degree. */
typedef struct unknown {
    path_spline spline;
    path_band band;
    double *coefficient; /* [(longest + 1) * carried] */
} unknown;

typedef struct solving {
    path_variation *of;
    path_rows rows;
    unknown by[2];  /* the difference of the two is the error estimate */
    double *weight; /* [longest part] */
    double *core;   /* [2 carried * n] */
    double *R, *other, *beta, *distance;
    int *order;
    double *equation; /* [width + 1] */
    double small;     /* weight of the equation lambda = N Phi, or lambda = 0 if N is infinite */
} solving;

/* ---- Weights --------------------------------------------------------------------------------- */

/* The integral from x[at] to x[at + 1] of the Lagrange polynomial of node k; three Gauss points are
 * exact for six nodes. */
static double lagrange(int nodes, const double *x, int k, int at)
{
    static const double point[3] = {-0.774596669241483377, 0, 0.774596669241483377};
    static const double share[3] = {5. / 18, 8. / 18, 5. / 18};
    double half = 0.5 * (x[at + 1] - x[at]), middle = 0.5 * (x[at] + x[at + 1]), sum = 0;
    for (int p = 0; p < 3; p++) {
        double product = share[p];
        for (int j = 0; j < nodes; j++) {
            product *= j == k ? 1 : (middle + half * point[p] - x[j]) / (x[k] - x[j]);
        }
        sum += product;
    }
    return 2 * half * sum;
}

static void trapezoids(long count, const double *t, double *weight)
{
    memset(weight, 0, (size_t)count * sizeof *weight);
    for (long i = 0; i + 1 < count; i++) {
        weight[i] += 0.5 * (t[i + 1] - t[i]);
        weight[i + 1] += 0.5 * (t[i + 1] - t[i]);
    }
}

/* Integrates the polynomial through the six samples around each interval; the total weights are
 * positive for samples that are evenly spaced, or nearly so. */
static void weigh(long count, const double *t, double *weight)
{
    int nodes = count < NODES ? (int)count : NODES, positive = 1;
    memset(weight, 0, (size_t)count * sizeof *weight);
    for (long i = 0; i + 1 < count; i++) {
        long first = i - (nodes / 2 - 1);
        first = first < 0 ? 0 : first + nodes > count ? count - nodes : first;
        for (int k = 0; k < nodes; k++) {
            weight[first + k] += lagrange(nodes, t + first, k, (int)(i - first));
        }
    }
    for (long i = 0; i < count; i++) {
        long before = i > 0 ? i - 1 : 0, after = i + 1 < count ? i + 1 : i;
        positive &= weight[i] > 0.1 * (t[after] - t[before]);
    }
    if (!positive) {
        trapezoids(count, t, weight);
    }
}

/* ---- Equations ------------------------------------------------------------------------------- */

static zw_status look(solving *s, long i, zw_error *error)
{
    const path_variation *of = s->of;
    if (i % POLL == POLL - 1 && of->poll && of->poll(of->user, of->t[i])) {
        return base_fail_as(error, ZW_INTERRUPTED);
    }
    return path_rows_look(&s->rows, of, i, error);
}

/* The usual size of the force that lambda = 1 exerts, or a change of lambda by 1 over the duration
 * of the part. */
static zw_status usual(solving *s, long first, long count, double *size, zw_error *error)
{
    const path_variation *of = s->of;
    long every = count / LOOKS + 1, looks = 0;
    int n = s->rows.n, half = s->rows.carried * n;
    double time = of->t[first + count - 1] - of->t[first], sum = 0;
    time = time > 0 ? time : 1;
    for (long i = 0; i < count; i += every, looks++) {
        zw_status status = path_rows_look(&s->rows, of, first + i, error);
        if (status != ZW_OK) {
            return status;
        }
        sum += dense_dot(half, s->rows.x, s->rows.x) / (time * time);
        sum += dense_dot(half, s->rows.x + half, s->rows.x + half);
    }
    *size = sqrt(sum / (double)(looks * s->rows.carried));
    return ZW_OK;
}

/* Reduces the equations of the current sample to at most two for each multiplier; returns their
 * number. */
static int condense(solving *s)
{
    const path_rows *rows = &s->rows;
    int n = rows->n, k = rows->carried, rank = rows->rank, rest = n - rank;
    for (int j = 0; j < 2 * k; j++) {
        memcpy(s->core + j * n, rows->x + j * n + rank, (size_t)rest * sizeof(double));
    }
    memcpy(s->R, rows->x + 2 * k * n + rank, (size_t)rest * sizeof(double));
    int count = dense_lq(2 * k, rest, s->core, n, 0, s->order, s->beta, s->distance);
    dense_lq_apply_transposed(count, rest, s->core, n, s->beta, s->R);
    return count;
}

/* Adds those equations, times root, to the equations for the coefficients of a spline. */
static void add(solving *s, unknown *u, int count, long at, double t, double root)
{
    int n = s->rows.n, k = s->rows.carried, width = u->band.width;
    double value[SPLINE_DEGREE + 1], rate[SPLINE_DEGREE + 1];
    spline_at(&u->spline, at, t, value, rate);
    for (int e = 0; e < count; e++) {
        memset(s->equation, 0, (size_t)width * sizeof(double));
        for (int i = e; i < 2 * k; i++) {
            double entry = root * s->core[i * n + e];
            int j = s->order[i] % k;
            const double *by = s->order[i] < k ? rate : value;
            for (int l = 0; l <= u->spline.degree; l++) {
                s->equation[l * k + j] += entry * by[l];
            }
        }
        s->equation[width] = root * s->R[e];
        band_add(&u->band, u->spline.first[at] * k, s->equation);
    }
    for (int j = 0; j < k && s->of->system->law.flex > 0; j++) {
        memset(s->equation, 0, (size_t)width * sizeof(double));
        for (int l = 0; l <= u->spline.degree; l++) {
            s->equation[l * k + j] = s->small * value[l];
        }
        s->equation[width] = s->small * s->rows.held[j];
        band_add(&u->band, u->spline.first[at] * k, s->equation);
    }
}

/* x = R - W lambda at sample i, the current one; lambda and its rate are [carried]. Returns the
 * size of the terms added. */
static double subtract(const solving *s, const unknown *u, long i, long at, double *x,
                       double *lambda, double *change)
{
    const path_rows *rows = &s->rows;
    int n = rows->n, k = rows->carried;
    double value[SPLINE_DEGREE + 1], rate[SPLINE_DEGREE + 1], size = sqrt(rows->square);
    const double *c = u->coefficient + u->spline.first[at] * k;
    spline_at(&u->spline, at, s->of->t[i], value, rate);
    memcpy(x, rows->x + 2 * k * n, (size_t)n * sizeof *x);
    for (int j = 0; j < k; j++) {
        double sum[2] = {0}, whole[2] = {0};
        for (int l = 0; l <= u->spline.degree; l++) {
            double by[2] = {c[l * k + j] * value[l], c[l * k + j] * rate[l]};
            sum[0] += by[0];
            sum[1] += by[1];
            whole[0] += fabs(by[0]);
            whole[1] += fabs(by[1]);
        }
        lambda[j] = sum[0];
        change[j] = sum[1];
        dense_axpy(n, -sum[1], rows->x + j * n, x);
        dense_axpy(n, -sum[0], rows->x + (k + j) * n, x);
        size += whole[1] * dense_norm(n, rows->x + j * n);
        size += whole[0] * dense_norm(n, rows->x + (k + j) * n);
    }
    return size;
}

/* Computes what is left of R at the current sample. */
static void leave(solving *s, long i, long at)
{
    path_variation *of = s->of;
    const path_rows *rows = &s->rows;
    int n = rows->n, k = rows->carried;
    double *x = of->apart + i * n, *lambda = of->lambda + i * of->system->m;
    double *carried = of->carried + i * k, *change = of->rate + i * k;
    subtract(s, &s->by[1], i, at, s->other, carried, change);
    double size = subtract(s, &s->by[0], i, at, x, carried, change);
    dense_axpy(n, -1, x, s->other);
    of->error[i] = ROUND * size + dense_norm(n - rows->rank, s->other + rows->rank);
    for (int j = 0; j < k; j++) {
        lambda[of->system->law.row[j]] = carried[j];
    }
    path_rows_take(rows, x, lambda);
    double square = dense_dot(n, x, x);
    of->size[i] = sqrt(square);
    of->square[i] = rows->square;
    of->whole += s->weight[at] * rows->square;
    of->defect += s->weight[at] * square;
    path_rows_force(rows, x, of->extra + i * n);
    path_rows_apart(rows, x);
}

static void begin(solving *s, long first, long count)
{
    const path_variation *of = s->of;
    double pull = of->system->law.flex > 0 ? 1e-6 * s->small : s->small;
    for (int d = 0; d < 2; d++) {
        unknown *u = &s->by[d];
        spline_make(&u->spline, SPLINE_DEGREE - 2 * d, count, of->t + first);
        u->band.size = u->spline.size * s->rows.carried;
        u->band.width = (u->spline.degree + 1) * s->rows.carried;
        band_clear(&u->band, pull);
    }
    weigh(count, of->t + first, s->weight);
}

static zw_status solve_part(solving *s, long first, long count, zw_error *error)
{
    path_variation *of = s->of;
    double time = of->t[first + count - 1] - of->t[first], size = 0;
    zw_status status = usual(s, first, count, &size, error);
    if (status != ZW_OK) {
        return status;
    }
    s->small = fmax(LEAST, of->blur) * size;
    begin(s, first, count);
    for (long i = 0; i < count && status == ZW_OK; i++) {
        /* weights near 1, as `small` does not depend on the unit of time */
        double root = time > 0 ? sqrt(s->weight[i] * (double)count / time) : 1;
        status = look(s, first + i, error);
        int equations = status == ZW_OK ? condense(s) : 0;
        for (int d = 0; d < 2 && status == ZW_OK; d++) {
            add(s, &s->by[d], equations, i, of->t[first + i], root);
        }
    }
    for (int d = 0; d < 2 && status == ZW_OK; d++) {
        band_solve(&s->by[d].band, s->by[d].coefficient);
    }
    for (long i = 0; i < count && status == ZW_OK; i++) {
        status = look(s, first + i, error);
        if (status == ZW_OK) {
            leave(s, first + i, i);
        }
    }
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

static void lay_out(solving *s, long longest, base_arena *arena)
{
    const zw_system *system = s->of->system;
    size_t n = (size_t)system->n, k = (size_t)system->law.carried, count = (size_t)longest;
    size_t width = (SPLINE_DEGREE + 1) * k + 1;
    path_rows_lay_out(&s->rows, system, arena);
    s->weight = base_arena_doubles(arena, count);
    for (size_t d = 0; d < 2; d++) {
        unknown *u = &s->by[d];
        u->spline.knot = base_arena_doubles(arena, (size_t)spline_knots(longest));
        u->spline.first = base_arena_bytes(arena, count * sizeof(long));
        u->coefficient = base_arena_doubles(arena, (count + 1) * k);
        u->band.row = base_arena_doubles(arena, (count + 1) * k * (width - 2 * d * k));
    }
    s->equation = base_arena_doubles(arena, width);
    s->core = base_arena_doubles(arena, 2 * k * n);
    s->R = base_arena_doubles(arena, n);
    s->other = base_arena_doubles(arena, n);
    s->beta = base_arena_doubles(arena, 2 * k + n);
    s->distance = base_arena_doubles(arena, 4 * k);
    s->order = base_arena_ints(arena, 2 * k);
}

zw_status path_variation_solve(path_variation *variation, zw_error *error)
{
    solving s = {.of = variation};
    base_arena arena = {0};
    long longest = 1;
    for (int p = 0; p < variation->parts; p++) {
        long count = variation->part[p + 1] - variation->part[p];
        longest = count > longest ? count : longest;
    }
    lay_out(&s, longest, &arena);
    void *memory = base_alloc(arena.used + 1);
    if (!memory) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = memory};
    lay_out(&s, longest, &arena);
    variation->whole = variation->defect = 0;
    zw_status status = ZW_OK;
    for (int p = 0; p < variation->parts && status == ZW_OK; p++) {
        long first = variation->part[p];
        status = solve_part(&s, first, variation->part[p + 1] - first, error);
    }
    base_free(memory);
    return status;
}
