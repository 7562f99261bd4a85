/* Data of system_decide, shared by decide.c (which contacts touch, stick, slide) and impact.c. */
#ifndef ZW_SYSTEM_DECIDE_H
#define ZW_SYSTEM_DECIDE_H

#include <math.h>

#include "system/events/tangent.h"
#include "system/work.h"

/* Forces and accelerations are borderline if they are within this fraction of their size: then the
 * problem is solved again MOMENT later and then later still, up to LATEST. Tested by
 * test/step/test_bounces.c, test/system/test_friction.c and
 * test/step/test_prescribed_friction.c. */
#define DECIDE_BORDER 1e-9
#define DECIDE_MOMENT 1e-6
#define DECIDE_LATEST 1e-1

typedef struct decision {
    const zw_system *system;
    zw_work *work;
    zw_state *state;
    int *role;      /* [constraints] */
    int *touching;  /* [constraints] */
    int *border;    /* [constraints] borderline: to be decided again */
    int *trial;     /* [constraints] roles of prescribed.c */
    double *normal; /* [constraints] speed of separation */
    double *still;  /* [constraints] slower separation counts as none */
    double *ahead;  /* [nq + n + carried] the state a moment later */
    double *a;      /* [n + carried] the acceleration to it, and rates of activations */
    double rest;
    int at_kink; /* formulas have just changed their branch */
} decision;

static inline int decide_one_sided(const zw_system *system, int c)
{
    return system->model->constraint[c].relation == MODEL_AT_LEAST;
}

static inline int decide_rough(const zw_system *system, int c)
{
    return system->slip[c].width > 0;
}

/* After decide_look(). */
static inline double decide_slip_speed(const decision *d, int c)
{
    tangent t = tangent_look(d->system, c, d->work->out[PART_SLIP]);
    return tangent_speed(&t);
}

static inline double decide_largest(int n, const double *x)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    }
    return most;
}

/* After solving for accelerations with this status: may rows be dependent, so that friction would
 * hold a prescribed motion? Rows that are dependent up to round-off have no answer. */
static inline int decide_is_tied(const decision *d, zw_status status)
{
    return status == ZW_CONFLICT || status == ZW_INACCURATE || status == ZW_NO_SOLUTION ||
           (status == ZW_OK && d->work->motion->answer.redundant_count > 0);
}

/* impact.c: evaluate all that a decision needs, and fill touching, normal, still and rest. */
zw_status decide_look(decision *d, zw_error *error);
/* The largest acceleration term of the applied forces, including cancelling ones. PART_TERMS has
 * been evaluated. */
double decide_pull_of(const decision *d);
zw_status decide_energy(decision *d, double *value, zw_error *error);
/* Solves as accurately as the kernel can. */
zw_status decide_solve(system_solver *solver, zw_error *error);
/* decide.c: the state a moment later, if its speeds and activations have the rates a: d->ahead. */
void decide_go_ahead(decision *d, const double *a, double moment);
/* dry.c, after decide_look(): is c the dry friction of a joint at rest? Then decides which of them
 * hold, together with the contacts. */
int decide_dry_stands(const decision *d, int c);
zw_status decide_dry(decision *d, zw_error *error);
/* prescribed.c: do the active constraints prescribe how c slides? Then friction cannot hold it;
 * decide_follow() makes it slide in that direction. */
zw_status decide_prescribed(decision *d, int c, int *yes, zw_error *error);
zw_status decide_follow(decision *d, int c, zw_error *error);
/* If a touching contact approaches, or a kink of a two-sided constraint requires other speeds:
 * resolves the impact and describes it in `made`. */
zw_status decide_impacts(decision *d, system_impact *made, zw_error *error);

#endif
