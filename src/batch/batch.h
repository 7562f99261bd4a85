/* The inside of a batch: states of all worlds, the arrays that the caller sees, and a worker for
 * each thread. batch.c makes and shows it, batch_move.c moves it. */
#ifndef ZW_BATCH_BATCH_H
#define ZW_BATCH_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "batch/lanes.h"
#include "batch/pool.h"
#include "step/equations8/equations8.h"
#include "step/once8/once8.h"
#include "step/run.h"
#include "step/soft8_step.h"
#include "zwang/batch.h"

/* What the caller sees of worlds: [worlds][count]. */
enum { SEEN_TIME, SEEN_PARAM, SEEN_Q, SEEN_V, SEEN_ACTIVATION, SEEN_SENSOR, SEEN_A, SEEN_COUNT };
enum { SEEN_WRITTEN = SEEN_ACTIVATION + 1 }; /* those before may be written */

typedef struct batch_seen {
    zw_field_id field;
    int count;
    double *data;
} batch_seen;

/* The scratch of one thread. */
typedef struct batch_worker {
    zw_batch *batch;
    int thread;             /* 0: the caller's */
    zw_run_options options; /* of the current call, with the poll of this thread */
    zw_work *work;
    step_motion motion;
    double *stage, *y;
    batch_lanes lanes;             /* of systems that run in lanes, */
    int again[LANES], again_count; /* and worlds that have more steps to make there */
    long stepped;                  /* steps that were taken so */
    soft8 *soft8; /* of those that step in lanes by the soft law; NULL: not asked for yet */
    once8 *once8; /* and of those by Coulomb's law with one linearisation */
    equations8 *equations8; /* and of equations by rk4 */
    void *memory;
} batch_worker;

/* A world among others, batch_soft.c. */
typedef struct batch_place {
    uint64_t touch;
    int world;
} batch_place;

typedef struct batch_device batch_device; /* on_device.h */

struct zw_batch {
    batch_device *device;      /* that the worlds are on; NULL: the processor. Then `system`, count,
                                  seen, result, why and failed are all that there is. */
    const zw_system *system;   /* of all worlds; or, if they vary, of the first */
    const zw_system **systems; /* [count] of each; NULL: they do not vary */
    zw_work **own;             /* [count] their scratch, and where they start */
    zw_state **starts;
    int count, threads;
    int in_lanes;       /* equations that the vector unit runs eight at a time */
    int steps_in_lanes; /* or steps so: batch_equations.c, with */
    double *rates;      /* [count][size] at the end of the last step of each world, */
    uint64_t *rates_of; /* [count] and the memory of the state that they belong to */
    batch_seen seen[SEEN_COUNT];
    zw_state **state; /* [count] */
    zw_state *start;
    zw_batch_result *result; /* [count] */
    zw_error **why;          /* [count] NULL: it did not fail */
    unsigned char *failed;   /* [count] in the current call, */
    unsigned char *stuck;    /* and while it moved, and it was not reset since */
    batch_worker *worker;    /* [threads] */
    batch_pool *pool;
    void *memory;

    /* Steps in lanes: batch_soft.c */
    int goes_alone;          /* there are none by the soft law */
    int goes_alone_once;     /* nor by one linearisation */
    int once;                /* the current ones are of the latter */
    uint64_t *touch;         /* [count] what touched in the last step */
    batch_place *place;      /* [count] which worlds share a vector */
    pthread_mutex_t *lock;   /* of readers while nothing moves */
    unsigned char *is_ahead; /* [count] of its state; NULL: none is */
    soft8_clock *clock;      /* [count] then, */
    once8_clock *once_clock; /* [count] or by one linearisation, with */
    unsigned char *closed;   /* [count][constraints] limits that touch, */
    double *x;               /* [count][nq + n + params] with q, v and parameters */
    zw_run_options plan;

    /* The current call */
    zw_run_options options;
    int steps, flags;
    zw_poll *poll; /* of the caller, asked in his thread only; or NULL */
    void *user;
    atomic_int stopped; /* it has said so */
    atomic_int next;    /* the next world that has no worker yet */
};

static inline const zw_system *batch_system(const zw_batch *batch, int world)
{
    return batch->systems ? batch->systems[world] : batch->system;
}

/* The scratch that a world moves with: the thread's, or where worlds vary its own. */
static inline zw_work *batch_work(const batch_worker *worker, int world)
{
    return worker->batch->own ? worker->batch->own[world] : worker->work;
}

/* batch_move.c: ready to move: what was written is taken. A world that has failed stands still
 * unless it was written into. */
int batch_is_ready(batch_worker *worker, int world);
/* So many steps of it, alone, and what is seen of it then. */
void batch_step_world(batch_worker *worker, int world, int steps);
/* What is seen of it after steps that went well. */
void batch_end_steps(batch_worker *worker, int world);
/* Is the call to end? The caller is asked in his own thread; the others see what he said. */
int batch_polls(void *worker, double time);

/* batch_soft.c: can the steps of the current call be taken in lanes? Then a thread's part of them.
 */
int batch_begin_softly(zw_batch *batch);
void batch_step_softly(void *user, int thread);
void batch_free_soft(zw_batch *batch);
/* Worlds that are ahead of their states: those become what they are. */
void batch_catch_up(zw_batch *batch, int world);
void batch_catch_up_all(zw_batch *batch);
/* The same for readers, perhaps several at once: no number changes. -1: all worlds. */
void batch_let_see(const zw_batch *batch, int world);
/* place: all worlds, by what touched, the rarest pairs first. */
void batch_sort(zw_batch *batch);

/* batch_equations.c: the same for equations. */
int batch_begin_equations(zw_batch *batch);
void batch_step_equations(void *user, int thread);
void batch_free_equations(zw_batch *batch);

/* What the caller wrote goes into the state; ZW_OK: nothing, or it is there. */
zw_status batch_take(zw_batch *batch, int world, zw_work *work, zw_error *error);
int batch_is_written(const zw_batch *batch, int world);     /* has the caller written something? */
void batch_show(zw_batch *batch, int world, zw_work *work); /* the state into the arrays */
void batch_fail(zw_batch *batch, int world, const zw_error *error);

#endif
