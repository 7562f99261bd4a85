/* Assembly of positions: the nearest admissible one.
 *
 * Of all positions q with phi(q) = 0 for two-sided constraints and phi(q) >= 0 for one-sided ones
 * and limits, the one nearest to the position as written, q0, in the metric M of the masses there:
 *
 *     minimise f(q) = 1/2 delta' M delta,    delta = q (-) q0,    subject to these.
 *
 * Each step d solves Gauss's problem with linearised rows, A d = -phi and A d >= -phi. One-sided
 * constraints are included once some position on the way violates them.
 *
 *   restore   minimises 1/2 d' M d: Newton's method, by the shortest step onto the constraints. A
 *             step is halved until it reduces the sum of all violations, each divided by the length
 *             of its row in the metric of the masses, so that the sum is free of units of phi.
 *   descend   minimises 1/2 d' M d + g' d at an admissible q, g = df/dq. There d = 0 is the
 *             condition of Karush, Kuhn and Tucker for the nearest position: no admissible
 *             direction leads nearer to q0. Then q moves along d by the length of Barzilai and
 * Borwein (1988), s'Ms/s'My, s the step before and y what it took from d: since the curvature of
 * the constraints enters f by distance over radius, neither length one nor any other is right for
 * all. It is restored, and f may not exceed the largest of its last values.
 *
 * Rotations: delta is the rotation vector from q0 to q, and turning by a further d changes it by J
 * d, J = 1 + [delta]/2 + c [delta]^2, c = (1 - (p/2) cot(p/2))/p^2, p = |delta|; so g = J' M delta
 * for these three.
 *
 * The result is a local minimum. All nearer positions lie in the ball around q0 through it; if the
 * constraints are so curved that the first linearised step missed it by a tenth of its length,
 * other starts in that ball are tried, and in larger balls if nothing admissible was found,
 * until the search has cost about a second. These starts are pseudo-random, the same in every run.
 */
#include "system/assemble.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/assemble_inner.h"

enum { STARTS = 16, WIDER = 96 };

static const double BENT = 0.1;    /* see above */
static const double MOST = 3e9;    /* operations, about, after which no start is tried */
static const double SMALL = 1e-13; /* if the first step is less than this times 1 + the largest
                                      coordinate, the projection that follows is enough */

static void lay_out(assemble_search *s, base_arena *arena)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, nq = (size_t)system->nq, m = (size_t)system->m;
    s->M = base_arena_doubles(arena, (size_t)system->M_start[system->n]);
    s->role = base_arena_ints(arena, (size_t)system->model->constraint_count);
    s->weight = base_arena_doubles(arena, m);
    s->b = base_arena_doubles(arena, m);
    double **of_n[] = {&s->delta,  &s->gradient, &s->d,     &s->step,
                       &s->before, &s->product,  &s->force, &s->first};
    double **of_q[] = {&s->q, &s->trial, &s->ahead, &s->best};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++) {
        *of_n[i] = base_arena_doubles(arena, n);
    }
    for (size_t i = 0; i < sizeof of_q / sizeof *of_q; i++) {
        *of_q[i] = base_arena_doubles(arena, nq);
    }
}

/* ---- Starts --------------------------------------------------------------------------------- */

/* A number between -1 and 1; Steele, Lea and Flood's generator (2014). */
static double draw(uint64_t *generator)
{
    uint64_t x = *generator += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

/* s->q: a position about `radius` from the start, in a pseudo-random direction. */
static void start_anew(assemble_search *s, double radius, uint64_t *generator)
{
    const zw_system *system = s->system;
    for (int i = 0; i < system->n; i++) {
        double mass = s->M[system->M_start[i]];
        s->step[i] = mass > 0 ? draw(generator) / sqrt(mass) : 0;
    }
    double size = sqrt(assemble_metric_square(s, s->step));
    assemble_move_from(s, s->start, size > 0 ? radius * fabs(draw(generator)) / size : 0, s->step,
                       s->q);
}

/* From s->q to the nearest admissible position around it, which becomes s->best, with *better set,
 * if it is nearer than the best so far, or, while there is none, less violated. */
static zw_status try_start(assemble_search *s, double *distance, double *least, int *better,
                           zw_error *error)
{
    int done;
    double found = INFINITY;
    zw_status status = assemble_restore(s, s->q, &done, error);
    if (status == ZW_OK && done) {
        status = assemble_descend(s, &found, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    double left = assemble_sum_of_violations(s, s->q);
    *better = done && found < (1 - 1e-6) * *distance;
    if (*better || (*distance == INFINITY && left < *least)) {
        *distance = found;
        *least = left;
        assemble_copy_place(s, s->best, s->q);
    }
    return ZW_OK;
}

/* Is s->best close to the end of the first linearised step? */
static int is_straight(assemble_search *s, double distance)
{
    assemble_look_back(s, s->best);
    for (int i = 0; i < s->system->n; i++) {
        s->delta[i] -= s->first[i];
    }
    return sqrt(assemble_metric_square(s, s->delta)) <= BENT * distance;
}

/* The nearest result of several starts, in s->best; distance INFINITY: none was admissible. */
static zw_status find_nearest(assemble_search *s, double *distance, zw_error *error)
{
    uint64_t generator = 1;
    int better = 0, tries = WIDER;
    *distance = INFINITY;
    zw_status status = assemble_find_step(s, s->start, NULL, error);
    if (status != ZW_OK) {
        return status;
    }
    double first = sqrt(assemble_metric_square(s, s->d)), least = INFINITY;
    memcpy(s->first, s->d, (size_t)s->system->n * sizeof *s->d);
    assemble_copy_place(s, s->best, s->start);
    assemble_copy_place(s, s->q, s->start);
    if (assemble_is_small(s, s->start, SMALL)) {
        *distance = 0;
        return ZW_OK;
    }
    status = try_start(s, distance, &least, &better, error);
    if (better) {
        tries = is_straight(s, *distance) ? 0 : STARTS;
    }
    for (int k = 0; k < tries && s->cost < MOST && (status == ZW_OK || k > 0); k++) {
        zw_error ignored;
        start_anew(s, *distance < INFINITY ? *distance : ldexp(first, -(k % 8)), &generator);
        if (try_start(s, distance, &least, &better, &ignored) == ZW_NO_MEMORY) {
            return base_no_memory(error);
        }
        tries = better ? k + 1 + STARTS : tries;
        better = 0;
    }
    return status;
}

/* ---- Answer --------------------------------------------------------------------------------- */

/* Names the constraints violated in the least violated position, and those that conflict with them:
 * there the forces of the rows balance, and rows with a nonzero force take part. */
static zw_status refuse(assemble_search *s, zw_error *error)
{
    const zw_system *system = s->system;
    zw_status status = assemble_find_step(s, s->best, NULL, error);
    status = status == ZW_OK ? assemble_solve_soft(s, error) : status;
    if (status != ZW_OK) {
        return status;
    }
    double most = 0;
    for (int i = 0; i < s->solver->rows; i++) {
        most = fmax(most, fabs(s->solver->lambda[i]) / s->weight[s->solver->row_of[i]]);
    }
    for (int i = 0; i < s->solver->rows; i++) {
        int r = s->solver->row_of[i], c = system->row_constraint[r];
        s->role[c] = fabs(s->solver->lambda[i]) / s->weight[r] >= 0.01 * most ? -1 : s->role[c];
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        s->role[c] = s->role[c] == -1;
    }
    for (int r = 0; r < system->m; r++) {
        s->b[r] = assemble_violated_by(s, r, s->work->out[PART_POSITION]);
    }
    return system_name_violated(system, s->b, s->role, "position satisfies", s->t, error);
}

/* The one-sided constraints that are active in the answer: those included with no gap. */
static zw_status close_touching(assemble_search *s, double distance, double *mode, zw_error *error)
{
    zw_status status = assemble_linearise(s, s->best, error);
    const double *phi = s->work->out[PART_POSITION];
    for (int c = 0; c < s->system->model->constraint_count && status == ZW_OK; c++) {
        int r = s->system->first_row[c];
        if (s->role[c] == SOLVER_AT_LEAST && s->weight[r] * phi[r] <= 1e-8 * distance) {
            mode[c] = SYSTEM_CLOSED;
        }
    }
    return status;
}

static zw_status begin(assemble_search *s, const double *q, zw_error *error)
{
    const zw_system *system = s->system;
    base_arena arena = {0};
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used);
    if (!s->memory) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    for (int c = 0; c < system->model->constraint_count; c++) {
        int speeds = system->row_kind[system->first_row[c]] == SYSTEM_VELOCITY;
        s->role[c] = speeds || assemble_is_one_sided(system, c) ? SOLVER_ABSENT : SOLVER_EQUAL;
    }
    zw_status status =
        system_evaluate(system, s->work, PART_METRIC, s->t, q, s->v, NULL, NULL, error);
    if (status == ZW_OK) {
        memcpy(s->M, s->work->out[PART_METRIC],
               (size_t)system->M_start[system->n] * sizeof(double));
    }
    return status;
}

zw_status system_assemble(const zw_system *system, zw_work *work, double t, const double *written,
                          const double *v, double *q, double *mode, zw_error *error)
{
    assemble_search s = {.system = system, .work = work, .t = t, .v = v, .start = written};
    double distance = INFINITY;
    zw_status status = begin(&s, written, error);
    status = status == ZW_OK ? find_nearest(&s, &distance, error) : status;
    if (status == ZW_OK) {
        status =
            distance < INFINITY ? close_touching(&s, distance, mode, error) : refuse(&s, error);
    }
    if (status == ZW_OK) {
        assemble_copy_place(&s, q, s.best);
    }
    solver_free(s.solver);
    base_free(s.memory);
    return status;
}
