/* An interior point method for the core problem: r and s = w + shift both inside the cone,
 * r o s -> 0 along the central path (Mehrotra's steps, Nesterov and Todd's scaling W).
 *
 * With x = B' r kept exact, one step solves (B B' + W^2) dr = W d - (w + shift - s), which is
 * Gauss's problem with equality rows B and compliance W^2. As everywhere it is factored by
 * reflections of [B W], so that B B' is never formed: that is what lets it follow the path where
 * the rows are nearly dependent and proximal steps stall.
 *
 * Where the admissible set has no interior (a pair of opposed inequalities) the central r is
 * infinite. A small compliance, `ridge`, keeps it finite; it perturbs w by ridge * r, which Newton
 * then removes.
 *
 * A box, low <= r <= high, is no cone. It has a room to each of its ends, r - low and high - r, and
 * a push p >= 0 from each, with w = p_low - p_high and room * p -> 0. A step changes a push by
 * dp = (aim - p droom)/room, droom = +dr at the lower end and -dr at the upper one, so that
 *
 *     (B B' + p_low/room_low + p_high/room_high) dr = aim_low/room_low - aim_high/room_high
 *                                                     - (w - (p_low - p_high)):
 *
 * a row with a compliance as all others. An end at infinity has no push, and where both ends are
 * equal, dr = 0. Proximal steps do not find the way where the rows of a cone differ much in length,
 * as those of rolling (1e-4 of sliding), and joints have friction or motors limits as well:
 * casters.
 *
 * For Coulomb's law the shift follows the slip, step by step ("loose": the fixed point and the path
 * converge together). The last digits are left to Newton, tried each time the gap has shrunk
 * enough. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "math/cone.h"
#include "math/dense/dense.h"
#include "math/dense/small.h"
#include "math/jordan.h"

enum { LIMIT = 80, N = ZW_CONE_ROWS };

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* A box has its numbers where a cone has its scaling: of the lower and of the upper end the push,
 * its change, and the product of room and push that a step aims at. */
typedef struct box {
    double push[2], change[2], aim[2];
} box;

static box box_get(const jordan_scaling *W)
{
    return (box){
        .push = {W->v[0], W->v[1]}, .change = {W->v[2], W->v[3]}, .aim = {W->v[4], W->v[5]}};
}

static void box_put(jordan_scaling *W, const box *it)
{
    for (int end = 0; end < 2; end++) {
        W->v[end] = it->push[end];
        W->v[2 + end] = it->change[end];
        W->v[4 + end] = it->aim[end];
    }
}

static double box_room(const gauss_cone *cone, double r, int end)
{
    return end == 0 ? r - cone->low : cone->high - r;
}

/* Is r free to move, and limited at this end? */
static int box_ends(const gauss_cone *cone, int end)
{
    return cone->low < cone->high && isfinite(end == 0 ? cone->low : cone->high);
}

/* In the middle; `size` inside where there is one end. */
static double box_start(const gauss_cone *cone, double size, double gap, box *it)
{
    int low = isfinite(cone->low), high = isfinite(cone->high);
    double r = low && high ? 0.5 * (cone->low + cone->high)
               : low       ? cone->low + size
               : high      ? cone->high - size
                           : 0.0;
    *it = (box){0};
    for (int end = 0; end < 2; end++) {
        it->push[end] = box_ends(cone, end) ? gap / box_room(cone, r, end) : 0.0;
    }
    return r;
}

static double box_compliance(const gauss_cone *cone, double r, const box *it)
{
    double sum = 0.0;
    for (int end = 0; end < 2; end++) {
        sum += box_ends(cone, end) ? it->push[end] / box_room(cone, r, end) : 0.0;
    }
    return sum;
}

/* aim_low/room_low - aim_high/room_high; `dr`: of the step before, whose second order counts. */
static double box_aim(const gauss_cone *cone, double r, double target, const double *dr, box *it)
{
    double sum = 0.0;
    for (int end = 0; end < 2; end++) {
        if (box_ends(cone, end)) {
            double room = box_room(cone, r, end), sign = end == 0 ? 1.0 : -1.0;
            it->aim[end] = target - it->push[end] * room;
            it->aim[end] -= dr ? sign * *dr * it->change[end] : 0.0;
            sum += sign * it->aim[end] / room;
        }
    }
    return sum;
}

/* The changes of both pushes for that of r; returns that of their difference. */
static double box_change(const gauss_cone *cone, double r, double dr, box *it)
{
    for (int end = 0; end < 2; end++) {
        double move = end == 0 ? dr : -dr;
        it->change[end] = box_ends(cone, end)
                              ? (it->aim[end] - it->push[end] * move) / box_room(cone, r, end)
                              : 0.0;
    }
    return it->change[0] - it->change[1];
}

/* The largest step t <= limit that leaves each room and push positive. */
static double box_step(const gauss_cone *cone, double r, double dr, const box *it, double limit)
{
    for (int end = 0; end < 2; end++) {
        if (box_ends(cone, end)) {
            double room = box_room(cone, r, end), move = end == 0 ? dr : -dr;
            limit = move < 0.0 ? fmin(limit, -room / move) : limit;
            limit = it->change[end] < 0.0 ? fmin(limit, -it->push[end] / it->change[end]) : limit;
        }
    }
    return limit;
}

/* ---- The path -------------------------------------------------------------------------------- */

/* r . s over the number of pairs of which one is to vanish, after a part t of the step. */
static double interior_gap(const gauss_core *core, const double *s, double t, const double *dr,
                           const double *ds)
{
    double sum = 0.0;
    int pairs = 0;
    for (int k = 0; k < core->cone_count; k++) {
        const gauss_cone *cone = &core->cone[k];
        int at = cone->first;
        if (core_is_box(cone)) {
            box it = box_get(&core->scaling[k]);
            double r = core->r[at] + (t > 0.0 ? t * dr[at] : 0.0);
            for (int end = 0; end < 2; end++) {
                int ends = box_ends(cone, end);
                sum += ends ? box_room(cone, r, end) * (it.push[end] + t * it.change[end]) : 0.0;
                pairs += ends;
            }
            continue;
        }
        for (int i = at; i < at + cone->rows; i++) {
            double r = core->r[i] + (t > 0.0 ? t * dr[i] : 0.0);
            sum += r * (s[i] + (t > 0.0 ? t * ds[i] : 0.0));
        }
        pairs++;
    }
    return pairs > 0 ? sum / pairs : 0.0;
}

/* w = (B B' + ridge) r + c, and the shift for Coulomb's law. */
static void interior_residual(gauss_core *core, double ridge)
{
    core_force(core, core->r, core->x);
    core_residual(core, core->x, core->w);
    dense_axpy(core->p, ridge, core->r, core->w);
    for (int k = 0; k < core->cone_count && core->coulomb; k++) {
        core->shift[k] = cone_tangent(core->cone[k].rows, core->w + core->cone[k].first);
    }
}

/* The columns of E after the rows of cone k: V with V V' = W W + ridge, lower triangular. */
static void interior_columns(gauss_core *core, double ridge, int k, const jordan_scaling *W)
{
    int at = core->cone[k].first, d = core->cone[k].rows, width = core->q + core->p;
    double square[N * N];
    for (int j = 0; j < d; j++) {
        double unit[N] = {0.0}, column[N];
        unit[j] = 1.0;
        jordan_apply(d, W, unit, column);
        jordan_apply(d, W, column, square + (long)j * d);
        square[j * d + j] += ridge;
    }
    small_cholesky(d, square, DBL_MIN);
    for (int i = 0; i < d; i++) {
        for (int j = 0; j <= i; j++) {
            core->E[(long)(at + i) * width + core->q + at + j] = square[i * d + j];
        }
    }
}

/* The same for a box; of one whose ends are equal, dr = 0. */
static void interior_box(gauss_core *core, double ridge, int k, const jordan_scaling *W)
{
    const gauss_cone *cone = &core->cone[k];
    double *row = core->E + (long)cone->first * (core->q + core->p);
    box it = box_get(W);
    if (cone->low < cone->high) {
        row[core->q + cone->first] = sqrt(box_compliance(cone, core->r[cone->first], &it) + ridge);
    } else {
        memset(row, 0, (size_t)core->q * sizeof *row);
        row[core->q + cone->first] = 1.0;
    }
}

/* E = [B V], factored. 0 if r or s has left the cone. */
static int interior_factor(gauss_core *core, double ridge, double *s, jordan_scaling *W)
{
    int width = core->q + core->p;
    for (int i = 0; i < core->p; i++) {
        double *row = core->E + (long)i * width;
        memcpy(row, core->B + (long)i * core->stride, (size_t)core->q * sizeof *row);
        memset(row + core->q, 0, (size_t)core->p * sizeof *row);
    }
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        if (core_is_box(&core->cone[k])) {
            interior_box(core, ridge, k, &W[k]);
            continue;
        }
        if (!jordan_scale(d, core->r + at, s + at, &W[k])) {
            return 0;
        }
        interior_columns(core, ridge, k, &W[k]);
    }
    core->rank =
        dense_lq(core->p, width, core->E, width, 0.0, core->pivot, core->beta, core->distance);
    core->factorizations++;
    core->iterations++;
    return core->rank == core->p;
}

/* dr and ds for the scaled right-hand side d (in place of which dr is not needed any more). */
static void interior_solve(gauss_core *core, jordan_scaling *W, const double *s, const double *d,
                           double *dr, double *ds)
{
    int p = core->p, width = core->q + p;
    double *t = core->v[7];
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first;
        if (core_is_box(&core->cone[k])) {
            int moves = core->cone[k].low < core->cone[k].high;
            ds[at] = moves ? d[at] : core->w[at] - s[at];
        } else {
            jordan_apply(core->cone[k].rows, &W[k], d + at, ds + at); /* ds = W d for now */
        }
    }
    for (int j = 0; j < p; j++) {
        const double *row = core->E + (long)j * width;
        int i = core->pivot[j];
        double defect = core->w[i] - s[i] + core->first_of[i];
        t[j] = (ds[i] - defect - dense_dot(j, row, t)) / row[j];
    }
    for (int j = p - 1; j >= 0; j--) {
        const double *row = core->E + (long)j * width;
        t[j] /= row[j];
        dense_axpy(j, -t[j], row, t);
    }
    for (int j = 0; j < p; j++) {
        dr[core->pivot[j]] = t[j];
    }
    for (int k = 0; k < core->cone_count; k++) { /* ds = W (d - W dr) */
        int at = core->cone[k].first, n = core->cone[k].rows;
        double u[N], v[N];
        if (core_is_box(&core->cone[k])) {
            box it = box_get(&W[k]);
            ds[at] = box_change(&core->cone[k], core->r[at], dr[at], &it);
            box_put(&W[k], &it);
            continue;
        }
        jordan_apply(n, &W[k], dr + at, u);
        for (int i = 0; i < n; i++) {
            u[i] = d[at + i] - u[i];
        }
        jordan_apply(n, &W[k], u, v);
        memcpy(ds + at, v, (size_t)n * sizeof *v);
    }
}

static double interior_step(const gauss_core *core, const double *s, const double *dr,
                            const double *ds)
{
    double t = 1.0;
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        if (core_is_box(&core->cone[k])) {
            box it = box_get(&core->scaling[k]);
            t = box_step(&core->cone[k], core->r[at], dr[at], &it, t);
            continue;
        }
        t = jordan_step(d, core->r + at, dr + at, t);
        t = jordan_step(d, s + at, ds + at, t);
    }
    return t;
}

/* The scaled right-hand side: lambda \ (sigma mu e - lambda o lambda - (W \ ds) o (W dr)). */
static void interior_aim(gauss_core *core, jordan_scaling *W, double target, const double *dr,
                         const double *ds, double *d)
{
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, n = core->cone[k].rows;
        double y[N], u[N], v[N], z[N];
        if (core_is_box(&core->cone[k])) {
            box it = box_get(&W[k]);
            d[at] = box_aim(&core->cone[k], core->r[at], target, dr ? dr + at : NULL, &it);
            box_put(&W[k], &it);
            continue;
        }
        jordan_product(n, W[k].lambda, W[k].lambda, y);
        for (int i = 0; i < n; i++) {
            y[i] = (i == 0 ? target : 0.0) - y[i];
        }
        if (dr != NULL) {
            jordan_apply(n, &W[k], dr + at, u);
            jordan_apply_inverse(n, &W[k], ds + at, v);
            jordan_product(n, u, v, z);
            for (int i = 0; i < n; i++) {
                y[i] -= z[i];
            }
        }
        jordan_divide(n, W[k].lambda, y, d + at);
    }
}

static void interior_start(gauss_core *core, double *s)
{
    double size = fmax(core->V, core->held);
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first;
        if (core_is_box(&core->cone[k])) {
            box it;
            core->r[at] = box_start(&core->cone[k], size, size * core->V, &it);
            s[at] = it.push[0] - it.push[1];
            box_put(&core->scaling[k], &it);
            continue;
        }
        for (int i = 0; i < core->cone[k].rows; i++) {
            core->r[at + i] = i == 0 ? size : 0.0;
            s[at + i] = i == 0 ? core->V : 0.0;
        }
    }
}

/* One predictor-corrector step; 0 on breakdown. */
static int interior_advance(gauss_core *core, double ridge, double *s, double *d, double *dr,
                            double *ds)
{
    int p = core->p;
    for (int k = 0; k < core->cone_count; k++) {
        for (int i = 0; i < core->cone[k].rows; i++) {
            core->first_of[core->cone[k].first + i] = i == 0 ? core->shift[k] : 0.0;
        }
    }
    double mu = interior_gap(core, s, 0.0, NULL, NULL);
    if (!interior_factor(core, ridge, s, core->scaling)) {
        return 0;
    }
    interior_aim(core, core->scaling, 0.0, NULL, NULL, d);
    interior_solve(core, core->scaling, s, d, dr, ds);
    double t = interior_step(core, s, dr, ds);
    double ratio = fmin(fmax(interior_gap(core, s, t, dr, ds) / mu, 0.0), 1.0);
    interior_aim(core, core->scaling, ratio * ratio * ratio * mu, dr, ds, d);
    interior_solve(core, core->scaling, s, d, dr, ds);
    t = fmin(1.0, 0.99 * interior_step(core, s, dr, ds));
    dense_axpy(p, t, dr, core->r);
    dense_axpy(p, t, ds, s);
    for (int k = 0; k < core->cone_count; k++) {
        box it = box_get(&core->scaling[k]);
        for (int end = 0; end < 2 && core_is_box(&core->cone[k]); end++) {
            it.push[end] += t * it.change[end];
            box_put(&core->scaling[k], &it);
        }
    }
    return isfinite(mu) && t > 1e-8;
}

int core_interior(gauss_core *core, double ridge, int (*polish)(gauss_core *core))
{
    double *s = core->keep, *r = core->start, next = 1e-4;
    size_t bytes = (size_t)core->p * sizeof(double);
    interior_start(core, s);
    for (int k = 0; k < LIMIT && !core_spent(core); k++) {
        core_evaluate(core);
        interior_residual(core, ridge);
        double error = core->error;
        double gap = interior_gap(core, s, 0.0, NULL, NULL) / (core->R * core->V);
        if (error <= core->aim) {
            return 1;
        }
        if (gap < next || error < next) {
            next = fmin(next, fmax(gap, error)) * 1e-2;
            memcpy(r, core->r, bytes);
            if (polish(core)) {
                return 1;
            }
            memcpy(core->r, r, bytes);
            interior_residual(core, ridge);
        }
        if (!(gap > 1e-17) || !isfinite(error) ||
            !interior_advance(core, ridge, s, core->v[0], core->v[1], core->v[2])) {
            break;
        }
    }
    memcpy(r, core->r, bytes);
    int patience = core->patience;
    core->patience = CORE_PATIENT;
    int solved = polish(core);
    core->patience = patience;
    if (solved) {
        return 1;
    }
    core_evaluate(core);
    return 0;
}
