/* Internals of a batch: the states of all worlds, the arrays that the caller sees, and a worker for
 * each thread. batch.c creates it and gives access to it, batch_move.c advances it. */
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

/* The arrays that the caller sees: [worlds][count]. */
enum { SEEN_TIME, SEEN_PARAM, SEEN_Q, SEEN_V, SEEN_ACTIVATION, SEEN_SENSOR, SEEN_A, SEEN_COUNT };
enum { SEEN_WRITTEN = SEEN_ACTIVATION + 1 }; /* those before this may be written */

typedef struct batch_seen {
    zw_field_id field;
    int count;
    double *data;
} batch_seen;

/* The scratch of one thread. */
typedef struct batch_worker {
    zw_batch *batch;
    int thread;             /* 0: the calling thread */
    atomic_int group;       /* of its part of the groups of eight worlds, the next one, */
    int group_end;          /* and where the part ends */
    double polled;          /* the time with which it last polled */
    zw_run_options options; /* of the current call, with the poll function of this thread */
    zw_work *work;
    step_motion motion;
    double *stage, *y;
    batch_lanes lanes;             /* for systems that run in lanes, */
    int again[LANES], again_count; /* and the worlds that have more steps to take there */
    long stepped;                  /* number of steps taken that way */
    soft8 *soft8;                  /* for steps in lanes by the soft law; NULL: not yet needed */
    once8 *once8;                  /* for those by Coulomb's law with one linearisation */
    equations8 *equations8;        /* for those of equations by rk4 */
    void *memory;
} batch_worker;

/* A world in sorted order, batch_soft.c. */
typedef struct batch_place {
    uint64_t touch;
    int world;
} batch_place;

typedef struct batch_device batch_device; /* on_device.h */

struct zw_batch {
    batch_device *device; /* where the worlds are; NULL: the processor. On a device only `system`,
                             count, seen, result, why and failed are used. */
    const zw_system *system;   /* of all worlds; if they vary, of the first */
    const zw_system **systems; /* [count] of each; NULL: all have the same */
    zw_work **own;             /* [count] their scratch, and their initial states */
    zw_state **starts;
    int count, threads;
    int in_lanes;       /* equations whose runs go eight at a time in the vector unit */
    int steps_in_lanes; /* or whose fixed steps do: batch_equations.c, with */
    double *rates;      /* [count][size] the rates at the end of the last step of each world, */
    uint64_t *rates_of; /* [count] and the memory stamp of the state that they belong to */
    batch_seen seen[SEEN_COUNT];
    zw_state **state; /* [count] */
    zw_state *start;
    zw_batch_result *result; /* [count] */
    zw_error **why;          /* [count] NULL: no failure */
    unsigned char *failed;   /* [count] in the current call, */
    unsigned char *stuck;    /* and during a motion, without a reset since then */
    batch_worker *worker;    /* [threads] */
    batch_pool *pool;
    void *memory;

    /* Steps in lanes: batch_soft.c */
    int goes_alone;          /* the soft law cannot step in lanes */
    int goes_alone_once;     /* nor can one linearisation */
    int once;                /* the current steps are of the latter kind */
    uint64_t *touch;         /* [count] a hash of the pairs in contact in the last step */
    batch_place *place;      /* [count] the order in which worlds share vectors; twice the room */
    pthread_mutex_t *lock;   /* for readers while nothing moves */
    unsigned char *is_ahead; /* [count] newer than its state; NULL: none is */
    soft8_clock *clock;      /* [count] of those worlds, */
    once8_clock *once_clock; /* [count] or by one linearisation, with */
    unsigned char *closed;   /* [count][constraints] limits in contact, */
    double *x;               /* [count][nq + n + params] with q, v and parameters */
    zw_run_options plan;

    /* The current call */
    zw_run_options options;
    int steps, flags;
    zw_poll *poll; /* of the caller, called only in his thread; or NULL */
    void *user;
    atomic_int stopped; /* it has asked to stop */
    atomic_int next;    /* the next world without a worker */
};

static inline const zw_system *batch_system(const zw_batch *batch, int world)
{
    return batch->systems ? batch->systems[world] : batch->system;
}

/* The scratch that a world moves with: the thread's, or its own where worlds vary. */
static inline zw_work *batch_work(const batch_worker *worker, int world)
{
    return worker->batch->own ? worker->batch->own[world] : worker->work;
}

/* batch_move.c: prepares a world to move, by taking over what the caller wrote. Returns 0 for a
 * world that has failed, unless it was written to since. */
int batch_is_ready(batch_worker *worker, int world);
/* Takes this many steps of one world alone, and updates its arrays. */
void batch_step_world(batch_worker *worker, int world, int steps);
/* Updates the arrays of a world after successful steps. */
void batch_end_steps(batch_worker *worker, int world);
/* The next group of eight worlds of a call; -1: none is left. */
int batch_next_group(batch_worker *worker);
/* Should the call end? The caller's function is called in his own thread; the others see its
 * answer. */
int batch_polls(void *worker, double time);

/* batch_soft.c: can the steps of the current call be taken in lanes? Then each thread takes its
 * part. */
int batch_begin_softly(zw_batch *batch);
void batch_step_softly(void *user, int thread);
void batch_free_soft(zw_batch *batch);
/* Writes worlds that are newer than their states into their states. */
void batch_catch_up(zw_batch *batch, int world);
void batch_catch_up_all(zw_batch *batch);
/* The same for readers, several of which may call it at once; no number changes. -1: all worlds. */
void batch_let_see(const zw_batch *batch, int world);
/* Sorts all worlds by the pairs in contact, the rarest pairs first, into `place`. */
void batch_sort(zw_batch *batch);

/* batch_equations.c: the same for equations. */
int batch_begin_equations(zw_batch *batch);
void batch_step_equations(void *user, int thread);
void batch_free_equations(zw_batch *batch);

/* Writes what the caller wrote into the state; ZW_OK also if there was nothing. */
zw_status batch_take(zw_batch *batch, int world, zw_work *work, zw_error *error);
int batch_is_written(const zw_batch *batch, int world);     /* has the caller written anything? */
void batch_show(zw_batch *batch, int world, zw_work *work); /* copies the state into the arrays */
void batch_fail(zw_batch *batch, int world, const zw_error *error);

#endif
