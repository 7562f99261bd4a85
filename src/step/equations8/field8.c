/* Accelerations and projections of eight worlds: step/motion.c and system/project.c, lane by lane.
 */
#include "step/equations8/equations8.h"

#include "gauss/tolerances.h"

enum { ROUNDS = 30, STALLS = 8, SINGULAR = 20 }; /* project.c, motion.c */

ZW_INLINE zw_real8 all(double x)
{
    return (zw_real8){0} + x;
}

ZW_INLINE zw_real8 larger(zw_real8 x, zw_real8 y)
{
    return lane_select8(x > y, x, y);
}

ZW_CLONES static void check_finite(int count, const zw_real8 *x, zw_mask8 *good)
{
    zw_real8 sum = all(0);
    for (int i = 0; i < count; i++) {
        sum += x[i] * 0.0;
    }
    *good &= sum == 0.0;
}

const zw_real8 *equations8_run(equations8 *s, int part, const zw_real8 *q, const zw_real8 *v)
{
    const equations8_tape *of = &s->part[part];
    const expr_inputs8 in = {
        .t = (const double *)s->t, .q = (const double *)q, .v = (const double *)v};
    expr_tape_run8(of->tape->code, &in, of->registers, (double *)of->out);
    check_finite(of->tape->count, of->out, s->good);
    return of->out;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static const zw_real8 *take_metric(equations8 *s, const zw_real8 *M)
{
    const zw_system *system = s->system;
    int n = system->n;
    if (system->M_diagonal) {
        return M;
    }
    for (int j = 0; j < n; j++) { /* entries outside the pattern are 0 from the start */
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            s->M[system->M_row[k] * n + j] = M[k];
        }
    }
    return s->M;
}

/* Row i of the problem is row r of the system. */
static void take_row(equations8 *s, int i, int r, const zw_real8 *A)
{
    const zw_system *system = s->system;
    int n = system->n;
    for (int j = 0; j < n; j++) {
        s->A[i * n + j] = (zw_real8){0};
    }
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        s->A[i * n + system->A_column[k]] = A[k];
    }
}

/* ---- Accelerations --------------------------------------------------------------------------- */

/* step/motion.c: shortest; the longest are the previous ones or, at a node, updated. */
ZW_CLONES static void shortest(const zw_system *system, const zw_real8 *A, int node,
                               zw_real8 *longest, zw_real8 *least, zw_real8 *sum)
{
    *least = all(1);
    *sum = all(0);
    for (int c = 0; c < system->model->constraint_count; c++) {
        int first = system->first_row[c], end = system->first_row[c + 1];
        zw_real8 most = all(0);
        for (int r = first; r < end; r++) {
            most = larger(most, longest[r]);
        }
        for (int r = first; r < end; r++) {
            zw_real8 square = all(0);
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                square += A[k] * A[k];
            }
            zw_real8 length = lane_sqrt8(square);
            longest[r] = node ? larger(longest[r], length) : longest[r];
            zw_mask8 counts = (longest[r] > 1e-9 * most) & (square < longest[r] * longest[r]);
            zw_real8 f = length / longest[r];
            *least = lane_select8(counts & (f < *least), f, *least);
            *sum = lane_select8(counts, *sum + (1.0 / (f * f) - 1.0), *sum);
        }
    }
}

/* The margin of a node, and the lanes near a loss of rank. */
ZW_CLONES static void measure(equations8 *s, const zw_real8 *A, const equations8_node *node,
                              zw_real8 *longest)
{
    zw_real8 least, sum, margin = *s->answer.margin;
    shortest(s->system, A, node != NULL, longest, &least, &sum);
    if (node) {
        *node->margin = 1.0 / lane_sqrt8(1.0 / (margin * margin) + sum);
        *node->certificate = *s->answer.certificate;
        shortest(s->system, A, 1, longest, &least, &sum);
    }
    zw_real8 independence = *s->answer.independence;
    least = lane_select8(independence < least, independence, least);
    zw_mask8 near = (double)SINGULAR * least < 1.0;
    *s->good &= ~(node && node->anyhow ? near & ~*node->anyhow : near);
}

/* system/forward.c: power_of. */
ZW_CLONES static void rates(const equations8 *s, const zw_real8 *out, const zw_real8 *v,
                            zw_real8 *dy)
{
    const zw_system *system = s->system;
    int n = system->n;
    for (int i = 0; i < n; i++) {
        dy[i] = v[i];
        dy[n + i] = s->answer.a[i];
    }
    if (system->works) {
        const zw_real8 *Q = system->conservative ? NULL : out + system->at.Q;
        zw_real8 sum = Q ? out[system->at.dLdt] : all(0);
        for (int i = 0; i < n; i++) {
            sum += ((Q ? Q[i] : all(0)) + s->answer.push[i] + 0.0) * v[i];
            sum += 0.0;
        }
        dy[2 * n] = sum;
    }
}

void equations8_field(equations8 *s, const zw_real8 *y, zw_real8 *dy, const equations8_node *node)
{
    const zw_system *system = s->system;
    int n = system->n;
    check_finite(s->size, y, s->good);
    const zw_real8 *out = equations8_run(s, EQUATIONS8_TERMS, y, y + n);
    if (system->m == 0) {
        zw_mask8 good;
        equations8_rates(system, out, y, s->M, dy, &good);
        *s->good &= good;
        return;
    }
    const zw_real8 *A = out + system->at.A;
    for (int r = 0; r < system->m; r++) {
        take_row(s, r, r, A);
    }
    const gauss_problem8 problem = {.n = n,
                                    .m = system->m,
                                    .diagonal = system->M_diagonal,
                                    .measures = node != NULL,
                                    .rank_floor = 1e-10,
                                    .M = take_metric(s, out + system->at.M),
                                    .A = s->A,
                                    .b = out + system->at.b,
                                    .force = out + system->at.force};
    gauss_equal8_solve(&problem, &s->answer);
    *s->good &= *s->answer.good;
    measure(s, A, node, node ? node->longest : s->longest0);
    rates(s, out, y + n, dy);
    check_finite(s->size, dy, s->good);
}

/* ---- Projection ------------------------------------------------------------------------------ */

/* The residuals of the rows, and their round-off: `largest` and `noise` of project.c. */
ZW_CLONES static void look(const zw_system *system, int rows, const int *row,
                           const zw_real8 *residual, const zw_real8 *x, zw_real8 *now,
                           zw_real8 *small)
{
    const zw_real8 *A = residual + system->m;
    zw_real8 left = all(0), worst = all(0);
    for (int i = 0; i < rows; i++) {
        int r = row ? row[i] : i;
        zw_real8 sum = all(0);
        left = larger(lane_size8(residual[r]), left);
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            sum += lane_size8(A[k]) * (1e-3 + lane_size8(x[system->A_column[k]]));
        }
        worst = larger(sum, worst);
    }
    *now = left;
    *small = 2.3e-16 * worst;
}

/* The lanes that have not converged; those that stall too often are given up. */
ZW_CLONES static void who_moves(const zw_real8 *now, const zw_real8 *small, zw_real8 *before,
                                zw_real8 *stalls, zw_mask8 *good, zw_mask8 *moving)
{
    zw_mask8 stalled = *now >= 0.5 * *before;
    *moving &= ~((*now <= *small) | (stalled & (*now <= 64.0 * *small)));
    *stalls = lane_select8(stalled & *moving, *stalls + 1.0, *stalls);
    *good &= ~((*stalls > (double)STALLS) & *moving);
    *before = *now;
}

ZW_CLONES static void move(int n, const zw_mask8 *moving, const zw_real8 *a, zw_real8 *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = lane_select8(*moving, x[i] + a[i], x[i]);
    }
}

ZW_CLONES static int any_of(const zw_mask8 *a, const zw_mask8 *b)
{
    return lane_any8(*a & *b);
}

/* One loop for both levels: the rows of a part, and the vector x that is corrected. */
static void project(equations8 *s, int part, int rows, const int *row, zw_real8 *q, zw_real8 *v,
                    zw_real8 *x)
{
    const zw_system *system = s->system;
    zw_real8 before = all(INFINITY), stalls = all(0), now, small;
    zw_mask8 moving = *s->good;
    const zw_real8 *metric = NULL;
    for (int round = 0; rows > 0; round++) {
        const zw_real8 *residual = equations8_run(s, part, q, v);
        look(system, rows, row, residual, x, &now, &small);
        who_moves(&now, &small, &before, &stalls, s->good, &moving);
        if (!any_of(&moving, s->good)) {
            return;
        }
        if (round + 1 == ROUNDS) {
            *s->good &= ~moving;
            return;
        }
        if (round == 0 || part == EQUATIONS8_POSITION) {
            metric = take_metric(s, equations8_run(s, EQUATIONS8_METRIC, q, v));
        }
        for (int i = 0; i < rows; i++) {
            int r = row ? row[i] : i;
            take_row(s, i, r, residual + system->m);
            s->b[i] = -residual[r];
        }
        const gauss_problem8 problem = {.n = system->n,
                                        .m = rows,
                                        .diagonal = system->M_diagonal,
                                        .rank_floor = GAUSS_PROJECTION_RANK,
                                        .M = metric,
                                        .A = s->A,
                                        .b = s->b};
        gauss_equal8_solve(&problem, &s->answer);
        *s->good &= *s->answer.good | ~moving;
        move(system->n, &moving, s->answer.a, x);
    }
}

void equations8_project(equations8 *s, zw_real8 *y)
{
    zw_real8 *v = y + s->system->n;
    project(s, EQUATIONS8_POSITION, s->places, s->place, y, v, y);
    project(s, EQUATIONS8_VELOCITY, s->system->m, NULL, y, v, v);
}
