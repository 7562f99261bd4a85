/* Landings on limits of joints and tendons, which have no restitution.
 *
 * As with points that land (impulse_land.c), a step that finds the impulse of a limit at its end,
 * whenever in the step it is reached, has the law of impact at the wrong place, and what else was
 * held has its force for the wrong time: O(h) in the speeds. So limits that are open where a step
 * begins and push where it ends are left out of its flights until they are reached, and take part
 * in the law of impact there (impulse_bounce.c).
 *
 * A limit with the gap g that closes at the speed c counts as a landing if c h > g/2: otherwise the
 * speed at the limit is at most what its acceleration gives in a step, and it is handled at the end
 * of the step, like a limit at rest. So is a landing to which c contributes less than half: the
 * impulse of the step removes all the speed with which the limit would be passed, including what
 * forces give in the step, and a joint that is pressed against its limit, separates by round-off
 * and returns, has almost none of its own. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "step/impulse/impulse.h"

zw_status impulse_limits_create(impulse_limits *limits, const zw_system *system)
{
    size_t m = (size_t)system->m + 1;
    *limits = (impulse_limits){.gap = base_alloc(m * sizeof(double)),
                               .speed = base_alloc(m * sizeof(double)),
                               .now = base_alloc(m),
                               .out = base_alloc(m)};
    for (int r = 0; r < system->m; r++) {
        limits->any |= system->row_kind[r] == SYSTEM_CONTACT;
    }
    return limits->gap && limits->speed && limits->now && limits->out ? ZW_OK : ZW_NO_MEMORY;
}

void impulse_limits_free(impulse_limits *limits)
{
    base_free(limits->gap);
    base_free(limits->speed);
    base_free(limits->now);
    base_free(limits->out);
    *limits = (impulse_limits){0};
}

static int is_limit(const step_impulse *s, int r)
{
    return s->system->row_kind[r] == SYSTEM_CONTACT;
}

/* The closing speed of the gap of row r. */
static double closing(const step_impulse *s, int r, const double *psi, const double *A,
                      const double *v)
{
    double rate = psi[r];
    for (int k = s->system->A_start[r]; k < s->system->A_start[r + 1]; k++) {
        rate += A[k] * v[s->system->A_column[k]];
    }
    return -rate;
}

void impulse_limits_begin(step_impulse *s, const double *psi, const double *A)
{
    impulse_limits *limits = &s->limits;
    for (int r = 0; r < s->system->m && limits->any; r++) {
        limits->gap[r] = s->phi[r];
        limits->speed[r] = is_limit(s, r) ? closing(s, r, psi, A, s->v0) : 0;
    }
}

/* The speed that an impulse of row r removes, as if each coordinate moved alone. */
static double speed_of_push(const step_impulse *s, int r, double push)
{
    double by = 0;
    for (int k = s->system->A_start[r]; k < s->system->A_start[r + 1]; k++) {
        double H = matrix_diagonal(&s->H, s->system->A_column[k]);
        by += H > 0 ? s->A[k] * s->A[k] / H : 0;
    }
    return by * push;
}

int impulse_limits_land(step_impulse *s)
{
    impulse_limits *limits = &s->limits;
    double touching = impulse_touching(s);
    int count = 0, from = 0;
    for (int c = 0, held = impulse_held(s); c < held && limits->any; c++) {
        int r = s->system->first_row[c];
        int closes = is_limit(s, r) && s->in_reach[r] > 0 && limits->gap[r] >= -touching;
        double gap = limits->gap[r];
        double push = closes ? problem_next_multiplier(&s->problem, c, 0, &from) : 0;
        int lands = push > 0;
        limits->now[r] = lands && 2 * s->h * limits->speed[r] > gap &&
                         2 * limits->speed[r] > speed_of_push(s, r, push);
        count += limits->now[r];
        s->touch.land.slow |= lands && !limits->now[r] && gap > touching;
    }
    return count;
}

double impulse_limits_late(const step_impulse *s)
{
    double most = 0;
    for (int r = 0; r < s->system->m && s->limits.any; r++) {
        double late = s->limits.now[r] ? s->h - s->limits.gap[r] / s->limits.speed[r] : 0;
        most = fmax(most, late);
    }
    return most;
}

void impulse_limits_leave_out(step_impulse *s)
{
    for (int r = 0; r < s->system->m && s->limits.any; r++) {
        s->limits.out[r] |= s->limits.now[r];
        s->limits.count += s->limits.now[r];
    }
}

void impulse_limits_forget(step_impulse *s)
{
    if (s->limits.count > 0) {
        memset(s->limits.out, 0, (size_t)s->system->m);
        s->limits.count = 0;
    }
}

int impulse_limit_flies(const step_impulse *s, int r)
{
    return s->limits.count > 0 && s->touch.flying && s->limits.out[r];
}

int impulse_limit_meets(const step_impulse *s, int r)
{
    return s->phi[r] <= IMPULSE_CLOSED * impulse_extent(s);
}

void impulse_limits_look(step_impulse *s, double t, const double *q)
{
    if (s->limits.count > 0) {
        impulse_rows_at(s, t, t, q, s->psi, s->A);
    }
}

int impulse_limits_next(const step_impulse *s, int r, const double *v, double *gap, double *speed)
{
    for (r = r < 0 ? 0 : r + 1; r < s->system->m && s->limits.count > 0; r++) {
        if (s->limits.out[r]) {
            *gap = s->phi[r];
            *speed = closing(s, r, s->psi, s->A, v);
            return r;
        }
    }
    return -1;
}
