/* Steps of the soft law whose equations have no derivatives in closed form: loops, tendons through
 * space, motors on sites, formulas, air and water, and MuJoCo's implicit integrators.
 *
 * With y, z, w of a backward pass (steps.c), W = M + h D the matrix of the last of its equations,
 *
 *     g . da = w . dF - y . d(W a) - z . d(M as),     F = f + J' lambda(J as),
 *
 * at constant accelerations. The three vectors in it are evaluated by the functions that the step
 * uses, at coordinates, speeds and parameters close to those of the step; their slopes are
 * differences of fourth order, over intervals that are shortened until two of them agree. Nothing
 * is solved there, and no solution is differenced. If rows appear or vanish within an interval (a
 * contact, a limit), it is too long; if even the shortest is, or if no two agree (the end of a
 * range), the slope is that of one side, and it is a kink. All of this is done once for a step. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/steps.h"
#include "tree/sweeps.h"

/* m, rad; for speeds too: forces are nonlinear in these, so that SMALL/h would be too large. */
#define SMALL 0x1p-13
enum { TRIES = 3 };

typedef enum general_by { BY_Q, BY_V, BY_PARAM } general_by;

static zw_status no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
}

zw_status steps_general_make(sens_steps *s, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, nq = (size_t)system->nq, params = (size_t)system->shape.params;
    s->aside_work = zw_work_create(system, error);
    if (!s->aside_work || soft_create(system, s->aside_work, s->h, &s->aside, error) != ZW_OK) {
        return error->status ? error->status : ZW_NO_MEMORY;
    }
    s->general =
        base_alloc(((2 * n + params) * 3 * n + 15 * n + nq + n + params + 1) * sizeof *s->general);
    return s->general ? ZW_OK : no_memory(error);
}

void steps_general_free(sens_steps *s)
{
    soft_free(s->aside);
    zw_work_free(s->aside_work);
    base_free(s->general);
}

/* ---- The equations --------------------------------------------------------------------------- */

/* push = J' lambda(J a). 0: there are no such rows. */
static int push_at(soft_problem *soft, const double *a, double *push)
{
    memset(push, 0, (size_t)soft->system->n * sizeof *push);
    for (int b = 0; b < soft->blocks; b++) {
        soft_block *k = &soft->block[b];
        if (k->held || k->kind == SOFT_MASS) {
            return 0;
        }
        if (k->group == 0) {
            continue;
        }
        soft_along(soft, b, a, 0);
        for (int i = 0; i < k->group; i++) {
            soft_law_force(&k[i], soft->b + k[i].first, soft->D + k[i].first, k[i].x, &k[i].now);
        }
        soft_push(soft, b, 0, push);
    }
    return 1;
}

zw_status steps_evaluate(const sens_steps *s, soft_problem *soft, const double *q, const double *v,
                         double *to, zw_error *error)
{
    const zw_system *system = soft->system;
    const tree_mechanism *tree = system->tree;
    int n = system->n;
    double *F = to, *Wa = to + n, *Mas = Wa + n;
    soft->work->as_mujoco = 1;
    zw_status status = soft_set_up(soft, s->t, q, v, error);
    if (status == ZW_OK && !push_at(soft, s->as, F)) {
        status = base_fail(error, ZW_BAD_INPUT,
                           "derivatives of steps with masses of tendons, or by numbers of long "
                           "chains, are not supported yet");
    }
    for (int i = 0; i < n && status == ZW_OK; i++) {
        F[i] += soft->force[i];
    }
    if (status == ZW_OK) {
        tree_kinematics(tree, q, soft->work->sweeps);
        tree_inertia_times(tree, s->as, soft->work->sweeps, Mas);
        tree_inertia_times(tree, s->a, soft->work->sweeps, Wa);
    }
    if (status == ZW_OK && s->implicit) {
        tree_velocities(tree, v, soft->work->sweeps);
        tree_composite(tree, soft->work->sweeps);
        soft_implicit_times(soft, s->h, q, v, s->a, Wa);
    }
    for (int i = 0; i < n && s->damped; i++) {
        Wa[i] += s->h * tree->damping[i] * s->a[i];
    }
    soft->work->as_mujoco = 0;
    return status;
}

/* ---- Their slopes ---------------------------------------------------------------------------- */

/* For the evaluation of the equations close to the step, and the number of rows of the step. */
typedef struct beside {
    sens_steps *s;
    double *y[5];          /* [3 n] each: at the four points number_place, and at the step itself */
    double *q, *v, *param; /* scratch */
    int blocks, rows;
} beside;

/* 0: the rows differ from those of the step, or the evaluation failed. */
static int look(beside *at, general_by what, int j, double by, double *y)
{
    sens_steps *s = at->s;
    const zw_system *system = s->system;
    size_t n = (size_t)system->n;
    memcpy(at->q, s->q0, (size_t)system->nq * sizeof *at->q);
    memcpy(at->v, s->v0, n * sizeof *at->v);
    memcpy(at->param, s->work->param, (size_t)system->shape.params * sizeof *at->param);
    if (what == BY_Q) {
        double *unit = s->push;
        memset(unit, 0, n * sizeof *unit);
        unit[j] = 1;
        tree_advance(system->tree, s->q0, unit, &by, at->q);
    } else if (what == BY_V) {
        at->v[j] += by;
    } else {
        at->param[j] += by;
    }
    zw_error ignored = {0};
    system_bind(system, s->aside_work, at->param);
    return steps_evaluate(s, s->aside, at->q, at->v, y, &ignored) == ZW_OK &&
           s->aside->blocks == at->blocks && s->aside->rows == at->rows;
}

/* A one-sided slope, of the first side on which both points can be evaluated. 0: neither. */
static int one_side(beside *at, general_by what, int j, double step, size_t count, double *to)
{
    for (int side = 1; side >= -1; side -= 2) {
        if (look(at, what, j, side * step, at->y[0]) &&
            look(at, what, j, 2 * side * step, at->y[1])) {
            for (size_t i = 0; i < count; i++) {
                to[i] = (4 * at->y[0][i] - 3 * at->y[4][i] - at->y[1][i]) / (2 * side * step);
            }
            return 1;
        }
    }
    return 0;
}

static int differ(beside *at, general_by what, int j, double *to)
{
    size_t count = 3 * (size_t)at->s->system->n;
    double x = what == BY_PARAM ? at->s->work->param[j] : what == BY_V ? at->s->v0[j] : 0;
    double step = SMALL * (1 + fabs(x)), apart = HUGE_VAL, last = step;
    int done = 0;
    for (int tries = 0; tries < TRIES && apart > NUMBER_AGREE && !done;
         tries++, step /= NUMBER_SHORTER) {
        int good = 1;
        for (int k = 0; k < 4 && good; k++) {
            good = look(at, what, j, number_place[k] * step, at->y[k]);
        }
        done = good && !number_improve(count, at->y, step, &apart, to);
        last = step;
    }
    if (apart <= NUMBER_SWITCHES) {
        return 1;
    }
    steps_note_kink(at->s, "something that switches");
    return one_side(at, what, j, last, count, to) || apart < HUGE_VAL;
}

zw_status steps_general_look(sens_steps *s, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, params = (size_t)system->shape.params;
    double *scratch = s->general + (2 * n + params) * 3 * n;
    beside at = {.s = s, .blocks = s->soft->blocks, .rows = s->soft->rows};
    for (int k = 0; k < 5; k++) {
        at.y[k] = scratch + (size_t)k * 3 * n;
    }
    at.q = scratch + 15 * n;
    at.v = at.q + system->nq;
    at.param = at.v + n;
    int good = look(&at, BY_Q, 0, 0, at.y[4]);
    for (size_t c = 0; c < 2 * n + params && good; c++) {
        general_by what = c < n ? BY_Q : c < 2 * n ? BY_V : BY_PARAM;
        int j = (int)(c < n ? c : c < 2 * n ? c - n : c - 2 * n);
        good = differ(&at, what, j, s->general + c * 3 * n);
    }
    return good ? ZW_OK
                : base_fail(error, ZW_INACCURATE,
                            "a contact or limit begins to act when bodies are moved slightly, so "
                            "that the step has no derivatives");
}

/* ---- Backward pass --------------------------------------------------------------------------- */

void steps_general_stiffen(sens_steps *s, const double *x, double *out)
{
    soft_problem *soft = s->soft;
    for (int b = 0; b < soft->blocks; b++) {
        soft_block *k = &soft->block[b];
        if (k->group == 0) {
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

void steps_general_back(const sens_steps *s, double *q_by, double *v_by, double *param_by)
{
    size_t n = (size_t)s->system->n, params = param_by ? (size_t)s->system->shape.params : 0;
    for (size_t c = 0; c < 2 * n + params; c++) {
        const double *dF = s->general + c * 3 * n, *dWa = dF + n, *dMas = dWa + n;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += s->w[i] * dF[i] - s->y[i] * dWa[i] - s->z[i] * dMas[i];
        }
        *(c < n ? &q_by[c] : c < 2 * n ? &v_by[c - n] : &param_by[c - 2 * n]) += sum;
    }
}
