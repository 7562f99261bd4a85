/* The motion of the soft law: the kernel's convex problem, and boxes around the friction of joints
 * and tendons; soft.h has the law.
 *
 * Boxes.  Friction of at most eta has lambda in [-eta, eta]: inside, its row gives way by R; at an
 * end, J a - aref + R lambda has the other sign, and lambda is a force like any other. Every row
 * has a mode, inside or at an end; Gauss's problem is solved for these modes and says which are
 * wrong. All of these move at once; after MANY rounds only the first does. That ends: the residual
 * of these rows, as a function of their lambda with all else at its minimum, is the slope of a
 * strongly convex function (R > 0), hence a P-function, and for these the rule of the least index
 * (Murty's, for nonlinear functions Habetler's and Kostreva's) visits no set of modes twice. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/sparse.h"
#include "system/soft.h"

enum { MANY = 12, ROUNDS = 1000 };
#define BORDER 1e-12 /* of its size: a force this close to the end of its box is inside */

/* ---- Creation ------------------------------------------------------------------------------- */

static void lay_out(soft_problem *s, base_arena *arena)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    size_t n = (size_t)system->n, m = (size_t)system->m, dry = (size_t)bodies->dry_count;
    size_t wide = 2 * (size_t)bodies->widest + 1;
    double **speeds[] = {&s->dof, &s->force, &s->a_free, &s->push};
    double **rows[] = {&s->phi, &s->psi, &s->closer_b}, **dries[] = {&s->dry_R, &s->dry_aref};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    s->a = base_arena_doubles(arena, n + (size_t)system->carried);
    for (size_t k = 0; k < 3; k++) {
        *rows[k] = base_arena_doubles(arena, m);
    }
    for (size_t k = 0; k < 2; k++) {
        *dries[k] = base_arena_doubles(arena, dry);
    }
    s->dry_push = base_arena_doubles(arena, dry);
    s->part = (double(*)[2])base_arena_doubles(arena, 2 * (size_t)bodies->part_count);
    s->length = base_arena_doubles(arena, (size_t)bodies->length_count);
    s->A = base_arena_doubles(arena, (size_t)system->A_start[system->m]);
    s->M = base_arena_doubles(arena, (size_t)system->M_start[system->n]);
    s->J = base_arena_doubles(arena, 6 * wide);
    s->room = base_arena_doubles(arena, 8 * wide);
    s->J_column = base_arena_ints(arena, wide);
    s->dry_mode = base_arena_ints(arena, dry);
}

static int analyse(soft_problem *s)
{
    size_t n = (size_t)s->system->n;
    signed char *sign = base_alloc(n + 1);
    if (sign) {
        memset(sign, 1, n);
        s->ldl = sparse_ldl_analyse(s->system->n, s->system->M_start, s->system->M_row, sign);
    }
    base_free(sign);
    return s->ldl != NULL;
}

static int allocate(soft_problem *s)
{
    base_arena arena = {0};
    const contact_world *world = s->system->bodies->contact;
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used + 1);
    s->islands = gauss_islands_create();
    if (!s->memory || !s->islands || !analyse(s)) {
        return 0;
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    s->is_there = world->geom_count > 0 && contact_work_create(&s->found, world) == ZW_OK;
    return s->is_there || world->geom_count == 0;
}

zw_status soft_create(const zw_system *system, zw_work *work, double h, soft_problem **to,
                      zw_error *error)
{
    *to = NULL;
    if (!system->tree || system->bodies->formulas) {
        return base_fail(error, ZW_BAD_INPUT, "the soft law is for rigid bodies%s",
                         system->tree ? ", and does not know formulas over them" : "");
    }
    soft_problem *s = base_alloc(sizeof *s);
    if (s) {
        int safe = !(system->bodies->without & ZW_WITHOUT_REFSAFE);
        *s = (soft_problem){.system = system, .work = work, .h = safe ? h : 0};
    }
    if (!s || !allocate(s)) {
        soft_free(s);
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    zw_status status = soft_weigh(s, error);
    if (status != ZW_OK) {
        soft_free(s);
        return status;
    }
    *to = s;
    return ZW_OK;
}

void soft_free(soft_problem *s)
{
    if (!s) {
        return;
    }
    void *list[] = {s->block, s->start,  s->column, s->value, s->b,
                    s->R,     s->lambda, s->first,  s->of,    s->memory};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        base_free(list[k]);
    }
    if (s->is_there) {
        contact_work_free(&s->found);
    }
    gauss_islands_free(s->islands);
    sparse_ldl_free(s->ldl);
    base_free(s);
}

int soft_factor(soft_problem *s, const double *M)
{
    memcpy(s->M, M, (size_t)s->system->M_start[s->system->n] * sizeof *M);
    return sparse_ldl_factor(s->ldl, s->M, 1e-14) == 0;
}

/* ---- One round ------------------------------------------------------------------------------ */

static void add_dry_force(const soft_problem *s, int k, double force, double *to)
{
    const struct system_bodies *bodies = s->system->bodies;
    const bodies_dry *dry = &bodies->dry[k];
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        to[bodies->term[i].dof] += force * bodies->term[i].coef;
    }
}

/* Rows of friction that is inside its box, behind all others; the rest are forces. */
static void put_dry(soft_problem *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    memcpy(s->a_free, s->force, (size_t)s->system->n * sizeof(double));
    for (int k = 0; k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        if (s->dry_mode[k] != 0) {
            add_dry_force(s, k, s->dry_mode[k] * dry->limit, s->a_free);
            continue;
        }
        for (int i = dry->first; i < dry->first + dry->count; i++) {
            s->column[s->entries] = bodies->term[i].dof;
            s->value[s->entries++] = bodies->term[i].coef;
        }
        s->block[s->blocks++] = (zw_block){.name = "friction", .kind = ZW_EQUALITY, .rows = 1};
        s->b[s->rows] = s->dry_aref[k];
        s->R[s->rows] = s->dry_R[k];
        s->start[++s->rows] = s->entries;
    }
    sparse_ldl_solve(s->ldl, s->a_free);
}

static zw_status solve_modes(soft_problem *s, zw_error *error)
{
    const zw_system *system = s->system;
    const zw_gauss problem = {.n = system->n,
                              .metric = {.kind = ZW_METRIC_SPARSE,
                                         .value = s->M,
                                         .start = system->M_start,
                                         .row = system->M_row},
                              .free = s->a_free,
                              .block_count = s->blocks,
                              .block = s->block,
                              .A = {.start = s->start, .column = s->column, .value = s->value},
                              .b = s->b,
                              .compliance = s->R};
    const zw_gauss_options options = {.contact = ZW_CONVEX};
    return gauss_islands_solve(s->islands, &problem, &options, &s->answer, error);
}

/* Modes that are wrong, and moved; with first_only at most one of them is. `row` is the first of
 * those inside. */
static int judge(soft_problem *s, int row, int first_only)
{
    const struct system_bodies *bodies = s->system->bodies;
    int wrong = 0;
    for (int k = 0; k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        int mode = s->dry_mode[k], wanted = mode;
        if (mode == 0) {
            double held = s->dry_push[k] = s->answer.lambda[row++];
            double most = dry->limit * (1 + BORDER);
            wanted = held > most ? 1 : held < -most ? -1 : 0;
        } else {
            s->dry_push[k] = mode * dry->limit;
            double x = s->dry_R[k] * s->dry_push[k] - s->dry_aref[k];
            for (int i = dry->first; i < dry->first + dry->count; i++) {
                x += bodies->term[i].coef * s->answer.a[bodies->term[i].dof];
            }
            wanted =
                mode * x > BORDER * (fabs(s->dry_aref[k]) + s->dry_R[k] * dry->limit) ? 0 : mode;
        }
        if (wanted != mode && !(first_only && wrong > 0)) {
            s->dry_mode[k] = wanted;
        }
        wrong += wanted != mode;
    }
    return wrong;
}

static zw_status solve_boxes(soft_problem *s, zw_error *error)
{
    int rows = s->rows, blocks = s->blocks, entries = s->entries;
    for (int round = 0; round < ROUNDS; round++) {
        s->rows = rows;
        s->blocks = blocks;
        s->entries = entries;
        put_dry(s);
        zw_status status = solve_modes(s, error);
        if (status != ZW_OK) {
            return status;
        }
        if (judge(s, rows, round >= MANY) == 0) {
            return ZW_OK;
        }
    }
    return base_fail(error, ZW_INACCURATE, "friction of the joints could not be decided");
}

/* ---- The motion ----------------------------------------------------------------------------- */

/* |M a - force - push| */
static double slope_of(const soft_problem *s)
{
    const zw_system *system = s->system;
    double *Ma = s->a_free, square = 0;
    sparse_multiply(system->n, system->M_start, system->M_row, s->M, s->a, Ma);
    for (int i = 0; i < system->n; i++) {
        double r = Ma[i] - s->force[i] - s->push[i];
        square += r * r;
    }
    return sqrt(square);
}

static void take_answer(soft_problem *s)
{
    int n = s->system->n;
    memcpy(s->a, s->answer.a, (size_t)n * sizeof(double));
    memset(s->push, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < s->rows; i++) {
        s->lambda[i] = s->answer.lambda[i];
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            s->push[s->column[k]] += s->lambda[i] * s->value[k];
        }
    }
    for (int k = 0; k < s->system->bodies->dry_count; k++) {
        if (s->dry_mode[k] != 0) {
            add_dry_force(s, k, s->dry_push[k], s->push);
        }
    }
    s->iterations = s->answer.iterations;
    s->slope = slope_of(s);
}

zw_status soft_forward(soft_problem *s, double t, const double *q, const double *v, zw_error *error)
{
    const zw_system *system = s->system;
    zw_status status = system_evaluate(system, s->work, PART_TERMS, t, q, v, NULL, NULL, error);
    if (status != ZW_OK) {
        return status;
    }
    const double *terms = s->work->out[PART_TERMS];
    memcpy(s->force, terms + system->at.force, (size_t)system->n * sizeof(double));
    if (!soft_factor(s, terms + system->at.M)) {
        return base_fail(error, ZW_NOT_A_METRIC, "at t = %.9g the masses are not positive", t);
    }
    status = soft_fill(s, q, v, error);
    s->contacts = s->blocks - s->first_contact;
    if (status == ZW_OK) {
        status = solve_boxes(s, error);
    }
    if (status == ZW_OK) {
        take_answer(s);
    }
    return status;
}

void soft_contact_force(const soft_problem *s, int k, double force[6])
{
    const contact_point *point = &s->found.point[s->of[s->first_contact + k]];
    const zw_block *block = &s->block[s->first_contact + k];
    const double *lambda = s->lambda + s->first[s->first_contact + k];
    memset(force, 0, 6 * sizeof *force);
    if (block->kind == ZW_CONE || point->rows == 1) {
        memcpy(force, lambda, (size_t)point->rows * sizeof *force);
        return;
    }
    for (int e = 0; e < block->rows; e++) { /* as soft_rows.c makes the edges */
        force[0] += lambda[e];
        force[1 + e / 2] += (e % 2 ? -1 : 1) * fmax(point->friction[e / 2], 1e-5) * lambda[e];
    }
}
