/* Worlds on a device: the soft law's steps (step/soft_step.h), one thread a world, or a crew of 32
 * threads (math/crew.h) where there are few worlds.
 *
 * The threads of a warp are the lanes of soft8_step, where the system allows that: what one of them
 * has to do, as the rows of a contact, all do together, and none waits while others go other ways.
 * On the processor, in emulate.c, eight worlds go in the lanes of a vector. A world that a step in
 * lanes leaves behind takes that step alone; other systems always do.
 *
 * The code of a step is that of the processor: clang compiles the same C files for the device
 * (cuda/), so a world has the bits that it has in zw_batch_step. What differs is where things are:
 *
 *   device_model    a system, as far as steps read it, in one block without pointers to elsewhere
 *                   (image.c). All worlds of the system share it; it is read-only.
 *   device_job      arrays over all worlds in the device's memory: states, and how each did.
 *   world_work      the scratch of one thread for steps alone, of the device's memory.
 *   world_group     the scratch of worlds in lanes. On a GPU that is a thread's local memory, which
 *                   the hardware interleaves over the threads of a warp: what all of them ask for
 *                   at once lies side by side.
 *
 * A world has room for a number of contact points that is known when the model is made. Points are
 * counted before they are stored; where there are more the world fails with ZW_TOO_LARGE, says how
 * many there were, and stands still. So does every world that fails, and no other notices.
 *
 * emulate.c runs the same job on the processor. */
#ifndef ZW_DEVICE_WORLD_H
#define ZW_DEVICE_WORLD_H

#include "step/soft8_step.h"

enum { DEVICE_SPEEDS = 128 }; /* more of them have no pattern of H: soft_large.c */

/* Bodies by their distance from the world, for crews (cuda/crew_tree.c). */
typedef struct device_levels {
    int count;
    int *start, *body; /* [count + 1], [bodies - 1] */
    int *sibling;      /* [bodies] the one before it that has the same parent; 0: none */
} device_levels;

/* What worlds in lanes read, as soft8_create finds it. */
typedef struct device_lanes {
    int match_count;
    soft8_match *match;
    double *tendon_J;
    int *tendon_straight;
    paths_shape straight;
    collide_pose *place; /* [geoms] where planes stand */
    int motors_apart, lengths_apart;
    device_levels levels;
} device_lanes;

typedef struct device_model {
    const zw_system *system;
    const device_lanes *lanes; /* NULL: worlds go alone */
    const soft_problem *soft;  /* weights, springs, trees; its other pointers are NULL */
    int size;                  /* of y: q, v, activations */
    int deep, stages;          /* what of soft_problem is needed: is a tree deep? RK4, implicit? */
    int tall;                  /* rows that a contact point has at most */
    int lot;                   /* for eight equal trees at once: vectors */
} device_model;

/* How a world did in the last call. */
typedef struct device_result {
    int status; /* zw_status */
    int steps;
    int contacts, iterations; /* the most of a step; of a world without room: contacts needed */
    int rows;                 /* likewise */
    int total;                /* iterations of all steps */
    double certificate;       /* the worst */
} device_result;

/* Arrays are [worlds][count]; `status` is not ZW_OK in worlds that stand still. */
typedef struct device_job {
    const device_model *const *model; /* [models] */
    const int *which;                 /* [worlds] its model; NULL: all have the first */
    int worlds, steps;
    double step;
    double *time, *param, *q, *v, *act;
    double *grid;  /* [3] origin, count, and the time that the last step left */
    double *guess; /* [2 n] where the search for a begins */
    int *status;
    device_result *result;
    uint64_t *touch;  /* which pairs touched in the last step: one bit each, folded */
    const int *order; /* [worlds] who goes beside whom, in lanes */
    /* Not NULL: no steps; the worlds with reset[world] begin anew, as `start` of their model says:
     * t, param, q, v, act */
    const unsigned char *reset;
    const double *const *start; /* [models] */
    /* Of the backend: scratch for so many worlds at once, and what it is cut into. */
    unsigned char *scratch;
    size_t scratch_bytes; /* of each */
    int lanes;            /* threads of a warp that have a world */
    int alone;            /* no world goes in lanes */
    /* Of a crew: where in its scratch, or bytes of each in shared memory */
    size_t near, far, near_shared;
} device_job;

/* Bytes of scratch that a world of this model needs. */
size_t world_bytes(const device_model *model);

/* All steps of one world, or its reset. `memory` is world_bytes long, of any content, on a cache
 * line. */
void world_move(const device_job *job, int world, void *memory);

/* world_lanes.c: the same of LANES worlds; -1: a lane without one. Of all lanes that go together
 * the call is to be made at once. `near` and `far` are so many bytes: what is used all the time,
 * and contacts, of which there may be many. */
typedef struct device_room {
    size_t near, far;
} device_room;
device_room world_lanes_bytes(const device_model *model);
void world_move_lanes(const device_job *job, const int world[LANES], void *memory, void *near,
                      void *far);
/* The same, compiled for crews (cuda/crew.h). */
device_room world_crew_bytes(const device_model *model);
void world_move_crew(const device_job *job, const int world[1], void *memory, void *near,
                     void *far);

#endif
