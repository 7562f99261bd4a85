/* Islands that sleep: sleep.c. All of it is behind impulse_step. */
#ifndef ZW_STEP_SLEEP_H
#define ZW_STEP_SLEEP_H

#include "step/impulse.h"

typedef struct step_sleep step_sleep;

/* For s->system, whose memory is in s->kept. NULL: no memory. */
step_sleep *sleep_create(const step_impulse *s);
void sleep_free(step_sleep *z);

/* impulse_step of a system with sleep. Where q1 and v1 are q0 and v0 themselves, only what is awake
 * is touched. `sum` (or NULL) is the state_sum of the state that holds them: kept up to date. */
zw_status sleep_step(step_impulse *s, double h, const double *q0, const double *v0, double *q1,
                     double *v1, uint64_t *sum, zw_error *error);
/* Those of constraints that are awake; the others stay. */
void sleep_modes(const step_impulse *s, double *mode, uint64_t *sum);
/* The next step is from another state than that which the last one led to. */
void sleep_leave(step_impulse *s);
/* Is what is awake where the last step left it? */
int sleep_is_left(const step_impulse *s, const double *q, const double *v);

#endif
