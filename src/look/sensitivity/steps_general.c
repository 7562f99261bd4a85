/* Steps of the soft law whose equations have no derivatives in closed form: loops, tendons through
 * space, motors on sites, formulas, air and water, masses of tendons, activations, and MuJoCo's
 * implicit integrators.
 *
 * With y, z, w of a backward pass (steps.c), W = M + h D the matrix of the last of its equations,
 *
 *     g . da = w . dF - y . d(W a) - z . d(M as),     F = f + J' lambda(J as),
 *
 * at constant accelerations. Contacts and rows along constant directions have their part in closed
 * form (steps_touch.c), and so have inertia and applied forces in systems with nothing but loops
 * (steps.c). The rest of the three vectors is evaluated by the functions that the step
 * uses, at coordinates, speeds and parameters close to those of the step; its slopes are
 * differences of fourth order, over intervals that are shortened until two of them agree. Nothing
 * is solved there, and no solution is differenced. The rows in it keep the state that they have in
 * the step: one that pushes has lambda = D (b - J as), whatever its sign, and one that does not
 * push, or that is at the end of its box, goes on so; controls stay on their side of the ends of
 * their ranges. If such a row vanishes within an interval (the limit of a tendon), it is too long;
 * if even the shortest is, or if there is a corner (a force at the end of its range), the slope is
 * that of one side, and it is a kink (number.c). All of this is done once
 * for a step. Activations are part of the state: those of the start are variables, too, and those
 * of the end, which are functions of the start alone, are a fourth vector. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/steps.h"
#include "system/bodies/bodies_side.h"
#include "tree/sweeps.h"

/* m, rad; for speeds too: forces are nonlinear in these, so that SMALL/h would be too large. */
#define SMALL 0x1p-13
enum { TRIES = 3 };

typedef enum general_by { BY_Q, BY_V, BY_PARAM, BY_ACT } general_by;

zw_status steps_general_make(sens_steps *s, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, nq = (size_t)system->nq, params = (size_t)system->shape.params;
    size_t acts = (size_t)s->acts, wide = 3 * n + acts;
    s->aside_work = zw_work_create(system, error);
    if (!s->aside_work || soft_create(system, s->aside_work, s->h, &s->aside, error) != ZW_OK) {
        return error->status ? error->status : ZW_NO_MEMORY;
    }
    s->general = base_alloc(((2 * n + params + acts + 6) * wide + nq + n + acts + params + 1) *
                            sizeof *s->general);
    return s->general ? ZW_OK : base_no_memory(error);
}

void steps_general_free(sens_steps *s)
{
    soft_free(s->aside);
    zw_work_free(s->aside_work);
    base_free(s->general);
}

/* ---- The equations --------------------------------------------------------------------------- */

/* The position r of row i of a constraint, with the rows of this work. */
static double place_of(const zw_work *work, const bodies_constraint *it, int i)
{
    return bodies_is_rolling(it) ? 0 : soft_row_scale(it, i) * work->rows[it->row + i] - it->margin;
}

/* lambda of a constraint, to first order in the impedance d: its curve over s = |r| has corners
 * that intervals would cross. With ds = r . dr/s,
 *
 *     b = c - B J v - K (d r + r d' ds),     lambda = D (b - J as) + lambda d' ds/(d (1 - d)),
 *
 * where d, d', D, lambda and the r before d' are those of the step. */
static void hold_constraint(const sens_steps *s, const soft_problem *soft, const soft_block *was,
                            soft_block *k)
{
    const zw_system *system = s->system;
    const bodies_constraint *it = &system->bodies->constraint[k->of];
    const double *psi = soft->work->rows + system->m + it->row;
    const double *curve = soft->work->out[PART_TERMS] + system->at.b + it->row;
    soft_spring spring = soft_spring_of(&it->soft, soft->h);
    double square = 0, ds = 0;
    for (int i = 0; i < k->width; i++) {
        double r = place_of(s->work, it, i);
        square += r * r;
        ds += r * (place_of(soft->work, it, i) - r);
    }
    double size = sqrt(square), d = soft_impedance(it->soft.imp, size);
    double slope = size > 0 ? soft_impedance_slope(it->soft.imp, size) * ds / size : 0;
    for (int i = 0; i < k->width; i++) {
        double scale = soft_row_scale(it, i), r = place_of(soft->work, it, i);
        double b = (it->kind < CONSTRAINT_LENGTH ? scale * curve[i] : 0) -
                   spring.B * scale * psi[i] -
                   spring.K * (d * r + slope * place_of(s->work, it, i));
        k->now.force[i] = was->now.C[i * (i + 1) / 2 + i] * (b - k->x[i]) +
                          was->now.force[i] * slope / (d * (1 - d));
    }
}

/* The force of rows whose state is that of `was`; NULL: they do not push. Dry friction has no
 * position. */
static void hold_law(const sens_steps *s, const soft_problem *soft, const soft_block *was,
                     soft_block *k)
{
    k->now.state = was ? was->now.state : 0;
    k->now.force[0] = 0;
    if (was && k->kind == SOFT_BOX) {
        k->now.force[0] = was->now.C[0] > 0 ? soft->D[k->first] * (soft->b[k->first] - k->x[0])
                                            : was->now.force[0];
    } else if (was) {
        hold_constraint(s, soft, was, k);
    }
}

/* The block of the step from *next on that a block beside it belongs to, if its slopes are found
 * here; NULL: they are not, or it was not there. */
static const soft_block *find_block(const sens_steps *s, const soft_block *k, int *next)
{
    const soft_problem *soft = s->soft;
    for (int b = *next; b < soft->blocks; b++) {
        const soft_block *was = &soft->block[b];
        if (!steps_is_contact(soft, b) && was->kind == k->kind && was->of == k->of) {
            *next = b + 1;
            return steps_is_closed(s, was) ? NULL : was;
        }
    }
    return NULL;
}

/* to += m J' J a: the mass of a tendon. */
static void add_mass(const soft_problem *soft, int block, const double *a, double *to)
{
    soft_block *k = &soft->block[block];
    soft_along(soft, block, a, 0);
    k->now.state = 1;
    k->now.force[0] = k->most * k->x[0];
    soft_push(soft, block, 0, to);
}

/* push += J' lambda(J as): by the law, or, beside the step, of the rows that are not in closed
 * form. Masses of tendons add to W a and M as. Returns how many blocks of the latter kind there
 * are; -1: some cannot be evaluated. */
static int push_at(const sens_steps *s, soft_problem *soft, double *push, double *Wa, double *Mas)
{
    int count = 0, next = 0, beside = soft == s->aside;
    for (int b = 0; b < soft->blocks; b++) {
        soft_block *k = &soft->block[b];
        if (k->held) {
            return -1;
        }
        if (k->kind == SOFT_MASS) {
            add_mass(soft, b, s->a, Wa);
            add_mass(soft, b, s->as, Mas);
        } else if (k->group > 0) {
            soft_along(soft, b, s->as, 0);
            for (int i = 0; i < k->group; i++) {
                const double *row = soft->b + k[i].first, *D = soft->D + k[i].first;
                const soft_block *was = beside ? find_block(s, &k[i], &next) : NULL;
                count += was != NULL;
                if (beside) {
                    hold_law(s, soft, was, &k[i]);
                } else {
                    soft_law_force(&k[i], row, D, k[i].x, &k[i].now);
                }
            }
            soft_push(soft, b, 0, push);
        }
    }
    return count;
}

zw_status steps_evaluate(const sens_steps *s, soft_problem *soft, const double *q, const double *v,
                         double *to, int *pushes, zw_error *error)
{
    const zw_system *system = soft->system;
    const tree_mechanism *tree = system->tree;
    int n = system->n, touches = soft->is_there, rows_alone = soft == s->aside && s->closed;
    double *F = to, *Wa = to + n, *Mas = Wa + n;
    soft->work->as_mujoco = 1;
    soft->is_there = soft != s->aside && touches;
    zw_status status = soft_set_up(soft, s->t, q, v, error);
    soft->is_there = touches;
    memset(to, 0, 3 * (size_t)n * sizeof *to);
    if (status == ZW_OK) {
        soft_activate(soft, s->h, v, to + 2 * n);
    }
    if (status == ZW_OK && !rows_alone) {
        tree_kinematics(tree, q, soft->work->sweeps);
        tree_inertia_times(tree, s->as, soft->work->sweeps, Mas);
        tree_inertia_times(tree, s->a, soft->work->sweeps, Wa);
    }
    if (status == ZW_OK) {
        *pushes = push_at(s, soft, F, Wa, Mas);
    }
    if (status == ZW_OK && *pushes < 0) {
        status = base_fail(error, ZW_BAD_INPUT,
                           "derivatives of steps by numbers of long chains are not supported yet");
    }
    for (int i = 0; i < n && status == ZW_OK && !rows_alone; i++) {
        F[i] += soft->force[i];
    }
    if (status == ZW_OK && s->implicit) {
        tree_velocities(tree, v, soft->work->sweeps);
        tree_composite(tree, soft->work->sweeps);
        soft_implicit_times(soft, s->h, q, v, s->a, Wa);
    }
    for (int i = 0; i < n && s->damped && !rows_alone; i++) {
        Wa[i] += s->h * tree->damping[i] * s->a[i];
    }
    soft->work->as_mujoco = 0;
    return status;
}

/* ---- Their slopes ---------------------------------------------------------------------------- */

/* For the evaluation of the equations close to the step. */
typedef struct beside {
    sens_steps *s;
    double *y0;            /* [3 n + acts] at the step itself */
    double *scratch;       /* [5][3 n + acts] */
    double *q, *v, *param; /* scratch */
    int pushes;            /* blocks of the step whose slopes are found here */
    general_by what;       /* what is changed, */
    int j;                 /* and which of it */
} beside;

/* 0: a row of the step has vanished, or the evaluation failed. */
static int look(void *user, double by, double *y)
{
    const beside *at = user;
    general_by what = at->what;
    int j = at->j;
    sens_steps *s = at->s;
    const zw_system *system = s->system;
    size_t n = (size_t)system->n;
    memcpy(at->q, s->q0, (size_t)system->nq * sizeof *at->q);
    memcpy(at->v, s->v0, (n + (size_t)s->acts) * sizeof *at->v);
    memcpy(at->param, s->work->param, (size_t)system->shape.params * sizeof *at->param);
    if (what == BY_Q) {
        double *unit = s->push;
        memset(unit, 0, n * sizeof *unit);
        unit[j] = 1;
        tree_advance(system->tree, s->q0, unit, &by, at->q);
    } else if (what == BY_V || what == BY_ACT) {
        at->v[what == BY_V ? j : j + system->n] += by;
    } else {
        at->param[j] += by;
    }
    zw_error ignored = {0};
    int pushes = 0;
    system_bind(system, s->aside_work, at->param);
    return steps_evaluate(s, s->aside, at->q, at->v, y, &pushes, &ignored) == ZW_OK &&
           pushes == at->pushes;
}

static int differ(beside *at, double *to)
{
    const sens_steps *s = at->s;
    size_t n = (size_t)s->system->n;
    double x = at->what == BY_PARAM ? s->work->param[at->j]
               : at->what == BY_V   ? s->v0[at->j]
               : at->what == BY_ACT ? s->v0[n + (size_t)at->j]
                                    : 0;
    const struct system_bodies *bodies = s->system->bodies;
    int end =
        at->what == BY_ACT ? bodies_activation_end(&bodies->motor[bodies->act_motor[at->j]], x) : 0;
    const number_way way = {.look = look,
                            .user = at,
                            .inward = end,
                            .step = SMALL * (1 + fabs(x)),
                            .tries = TRIES,
                            .enough = NUMBER_ENOUGH,
                            .count = 3 * n + (size_t)s->acts,
                            .y0 = at->y0,
                            .noise = number_noise(3 * n + (size_t)s->acts, at->y0),
                            .scratch = at->scratch};
    int good = number_along(&way, to);
    if (good == 2) {
        steps_note_kink(at->s, "something that switches");
    }
    return good;
}

zw_status steps_general_look(sens_steps *s, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, params = (size_t)system->shape.params;
    size_t acts = (size_t)s->acts, wide = 3 * n + acts;
    double *scratch = s->general + (2 * n + params + acts) * wide;
    beside at = {.s = s};
    for (int b = 0; b < s->soft->blocks; b++) {
        const soft_block *k = &s->soft->block[b];
        at.pushes +=
            !steps_is_contact(s->soft, b) && k->kind != SOFT_MASS && !steps_is_closed(s, k);
    }
    at.y0 = scratch;
    at.scratch = scratch + wide;
    at.q = scratch + 6 * wide;
    at.v = at.q + system->nq;
    at.param = at.v + n + acts;
    int good = look(&at, 0, at.y0);
    if (good && bodies_control_sides(system, s->aside_work, STEPS_NEAR, s->control_side) > 0 &&
        !s->closed) {
        steps_note_kink(s, "an actuator at its limit");
    }
    s->aside_work->control_side = s->control_side;
    for (size_t c = 0; c < 2 * n + (s->closed ? 0 : params + acts) && good; c++) {
        at.what = c < n ? BY_Q : c < 2 * n ? BY_V : c < 2 * n + params ? BY_PARAM : BY_ACT;
        size_t from = at.what == BY_Q       ? 0
                      : at.what == BY_V     ? n
                      : at.what == BY_PARAM ? 2 * n
                                            : 2 * n + params;
        at.j = (int)(c - from);
        good = differ(&at, s->general + c * wide);
    }
    s->aside_work->control_side = NULL;
    return good ? ZW_OK
                : base_fail(error, ZW_INACCURATE,
                            "a limit begins to act when bodies are moved slightly, so that the "
                            "step has no derivatives");
}

/* ---- Backward pass --------------------------------------------------------------------------- */

void steps_general_stiffen(sens_steps *s, const double *x, double *out)
{
    soft_problem *soft = s->soft;
    for (int b = 0; b < soft->blocks; b++) {
        soft_block *k = &soft->block[b];
        if (k->group == 0 || k->kind == SOFT_MASS) {
            continue;
        }
        double kept[SOFT_GROUP][SOFT_WIDE];
        soft_along(soft, b, x, 1); /* move = J x */
        for (int i = 0; i < k->group; i++) {
            memcpy(kept[i], k[i].now.force, sizeof kept[i]);
            steps_stiffen(&k[i], k[i].move, k[i].now.force);
        }
        soft_push(soft, b, 0, out);
        for (int i = 0; i < k->group; i++) {
            memcpy(k[i].now.force, kept[i], sizeof kept[i]);
        }
    }
}

void steps_general_back(const sens_steps *s, const double *act_by, double *q_by, double *v_by,
                        double *param_by)
{
    size_t n = (size_t)s->system->n, acts = (size_t)s->acts, wide = 3 * n + acts;
    size_t params = (size_t)s->system->shape.params, end = 2 * n + params;
    for (size_t c = 0; c < (s->closed ? 2 * n : end + acts); c++) {
        const double *dF = s->general + c * wide, *dWa = dF + n, *dMas = dWa + n, *dact = dMas + n;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += s->w[i] * dF[i] - s->y[i] * dWa[i] - s->z[i] * dMas[i];
        }
        for (size_t i = 0; i < acts; i++) {
            sum += act_by[i] * dact[i];
        }
        if (c < 2 * n || c >= end || param_by) {
            *(c < n       ? &q_by[c]
              : c < 2 * n ? &v_by[c - n]
              : c < end   ? &param_by[c - 2 * n]
                          : &v_by[n + c - end]) += sum;
        }
    }
}
