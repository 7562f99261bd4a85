/* Contacts among sleeping bodies, for the samples of a run.
 *
 * Steps ignore them: they leave out sleeping bodies. But a box that sleeps on a floor is supported
 * by forces, and observers need them for loads, sensors and zero accelerations. They are those of a
 * first step from rest of all bodies that slept in the last step and of these alone (nothing else
 * touches them), and so depend only on their positions, not on the past. They are computed once for
 * each set of sleeping bodies, when they are needed. */
#include "base/error.h"
#include "base/memory.h"
#include "step/sleep/sleep.h"
#include "tree/sweeps.h"

typedef struct trial {
    subset_groups groups;
    subset part;
    zw_work *work;
    step_impulse *inner;
    unsigned char *asleep;
    double *q0, *v0, *q1, *v1;
} trial;

static void close_trial(trial *y)
{
    impulse_free(y->inner);
    zw_work_free(y->work);
    subset_free(&y->part);
    subset_groups_free(&y->groups);
    base_free(y->asleep);
    base_free(y->q0);
}

/* 0: no memory. */
static int open_trial(trial *y, const step_impulse *s, const double *q, const double *v)
{
    const zw_system *system = s->system;
    size_t nq = (size_t)system->nq, n = (size_t)system->n + (size_t)system->carried;
    y->asleep = base_alloc((size_t)s->sleep->groups.count + 1);
    y->q0 = base_alloc((2 * nq + 2 * n + 1) * sizeof *y->q0);
    if (!y->asleep || !y->q0 || subset_groups_create(&y->groups, system) != ZW_OK) {
        return 0;
    }
    y->q1 = y->q0 + nq;
    y->v0 = y->q1 + nq;
    y->v1 = y->v0 + n;
    for (int k = 0; k < y->groups.count; k++) {
        y->asleep[k] = !s->sleep->awake[k];
    }
    tree_kinematics(system->tree, q, s->work->sweeps);
    if (subset_create(&y->part, &y->groups, y->asleep, s->work->sweeps) != ZW_OK) {
        return 0;
    }
    y->part.bodies.sleep = 0;
    y->work = zw_work_create(&y->part.system, NULL);
    y->inner = y->work ? impulse_create(&y->part.system, y->work, NULL) : NULL;
    for (int i = 0; i < y->part.system.nq; i++) {
        y->q0[i] = q[y->part.q[i]];
    }
    for (int k = 0; k < y->part.bodies.act_count; k++) { /* after speeds of 0 */
        y->v0[y->part.system.n + k] = v[system->n + y->part.act[k]];
    }
    return y->inner != NULL;
}

/* If the step fails, except for lack of memory, no contacts are known. */
static zw_status find_rest(step_impulse *s, double t, double h, const double *q, const double *v)
{
    trial y = {0};
    step_sleep *z = s->sleep;
    int there = open_trial(&y, s, q, v);
    zw_status status = there ? ZW_OK : ZW_NO_MEMORY;
    contact_list_free(z->rest);
    z->rest = NULL;
    if (there) {
        system_bind(&y.part.system, y.work, s->work->param);
        sleep_tell(s, y.inner);
        status = impulse_step(y.inner, t, h, y.q0, y.v0, y.q1, y.v1, NULL);
        z->rest = status == ZW_OK ? y.work->touched : NULL;
        y.work->touched = status == ZW_OK ? NULL : y.work->touched;
    }
    close_trial(&y);
    z->rest_known = status != ZW_NO_MEMORY;
    return status == ZW_NO_MEMORY ? status : ZW_OK;
}

int sleep_hides(const step_impulse *s)
{
    return s->sleep->is_made && s->sleep->stamp != 0 && zw_contact_capacity(s->system) > 0;
}

zw_status sleep_list_rest(step_impulse *s, double t, double h, const double *q, const double *v,
                          zw_error *error)
{
    step_sleep *z = s->sleep;
    zw_status status = ZW_OK;
    if (s->work->touched && s->work->touched->rests) {
        return ZW_OK; /* they are up to date */
    }
    if (!z->rest_known) {
        status = find_rest(s, t, h, q, v);
    }
    if (status == ZW_OK && !contact_list_join(s->work, z->rest)) {
        status = ZW_NO_MEMORY;
    }
    return status == ZW_OK ? ZW_OK : base_fail_as(error, status);
}
