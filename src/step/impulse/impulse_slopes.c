/* The contribution of formulas over bodies to the metric H of a step.
 *
 * A force F(y, y') on something seen, y' = J v, changes by F_y a + F_y' where the speed of the step
 * changes, as y where the force is taken is y0 + a J u (a: impulse_ahead); so the balance of
 * impulses has the slope
 *
 *     S = - fall J_on' (a F_y + F_y') J
 *
 * and a control c of a motor along e the slope -fall e f_c (a c_y + c_y') J. (J is that of the end
 * of the step: its change with u is left to the rounds, as everywhere.) All of F_y, F_y' are exact:
 * PART_SLOPES.
 *
 * H is a metric, so of S it takes the symmetric part, and of that the positive one: with M's
 * diagonal d, the eigenvalues of (S + S')/2 in units of d that are positive, by Jacobi's rotations.
 * Springs, dampers and joints held by a formula are then all in H, however stiff; destabilising and
 * gyroscopic forces are found by the rounds. The dofs that formulas couple are few. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense/dense.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

/* ---- Couplings ---------------------------------------------------------------------------- */

static void mark_body(const zw_system *system, int body, int *mark)
{
    for (int d = system->tree->body[body].last_dof; d >= 0; d = system->tree->dof_parent[d]) {
        mark[d] = 1;
    }
}

static void mark_seen(const zw_system *system, int index, int *mark)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    const bodies_seen *it = &formulas->seen[index];
    if (it->kind == MODEL_SEEN_JOINT) {
        mark[it->dof] = 1;
    } else if (it->frame >= 0) {
        mark_body(system, formulas->frame[it->frame].body, mark);
    }
}

static void mark_motor(const zw_system *system, const bodies_motor *motor, int *mark)
{
    const struct system_bodies *bodies = system->bodies;
    int count = motor->kind == MOTOR_FREE ? 6 : motor->kind == MOTOR_BALL ? 3 : 0;
    if (motor->kind == MOTOR_SITE) {
        mark_body(system, motor->frame.body, mark);
        if (motor->refers) {
            mark_body(system, motor->ref.body, mark);
        }
    } else if (motor->kind == MOTOR_LENGTH) {
        const bodies_length *length = &bodies->length[motor->length];
        for (int k = length->first; k < length->first + length->count; k++) {
            mark[bodies->term[k].dof] = 1;
        }
    } else {
        for (int k = 0; k < count; k++) {
            mark[motor->dof + k] = 1;
        }
    }
}

/* The motor of a control; -1: none that is enabled. */
static int motor_of(const struct system_bodies *bodies, int control)
{
    for (int k = 0; k < bodies->motor_count; k++) {
        if (bodies->motor[k].formula == control) {
            return k;
        }
    }
    return -1;
}

zw_status impulse_stiff_create(impulse_stiff *stiff, const zw_system *system)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    size_t n = (size_t)system->n;
    *stiff = (impulse_stiff){0};
    if (!formulas || formulas->slope_count == 0) {
        return ZW_OK;
    }
    stiff->at = base_alloc((3 * n + 1) * sizeof *stiff->at);
    if (!stiff->at) {
        return ZW_NO_MEMORY;
    }
    stiff->dof = stiff->at + n;
    stiff->row_dof = stiff->dof + n;
    for (int i = 0; i < formulas->slope_count; i++) {
        const bodies_slope *slope = &formulas->slope[i];
        int motor = slope->on < 0 ? motor_of(system->bodies, slope->control) : -1;
        if (motor >= 0) {
            mark_motor(system, &system->bodies->motor[motor], stiff->at);
        } else if (slope->on >= 0) {
            mark_seen(system, slope->on, stiff->at);
        }
        mark_seen(system, slope->by, stiff->at);
    }
    for (int d = 0; d < system->n; d++) {
        int is_in = stiff->at[d];
        stiff->at[d] = is_in ? stiff->count : -1;
        stiff->dof[stiff->count] = d;
        stiff->count += is_in;
    }
    size_t c = (size_t)stiff->count, cells = c * c;
    stiff->S = base_alloc((2 * cells + 2 * c + n + 1) * sizeof *stiff->S);
    if (!stiff->S) {
        impulse_stiff_free(stiff);
        return ZW_NO_MEMORY;
    }
    stiff->V = stiff->S + cells;
    stiff->size = stiff->V + cells;
    stiff->by = stiff->size + c;
    stiff->row = stiff->by + c;
    return ZW_OK;
}

void impulse_stiff_free(impulse_stiff *stiff)
{
    base_free(stiff->at);
    base_free(stiff->S);
    *stiff = (impulse_stiff){0};
}

/* ---- S -------------------------------------------------------------------------------------- */

/* The derivative of a motor's force by its control, over a step; 0: irrelevant. */
static double by_control(step_impulse *s, int k)
{
    const struct system_bodies *bodies = s->system->bodies;
    const bodies_motor *motor = &bodies->motor[k];
    if (!impulse_motor_yields(s, k)) {
        return 0;
    }
    double length, rate = 0, part = 1;
    int count = bodies_aim(s->system, s->work, k, s->q1, s->work->aim_dof, s->work->aim, &length);
    for (int i = 0; i < count; i++) {
        rate += s->work->aim[i] * s->u[s->work->aim_dof[i]];
    }
    if (motor->act >= 0) {
        part = bodies_activates(s->system, s->work, motor, s->act0[motor->act], s->h);
    } else if (motor->clamp_control &&
               (s->given[k] <= motor->control[0] || s->given[k] >= motor->control[1])) {
        return 0;
    }
    return part * (bodies_motor_law(motor, 1, length, rate).force -
                   bodies_motor_law(motor, 0, length, rate).force);
}

/* S += row' by, with `count` entries of the row in work->aim. */
static void add_row(step_impulse *s, int count, const int *dof, const double *row)
{
    const impulse_stiff *stiff = &s->stiff;
    for (int i = 0; i < count; i++) {
        int a = stiff->at[dof[i]];
        for (int b = 0; b < stiff->count; b++) {
            stiff->S[(size_t)a * (size_t)stiff->count + (size_t)b] += row[i] * stiff->by[b];
        }
    }
}

/* The derivatives of one force or control, which begin at index `first`; returns the index of the
 * next. */
static int add_slopes(step_impulse *s, int first, const double *value)
{
    const bodies_formulas *formulas = s->system->bodies->formulas;
    impulse_stiff *stiff = &s->stiff;
    const bodies_slope *of = &formulas->slope[first];
    int motor = of->on < 0 ? motor_of(s->system->bodies, of->control) : -1, i = first, count;
    double gain = of->on >= 0 ? 1 : motor >= 0 ? by_control(s, motor) : 0, length;
    memset(stiff->by, 0, (size_t)stiff->count * sizeof *stiff->by);
    for (; i < formulas->slope_count && formulas->slope[i].on == of->on &&
           formulas->slope[i].control == of->control;
         i++) {
        double g = -s->fall * gain * (impulse_ahead(s) * value[2 * i] + value[2 * i + 1]);
        count = g == 0 ? 0
                       : bodies_seen_row(s->system, s->work, formulas->slope[i].by, stiff->row_dof,
                                         stiff->row);
        for (int k = 0; k < count; k++) {
            stiff->by[stiff->at[stiff->row_dof[k]]] += g * stiff->row[k];
        }
    }
    if (of->on >= 0) {
        count = bodies_seen_row(s->system, s->work, of->on, stiff->row_dof, stiff->row);
        add_row(s, count, stiff->row_dof, stiff->row);
    } else if (gain != 0) {
        zw_work *work = s->work;
        count = bodies_aim(s->system, work, motor, s->q1, work->aim_dof, work->aim, &length);
        add_row(s, count, work->aim_dof, work->aim);
    }
    return i;
}

/* ---- The positive part ---------------------------------------------------------------------- */

/* S = V diag V' by Jacobi's rotations, each of which makes what is beside the diagonal smaller by
 * what it turns away, and that is more than round-off. 0: it contains NaN or infinities. */
static int diagonalise(double *S, double *V, int n)
{
    double sum = 0;
    memset(V, 0, (size_t)n * (size_t)n * sizeof *V);
    for (int i = 0; i < n * n; i++) {
        sum += fabs(S[i]);
    }
    for (int i = 0; i < n; i++) {
        V[i * n + i] = 1;
    }
    for (int turned = isfinite(sum); turned;) {
        turned = 0;
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                if (fabs(S[p * n + q]) > 1e-12 * sum) {
                    dense_turn(S, V, n, p, q);
                    turned = 1;
                }
            }
        }
    }
    return isfinite(sum);
}

static void scale(impulse_stiff *stiff, const impulse_matrix *H)
{
    int n = stiff->count;
    double *S = stiff->S, *d = stiff->size;
    for (int i = 0; i < n; i++) {
        double M = matrix_diagonal(H, stiff->dof[i]);
        d[i] = M > 0 ? sqrt(M) : 1;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            S[i * n + j] = S[j * n + i] = 0.5 * (S[i * n + j] + S[j * n + i]) / (d[i] * d[j]);
        }
    }
}

static void add_positive(impulse_stiff *stiff, impulse_matrix *H)
{
    int n = stiff->count;
    const double *V = stiff->V, *d = stiff->size;
    scale(stiff, H);
    if (!diagonalise(stiff->S, stiff->V, n)) {
        return;
    }
    for (int k = 0; k < n; k++) {
        double root = stiff->S[k * n + k];
        for (int i = 0; i < n && root > 0; i++) {
            stiff->by[i] = V[i * n + k] * d[i];
        }
        if (root > 0) {
            matrix_stiffen(H, root, n, stiff->dof, stiff->by);
        }
    }
}

void impulse_stiffen(step_impulse *s)
{
    const zw_system *system = s->system;
    impulse_stiff *stiff = &s->stiff;
    size_t c = (size_t)stiff->count;
    if (c == 0) {
        return;
    }
    const expr_inputs in = {.t = s->t + s->h, .param = s->work->param, .q = s->q1, .v = s->u};
    tree_velocities(system->tree, s->u, s->work->sweeps);
    const double *value = bodies_run_formulas(system, s->work, PART_SLOPES, &in);
    memset(stiff->S, 0, c * c * sizeof *stiff->S);
    for (int i = 0; i < system->bodies->formulas->slope_count;) {
        i = add_slopes(s, i, value);
    }
    add_positive(stiff, &s->H);
}
