/* Converts the integrators' dense output to the Bernstein basis.
 *
 * DOP853's interpolant (Hairer, Norsett, Wanner 1993, II.6) is nested products by x and u = 1 - x:
 *
 *     y = y0 + x (F0 + u (F1 + x (F2 + u (F3 + x (F4 + u (F5 + x F6))))))
 *
 * and in Bernstein's basis of degree d + 1, with p_i the coefficients of p in that of degree d,
 *
 *     (x p)_i = i/(d + 1) p_{i-1},     (u p)_i = (d + 1 - i)/(d + 1) p_i,     (p + c)_i = p_i + c,
 *
 * all of them sums and products with factors in [0, 1]: no error grows. Other methods are
 * interpolated at the nodes of `bernstein_node`, as many as their degree needs.
 *
 * Round-off. A coefficient results from at most `degree` such stages or a row of `fit`, and
 * restricting takes 2 degree stages c = (1 - s) c + s c', each with an error of at most two units
 * in the last place of the largest coefficient (s and 1 - s are rounded too). So values are within
 * (6 degree + 8) gain eps times the largest coefficient. Both ends of a step are exact. */
#include "step/ode/path.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/elementary.h"
#include "step/ode/inner.h"
#include "step/ode/leap.h"

#include <math.h>
#include <string.h>

enum { MOST = LEAP_DEGREE }; /* of the polynomials */

struct step_path {
    int n;     /* of y */
    int count; /* components in use */
    int *component;
    int degree;
    double t0, h;
    double *b, *slope, *part; /* [(MOST + 1) (2 count)] of y - y0, then the size of their terms */
    double *first, *last;     /* [count] the exact values at both ends */
    double *whole;            /* [n] */
    double *fit;              /* [(MOST + 1)^2] of fit_degree */
    int fit_degree;
    expr_jet *y; /* [n] */
    step_piece piece;
};

static void lay_out(step_path *p, base_arena *arena)
{
    size_t count = (size_t)p->count, n = (size_t)p->n;
    p->component = base_arena_ints(arena, count);
    p->b = base_arena_doubles(arena, (MOST + 1) * 2 * count);
    p->slope = base_arena_doubles(arena, (MOST + 1) * 2 * count);
    p->part = base_arena_doubles(arena, (MOST + 1) * 2 * count);
    p->first = base_arena_doubles(arena, count);
    p->last = base_arena_doubles(arena, count);
    p->whole = base_arena_doubles(arena, n);
    p->fit = base_arena_doubles(arena, (MOST + 1) * (MOST + 1));
    p->y = base_arena_bytes(arena, n * sizeof *p->y);
}

step_path *path_create(const stepper *s, const int *component, int count, zw_error *error)
{
    step_path shape = {.n = s->n, .count = component ? count : s->n, .fit_degree = -1};
    base_arena arena = {0};
    base_arena_bytes(&arena, sizeof shape);
    lay_out(&shape, &arena);
    arena = (base_arena){.block = base_alloc(arena.used)};
    if (!arena.block) {
        base_no_memory(error);
        return NULL;
    }
    step_path *p = base_arena_bytes(&arena, sizeof *p);
    *p = shape;
    lay_out(p, &arena);
    for (int i = 0; i < p->count; i++) {
        p->component[i] = component ? component[i] : i;
    }
    p->piece.y = p->y;
    return p;
}

void path_free(step_path *path)
{
    base_free(path);
}

/* ---- Bernstein's basis ------------------------------------------------------------------------*/

void bernstein_restrict(int degree, int n, double *b, double from, double to)
{
    if (to < 1.0) { /* the left part of a division at `to` */
        for (int r = 1; r <= degree; r++) {
            for (int i = degree; i >= r; i--) {
                double *high = b + (long)i * n, *low = high - n;
                for (int k = 0; k < n; k++) {
                    high[k] = (1.0 - to) * low[k] + to * high[k];
                }
            }
        }
    }
    if (from > 0.0) { /* then the right part of one at from/to */
        double at = from / to;
        for (int r = 1; r <= degree; r++) {
            for (int i = 0; i <= degree - r; i++) {
                double *low = b + (long)i * n, *high = low + n;
                for (int k = 0; k < n; k++) {
                    low[k] = (1.0 - at) * low[k] + at * high[k];
                }
            }
        }
    }
}

double bernstein_node(int degree, int j)
{
    static const double PI = 3.14159265358979323846;
    return j == 0 ? 0.0 : j == degree ? 1.0 : 0.5 * (1.0 - math_cos(PI * j / degree));
}

/* All B_i(x), i = 0..degree. */
static void basis_at(int degree, double x, double *basis)
{
    basis[0] = 1.0;
    for (int d = 1; d <= degree; d++) {
        basis[d] = x * basis[d - 1];
        for (int i = d - 1; i > 0; i--) {
            basis[i] = x * basis[i - 1] + (1.0 - x) * basis[i];
        }
        basis[0] *= 1.0 - x;
    }
}

/* The inverse of the matrix B_i(x_j) by Gauss and Jordan, with pivots; it is totally positive. */
double bernstein_fit(int degree, double *fit)
{
    int n = degree + 1;
    double matrix[(MOST + 1) * (MOST + 1)], most = 0.0;
    for (int j = 0; j < n; j++) {
        basis_at(degree, bernstein_node(degree, j), matrix + (long)j * n);
        for (int i = 0; i < n; i++) {
            fit[j * n + i] = i == j;
        }
    }
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++) {
            pivot = fabs(matrix[r * n + c]) > fabs(matrix[pivot * n + c]) ? r : pivot;
        }
        for (int k = 0; k < n; k++) {
            double a = matrix[c * n + k], b = fit[c * n + k];
            matrix[c * n + k] = matrix[pivot * n + k];
            fit[c * n + k] = fit[pivot * n + k];
            matrix[pivot * n + k] = a;
            fit[pivot * n + k] = b;
        }
        double scale = 1.0 / matrix[c * n + c];
        for (int k = 0; k < n; k++) {
            matrix[c * n + k] *= scale;
            fit[c * n + k] *= scale;
        }
        for (int r = 0; r < n; r++) {
            double factor = r == c ? 0.0 : matrix[r * n + c];
            for (int k = 0; k < n; k++) {
                matrix[r * n + k] -= factor * matrix[c * n + k];
                fit[r * n + k] -= factor * fit[c * n + k];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            sum += fabs(fit[i * n + j]);
        }
        most = fmax(most, sum);
    }
    return most;
}

/* ---- The last step ----------------------------------------------------------------------------*/

static void take_dop853(step_path *p, const step_ode *ode)
{
    int n = ode->n, m = p->count;
    for (int k = 0; k < m; k++) {
        p->b[k] = ode->dense[6 * n + p->component[k]];
        p->b[m + k] = fabs(p->b[k]);
    }
    for (int d = 0; d < 7; d++) { /* by x, u, x, u, x, u, x; then add F5, .. F0 */
        int by_x = d % 2 == 0;
        for (int i = d + 1; i >= 0; i--) {
            double part = (double)(by_x ? i : d + 1 - i) / (d + 1);
            double *to = p->b + (long)i * 2 * m;
            const double *from = by_x ? to - 2 * m : to;
            for (int k = 0; k < m; k++) {
                int c = p->component[k];
                double add = d < 6 ? ode->dense[(5 - d) * n + c] : 0.0;
                double value = part == 0.0 ? 0.0 : part * from[k];
                double size = part == 0.0 ? 0.0 : part * from[m + k];
                to[k] = add + value;
                to[m + k] = fabs(add) + size;
            }
        }
    }
    p->degree = 7;
}

/* The start is exact, and so are components that do not change. */
static zw_status take_samples(step_path *p, stepper *s, int degree, zw_error *error)
{
    const stepper_view *at = stepper_look(s);
    int m = p->count, n = degree + 1;
    if (p->fit_degree != degree) {
        bernstein_fit(degree, p->fit);
        p->fit_degree = degree;
    }
    memset(p->b, 0, (size_t)n * 2 * (size_t)m * sizeof *p->b);
    for (int j = 0; j < n; j++) {
        double x = bernstein_node(degree, j);
        double t = j == 0 ? at->t_before : j == degree ? at->t : at->t_before + x * at->h;
        zw_status status = stepper_interpolate(s, t, p->whole, error);
        if (status != ZW_OK) {
            return status;
        }
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < m; k++) {
                int c = p->component[k];
                double *to = p->b + (long)i * 2 * m + k, weight = p->fit[i * n + j];
                to[0] += weight * (p->whole[c] - at->y_before[c]);
                to[m] += p->whole[c] != at->y_before[c]
                             ? fabs(weight) * (fabs(p->whole[c]) + fabs(at->y_before[c]))
                             : 0.0;
            }
        }
    }
    for (int k = 0; k < m; k++) {
        p->b[k] = p->b[m + k] = 0.0;
    }
    p->degree = degree;
    return ZW_OK;
}

/* The derivative by x, and the ends. */
static void finish(step_path *p, const stepper_view *at)
{
    int m = p->count, d = p->degree;
    for (int k = 0; k < m; k++) {
        p->first[k] = at->y_before[p->component[k]];
        p->last[k] = at->y[p->component[k]];
    }
    for (int i = 0; i < d; i++) {
        const double *b = p->b + (long)i * 2 * m, *next = b + 2 * m;
        double *slope = p->slope + (long)i * 2 * m;
        for (int k = 0; k < m; k++) {
            int still = next[k] == b[k] && next[m + k] == b[m + k];
            slope[k] = d * (next[k] - b[k]);
            slope[m + k] = still ? 0.0 : d * (next[m + k] + b[m + k]);
        }
    }
}

/* The stepper as a DOP853 whose coefficients are known here, or NULL. Its dense output is
 * prepared. */
static zw_status find_dop853(step_path *p, stepper *s, const step_ode **found, zw_error *error)
{
    const step_ode *ode = s->kind == &step_ode_kind ? (const step_ode *)s : NULL;
    *found = NULL;
    if (!ode || ode->scheme != &step_scheme_dop853 || leap_taken(ode)) {
        return ZW_OK;
    }
    zw_status status = stepper_interpolate(s, ode->t0 + 0.5 * ode->h, p->whole, error);
    *found = ode;
    return status;
}

zw_status path_take(step_path *p, stepper *s, int still, zw_error *error)
{
    const stepper_view *at = stepper_look(s);
    const step_ode *ode;
    p->t0 = at->t_before;
    p->h = at->t - at->t_before;
    p->degree = -1;
    if (still) {
        return ZW_OK;
    }
    zw_status status = find_dop853(p, s, &ode, error);
    if (status == ZW_OK && ode && ode->dense_ready) {
        take_dop853(p, ode);
    } else if (status == ZW_OK) { /* DOP853: a step of a few units in the last place */
        status = take_samples(p, s, ode ? 1 : stepper_degree(s), error);
    }
    if (status == ZW_OK) {
        finish(p, at);
    }
    return status;
}

/* ---- Pieces -----------------------------------------------------------------------------------*/

/* The range between the least and the largest coefficient of each polynomial of p->part. */
static void bound(const step_path *p, int degree, int at_rate)
{
    int m = p->count;
    double eps = (6 * p->degree + 8) * DBL_EPSILON;
    for (int k = 0; k < m; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int i = 0; i <= degree; i++) {
            double c = p->part[(long)i * 2 * m + k],
                   noise = eps * p->part[((long)i * 2 + 1) * m + k];
            lo = fmin(lo, c - noise);
            hi = fmax(hi, c + noise);
        }
        expr_jet *to = &p->y[p->component[k]];
        if (at_rate) {
            to->rate = (expr_interval){lo, hi};
        } else {
            to->value = interval_out(p->first[k] + lo, p->first[k] + hi);
        }
    }
}

static void restrict_part(step_path *p, const double *from_b, int degree, double from, double to)
{
    int m = 2 * p->count;
    memcpy(p->part, from_b, ((size_t)degree + 1) * (size_t)m * sizeof *from_b);
    bernstein_restrict(degree, m, p->part, from, to);
}

static void exact_end(step_path *p, const double *y)
{
    for (int k = 0; k < p->count; k++) {
        p->y[p->component[k]] = (expr_jet){interval_point(y[k]), interval_point(0.0)};
    }
}

const step_piece *path_piece(step_path *p, double from, double to)
{
    double a = p->t0 + from * p->h, b = p->t0 + to * p->h;
    p->piece.t = (expr_jet){interval_out(fmin(a, b), fmax(a, b)), interval_point(p->h)};
    if (from == to && (from == 0.0 || from == 1.0)) {
        p->piece.t.value = interval_point(from == 0.0 ? p->t0 : p->t0 + p->h);
    }
    if (p->degree < 0) {
        return &p->piece;
    }
    if (from == to && (from == 0.0 || from == 1.0)) {
        exact_end(p, from == 0.0 ? p->first : p->last);
        return &p->piece;
    }
    int d = p->degree;
    restrict_part(p, p->b, d, from, to);
    bound(p, from == to ? 0 : d, 0);
    if (from < to) {
        restrict_part(p, p->slope, d - 1, from, to);
        bound(p, d - 1, 1);
        return &p->piece;
    }
    for (int k = 0; k < p->count; k++) {
        p->y[p->component[k]].rate = interval_point(0.0);
    }
    return &p->piece;
}
