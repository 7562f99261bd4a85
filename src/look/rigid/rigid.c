/* Steps of robots by method impulse, with their derivatives.
 *
 * A step is made of pieces, and of impacts between them (impulse_bounce.c). For each piece
 * rigid_piece.c has its derivatives P by its start, its length and all parameters; for the
 * derivatives Z of what came before it,
 *
 *     Z' = P_x Z + P_h h_z + P_t t_z + P_p,      h_z: how the length of the piece changes
 *                                                t_z: and when it begins, for formulas of time
 *
 * Halves of a step have their part of it. A piece that ends where something meets is as long as
 * that takes (rigid_hit.c), and what is left of the step is so much shorter and later. */
#include "look/rigid/rigid.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "collide/vector.h"
#include "math/elementary.h"
#include "system/system.h"

zw_status rigid_no_memory(sens_rigid *r)
{
    return base_no_memory(&r->failure);
}

int rigid_grow(double **list, size_t *capacity, size_t need)
{
    if (need > *capacity) {
        base_free(*list);
        *list = base_alloc(2 * need * sizeof **list);
        *capacity = *list ? 2 * need : 0;
    }
    return need <= *capacity;
}

void rigid_note_kink(sens_rigid *r, const char *name)
{
    r->kink_count++;
    r->kink = r->is_open ? r->kink : name;
}

void rigid_note_open(sens_rigid *r, const char *name)
{
    r->kink_count++;
    r->kink = name;
    r->is_open = 1;
}

/* ---- q1 = q0 (+) h u --------------------------------------------------------------------------
 */

/* The turn of a ball joint: to = exp(-p) dq + Jr(p) (h dw + dh w), p = h w. */
static void turn(const double *w, double h, const double *dq, const double *dw, double dh,
                 double *to)
{
    double p[3] = {h * w[0], h * w[1], h * w[2]}, g[3], a[3], aa[3], b[3], bb[3];
    double x = v3_dot(p, p), angle = sqrt(x), sine = math_sin(angle), cosine = math_cos(angle);
    int small = x < 1e-4;
    double zero = small ? 1 - x / 6 * (1 - x / 20) : sine / angle;
    double one = small ? 0.5 - x / 24 * (1 - x / 30) : (1 - cosine) / x;
    double two = small ? 1.0 / 6 - x / 120 * (1 - x / 42) : (angle - sine) / (x * angle);
    for (int k = 0; k < 3; k++) {
        g[k] = h * dw[k] + dh * w[k];
    }
    v3_cross(a, p, dq);
    v3_cross(aa, p, a);
    v3_cross(b, p, g);
    v3_cross(bb, p, b);
    for (int k = 0; k < 3; k++) {
        to[k] = dq[k] - zero * a[k] + one * aa[k] + g[k] - one * b[k] + two * bb[k];
    }
}

void rigid_move(const sens_rigid *r, const double *dq, const double *du, double dh, double *to)
{
    const tree_mechanism *tree = r->system->tree;
    double h = r->here.s->h;
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = &tree->joint[j];
        int d = joint->v, shifts = joint->kind == TREE_FREE ? 3 : joint->kind == TREE_BALL ? 0 : 1;
        for (int k = d; k < d + shifts; k++) {
            to[k] = dq[k] + h * du[k] + dh * r->u[k];
        }
        if (joint->kind == TREE_FREE || joint->kind == TREE_BALL) {
            d += shifts;
            turn(r->u + d, h, dq + d, du + d, dh, to + d);
        }
    }
}

int rigid_copy_piece(sens_rigid *r, const step_impulse *s)
{
    double near = RIGID_REACH * impulse_extent(s);
    int good = impulse_copy_piece(r->here.s, s, near);
    for (int k = 0; k < NUMBER_SYSTEMS * r->names && good; k++) {
        good = impulse_copy_piece(rigid_beside(r, k)->s, s, near);
    }
    return good;
}

/* ---- What is seen of a step ------------------------------------------------------------------ */

static void solved(void *user, const step_impulse *s, const double *v1)
{
    sens_rigid *r = user;
    if (r->differs && r->status == ZW_OK) {
        r->status = rigid_piece_note(r, s, v1);
    }
}

/* Z' */
static void follow(sens_rigid *r)
{
    size_t state = (size_t)r->state, wide = state + (size_t)r->more, width = wide + 2;
    for (size_t i = 0; i < state; i++) {
        const double *piece = r->piece + i * width;
        double *to = r->next + i * wide;
        for (size_t c = 0; c < wide; c++) {
            to[c] = piece[state] * r->h_by[c] - piece[state + 1] * r->rest_by[c] +
                    (c >= state ? piece[c + 2] : 0);
        }
        for (size_t k = 0; k < state; k++) {
            const double *by = r->by + k * wide;
            for (size_t c = 0; c < wide && piece[k] != 0; c++) {
                to[c] += piece[k] * by[c];
            }
        }
    }
    memcpy(r->by, r->next, state * wide * sizeof(double));
}

static void taken(void *user, const step_impulse *s, int hits)
{
    sens_rigid *r = user;
    size_t wide = (size_t)r->state + (size_t)r->more;
    if (r->differs == RIGID_PLAIN || r->status != ZW_OK) {
        return;
    }
    if (r->differs == RIGID_TAPE) {
        r->status = rigid_tape_piece(r, s, hits);
        r->rest -= r->here.s->h;
        return;
    }
    r->status = rigid_piece_slopes(r);
    double h = r->here.s->h, part = r->rest > 0 ? fmin(h / r->rest, 1) : 1;
    for (size_t c = 0; c < wide; c++) {
        r->h_by[c] = part * r->rest_by[c];
    }
    if (r->status == ZW_OK && hits) {
        r->status = rigid_hit(r, s);
    }
    if (r->status == ZW_OK) {
        follow(r);
    }
    r->rest -= h;
    for (size_t c = 0; c < wide; c++) {
        r->rest_by[c] -= r->h_by[c];
    }
}

static void impact(void *user, const step_impulse *s)
{
    sens_rigid *r = user;
    if (r->differs && r->status == ZW_OK) {
        r->status = rigid_impact(r, s);
    }
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

static zw_status not_yet(zw_error *error, const char *what)
{
    return base_fail(error, ZW_BAD_INPUT, "derivatives of %s are not supported yet", what);
}

static zw_status check(const zw_system *system, const zw_run_options *plan, zw_error *error)
{
    return system->law.carried > 0     ? not_yet(error, "laws that carry multipliers")
           : system->bodies->sleep > 0 ? not_yet(error, "steps of bodies that fall asleep")
           : system->bodies->adhesion_count > 0
               ? not_yet(error, "steps of method impulse with adhesion")
           : plan->tolerance >= 1 ? not_yet(error, "steps by one linearisation (tol 1)")
                                  : ZW_OK;
}

static void lay_out(sens_rigid *r, base_arena *arena)
{
    const zw_system *system = r->system;
    size_t n = (size_t)system->n, nq = (size_t)system->nq;
    size_t state = (size_t)r->state, wide = state + (size_t)r->more;
    double **speeds[] = {&r->v1, &r->u, &r->v_end, &r->gain, &r->unit};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n + (size_t)system->carried);
    }
    r->q1 = base_arena_doubles(arena, nq);
    r->act_by_u = base_arena_doubles(arena, (size_t)r->acts * n);
    r->q_end = base_arena_doubles(arena, nq);
    r->param = base_arena_doubles(arena, (size_t)system->shape.params);
    r->by = base_arena_doubles(arena, state * wide);
    r->next = base_arena_doubles(arena, state * wide + 2 * nq);
    r->piece = base_arena_doubles(arena, state * (wide + 2));
    r->h_by = base_arena_doubles(arena, wide);
    r->rest_by = base_arena_doubles(arena, wide);
    r->control_side = base_arena_ints(arena, (size_t)system->shape.params);
    r->joined = base_arena_ints(arena, (size_t)system->bodies->motor_count);
    r->closed = base_arena_ints(arena, (size_t)system->m);
}

static int make_place(rigid_place *place, const zw_system *system, const zw_run_options *plan,
                      zw_error *error)
{
    place->work = zw_work_create(system, error);
    place->s = place->work ? impulse_create(system, place->work, error) : NULL;
    zw_run_options sharp = *plan;
    sharp.accuracy = 0;
    if (place->s) {
        impulse_set_plan(place->s, &sharp);
    }
    return place->s != NULL;
}

static void free_place(rigid_place *place)
{
    impulse_free(place->s);
    zw_work_free(place->work);
}

static zw_status make_variant(sens_rigid *r, rigid_variant *it, zw_model *model, const char *name,
                              const zw_run_options *plan, zw_error *error)
{
    zw_status status = number_make(&it->of, model, r->system, name, error);
    for (int k = 0; k < NUMBER_SYSTEMS && status == ZW_OK; k++) {
        status = make_place(&it->at[k], it->of.system[k], plan, error) ? ZW_OK : error->status;
    }
    return status;
}

sens_rigid *rigid_create(const zw_system *system, const zw_run_options *plan, zw_model *model,
                         const char *const *name, int names, zw_error *error)
{
    base_arena arena = {0};
    if (check(system, plan, error) != ZW_OK) {
        return NULL;
    }
    sens_rigid *r = base_alloc(sizeof *r);
    rigid_variant *variant = base_alloc(((size_t)names + 1) * sizeof *variant);
    if (!r || !variant) {
        base_free(r);
        base_free(variant);
        base_no_memory(error);
        return NULL;
    }
    *r = (sens_rigid){.system = system, .h = plan->step, .variant = variant};
    r->acts = system->bodies->act_count;
    r->state = 2 * system->n + r->acts;
    r->more = system->shape.params + names;
    lay_out(r, &arena);
    r->memory = base_alloc(arena.used + 1);
    zw_status status = r->memory && make_place(&r->steps, system, plan, error) &&
                               make_place(&r->here, system, plan, error)
                           ? ZW_OK
                           : ZW_NO_MEMORY;
    memset(variant, 0, ((size_t)names + 1) * sizeof *variant);
    for (int k = 0; k < names && status == ZW_OK; k++) {
        r->names = k + 1;
        status = make_variant(r, &variant[k], model, name[k], plan, error);
    }
    if (status != ZW_OK) {
        rigid_free(r);
        return NULL;
    }
    arena = (base_arena){.block = r->memory};
    lay_out(r, &arena);
    impulse_set_accuracy(r->steps.s, plan->accuracy);
    r->watch = (impulse_watch){.user = r, .solved = solved, .taken = taken, .impact = impact};
    r->steps.s->watch = &r->watch;
    gauss_impact_keep(r->steps.s->touch.law, 1);
    return r;
}

void rigid_free(sens_rigid *r)
{
    if (!r) {
        return;
    }
    free_place(&r->steps);
    free_place(&r->here);
    rigid_tape_free(r->tape);
    rigid_way_free(r->way);
    for (int k = 0; k < NUMBER_SYSTEMS * r->names; k++) {
        free_place(rigid_beside(r, k));
    }
    for (int k = 0; k < r->names; k++) {
        number_free(&r->variant[k].of);
    }
    for (int k = 0; k < 2; k++) {
        rigid_half_free(&r->half[k]);
    }
    base_free(r->variant);
    base_free(r->block_key);
    base_free(r->y);
    base_free(r->K);
    base_free(r->X);
    base_free(r->memory);
    base_free(r);
}

int rigid_make_way(sens_rigid *r)
{
    r->tape = rigid_tape_create(r);
    r->way = r->tape ? rigid_way_create(r->system) : NULL;
    return !r->tape || r->way;
}

int rigid_memory(const sens_rigid *r, double **numbers)
{
    return impulse_memory(r->steps.s, numbers);
}

/* ---- A step ---------------------------------------------------------------------------------- */

zw_status rigid_take(sens_rigid *r, double t, const double *q, const double *v, const double *param,
                     rigid_steps differs, zw_error *error)
{
    const zw_system *system = r->system;
    size_t state = (size_t)r->state, wide = state + (size_t)r->more;
    memcpy(r->param, param, (size_t)system->shape.params * sizeof *param);
    system_bind(system, r->steps.work, param);
    memset(r->by, 0, differs == RIGID_MATRIX ? state * wide * sizeof *r->by : 0);
    for (size_t i = 0; i < state; i++) {
        r->by[i * wide + i] = 1;
    }
    memset(r->rest_by, 0, wide * sizeof *r->rest_by);
    r->rest = r->h;
    if (differs == RIGID_TAPE) {
        rigid_tape_begin(r->tape);
    }
    r->differs = differs;
    r->status = ZW_OK;
    zw_status status = impulse_step(r->steps.s, t, r->h, q, v, r->q1, r->v1, error);
    if (status == ZW_OK && r->status != ZW_OK) {
        *error = r->failure;
        status = r->status;
    }
    return status;
}
