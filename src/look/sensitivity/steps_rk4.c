/* Steps of the soft law by MuJoCo's RK4, in the backward pass.
 *
 * The step (step/soft_step.c): with c = 0, 1/2, 1/2, 1 and b = 1/6, 1/3, 1/3, 1/6,
 *
 *     q_k = q0 (+) c_k h v_(k-1),    v_k = v0 + c_k h a_(k-1),    a_k that of the soft law at (q_k,
 * v_k) v1 = v0 + h sum of b_k a_k,         q1 = q0 (+) h sum of b_k v_k
 *
 * For slopes by q1, v1, those by v_k, A_k by a_k and Q_k by q_k are, from the last stage on,
 *
 *     A_k = h b_k v1_by + c_(k+1) h V_(k+1)
 *     V_k = b_k mean_by + (of q_(k+1), through v_k) + A_k da_k/dv,     Q_k = A_k da_k/dq
 *
 * with da_k by the implicit function theorem (steps.c) at the stage, where the soft law is solved
 * again. All V_k add to v_by, and what Q_k gives to q0 through the motion to the stage to q_by. */
#include <string.h>

#include "look/sensitivity/steps.h"

enum { STAGES = 4 };
static const double at[STAGES + 1] = {0, 0.5, 0.5, 1, 0};
static const double part[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

/* Places, speeds and accelerations of the stages, and slopes. */
typedef struct stages {
    double *q[STAGES], *v[STAGES], *a[STAGES];                          /* [nq], [n], [n] */
    double *mean, *mean_by, *end_by, *Q, *V, *later, *by, *q_by, *v_by; /* [n] */
} stages;

size_t steps_rk4_size(const sens_steps *s)
{
    size_t n = (size_t)s->system->n, nq = (size_t)s->system->nq;
    return STAGES * (nq + 2 * n) + 9 * n;
}

static stages lay_out(const sens_steps *s)
{
    size_t n = (size_t)s->system->n, nq = (size_t)s->system->nq;
    stages to;
    double *next = s->stage;
    for (int k = 0; k < STAGES; k++) {
        to.q[k] = next;
        to.v[k] = to.q[k] + nq;
        to.a[k] = to.v[k] + n;
        next = to.a[k] + n;
    }
    double **list[] = {&to.mean,  &to.mean_by, &to.end_by, &to.Q,   &to.V,
                       &to.later, &to.by,      &to.q_by,   &to.v_by};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        *list[k] = next + k * n;
    }
    return to;
}

/* Solves the soft law at a stage: q0, v0, t and the problem are then those of it. */
static zw_status solve_stage(sens_steps *s, const stages *of, int k, double t0, zw_error *error)
{
    memcpy(s->q0, of->q[k], (size_t)s->system->nq * sizeof *s->q0);
    memcpy(s->v0, of->v[k], (size_t)s->system->n * sizeof *s->v0);
    s->t = t0 + at[k] * s->h;
    s->looked = 0;
    s->work->as_mujoco = 1;
    zw_status status = soft_forward(s->soft, s->t, s->q0, s->v0, error);
    s->work->as_mujoco = 0;
    return status;
}

/* All stages again, and the mean speed; s->q0, s->v0 are those of the start. */
static zw_status find_stages(sens_steps *s, const stages *of, double t0, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, nq = (size_t)system->nq;
    zw_status status = ZW_OK;
    memcpy(of->q[0], s->q0, nq * sizeof(double));
    memcpy(of->v[0], s->v0, n * sizeof(double));
    memset(of->mean, 0, n * sizeof(double));
    soft_forget(s->soft);
    for (int k = 0; k < STAGES && status == ZW_OK; k++) {
        if (k > 0) {
            memcpy(of->q[k], of->q[0], nq * sizeof(double));
            system_move(system, of->q[k], at[k] * s->h, of->v[k - 1]);
        }
        for (size_t i = 0; i < n; i++) {
            of->v[k][i] = of->v[0][i] + (k > 0 ? at[k] * s->h * of->a[k - 1][i] : 0);
            of->mean[i] += part[k] * of->v[k][i];
        }
        status = solve_stage(s, of, k, t0, error);
        memcpy(of->a[k], s->soft->a, n * sizeof(double));
    }
    return status;
}

/* Slopes by a stage, from those by the next one; Q and V are those of the next one before. */
static zw_status stage_back(sens_steps *s, const stages *of, int k, double *param_by,
                            zw_error *error)
{
    size_t n = (size_t)s->system->n;
    double *later = of->later;
    for (size_t i = 0; i < n; i++) { /* solve() of steps.c multiplies by h */
        of->by[i] = part[k] * of->end_by[i] + at[k + 1] * of->V[i];
        later[i] = of->Q[i];
        of->V[i] = part[k] * of->mean_by[i];
        of->Q[i] = 0;
    }
    if (k + 1 < STAGES) {
        back_advance(s->system, of->v[k], at[k + 1] * s->h, later, of->q_by, of->V);
    }
    zw_status status = steps_accelerations_back(s, of->by, of->Q, of->V, param_by, error);
    for (size_t i = 0; i < n; i++) {
        of->v_by[i] += of->V[i];
        of->q_by[i] += k == 0 ? of->Q[i] : 0;
    }
    return status;
}

zw_status steps_rk4_back(sens_steps *s, const double *q1_by, const double *v1_by, double *q_by,
                         double *v_by, double *param_by, zw_error *error)
{
    const zw_system *system = s->system;
    size_t bytes = (size_t)system->n * sizeof(double);
    stages of = lay_out(s);
    double t0 = s->t;
    zw_status status = find_stages(s, &of, t0, error);
    memcpy(of.end_by, v1_by, bytes);
    memcpy(of.v_by, v1_by, bytes);
    memset(of.q_by, 0, bytes);
    memset(of.mean_by, 0, bytes);
    memset(of.Q, 0, bytes);
    memset(of.V, 0, bytes);
    back_advance(system, of.mean, s->h, q1_by, of.q_by, of.mean_by);
    for (int k = STAGES - 1; k >= 0 && status == ZW_OK; k--) {
        status = k + 1 < STAGES ? solve_stage(s, &of, k, t0, error) : ZW_OK;
        status = status == ZW_OK ? stage_back(s, &of, k, param_by, error) : status;
    }
    memcpy(q_by, of.q_by, bytes);
    memcpy(v_by, of.v_by, bytes);
    memcpy(s->q0, of.q[0], (size_t)system->nq * sizeof *s->q0);
    memcpy(s->v0, of.v[0], bytes);
    s->t = t0;
    return status;
}
