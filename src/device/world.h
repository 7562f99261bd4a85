/* Worlds on a device: the soft law's steps (step/soft_step.h), one thread a world, or a crew of 32
 * threads (math/crew.h) where there are few worlds; and those of Coulomb's law with one
 * linearisation (step/once8/once8.h), one thread a world.
 *
 * Where the system allows it, the threads of a warp are the lanes of soft8_step: what one of them
 * has to do, for example the rows of a contact, all do together, so that threads do not diverge. On
 * the processor, in emulate.c, eight worlds are the lanes of a vector. A world whose lane fails
 * takes that step alone; worlds of other systems always do.
 *
 * The code of a step is that of the processor: clang compiles the same C files for the device
 * (cuda/), so a world has the bits that it has in zw_batch_step. Only the placement of data
 * differs:
 *
 *   device_model the parts of a system that steps read, in one block without external pointers
 *                   (image.c). All worlds of the system share it; it is read-only.
 *   device_job arrays over all worlds in device memory: states and results. world_work the scratch
 *   of one thread for steps alone, in device memory. world_group the scratch of worlds in lanes. On
 *   a GPU that is a thread's local memory, which
 *                   the hardware interleaves over the threads of a warp: what all of them ask for
 *                   at once lies side by side.
 *
 * The capacity of a world for contact points is fixed when the model is made. Points are counted
 * before they are stored; if there are more, the world fails with ZW_TOO_LARGE, reports their
 * number, and stops. Every world that fails stops, without affecting others.
 *
 * emulate.c runs the same job on the processor. */
#ifndef ZW_DEVICE_WORLD_H
#define ZW_DEVICE_WORLD_H

#include "step/soft8_step.h"

enum { DEVICE_SPEEDS = 128 }; /* more of them have no pattern of H: soft_large.c */

/* Bodies by their depth in the tree, for crews (cuda/crew_tree.c). */
typedef struct device_levels {
    int count;
    int *start, *body; /* [count + 1], [bodies - 1] */
    int *sibling;      /* [bodies] the one before it that has the same parent; 0: none */
} device_levels;

/* What worlds in lanes read, as computed by soft8_create. */
typedef struct device_lanes {
    int match_count;
    soft8_match *match;
    double *tendon_J;
    int *tendon_straight;
    paths_shape straight;
    collide_pose *place; /* [geoms] poses of planes */
    int motors_apart, lengths_apart;
    device_levels levels;
} device_lanes;

typedef struct device_model {
    const zw_system *system;
    const device_lanes *lanes; /* NULL: worlds step alone */
    const soft_problem *soft;  /* weights, springs, trees; its other pointers are NULL */
    int size;                  /* of y: q, v, activations */
    int deep, stages; /* which parts of soft_problem are needed: is a tree deep? RK4, implicit? */
    int tall;         /* largest number of rows of a contact point */
    int readings;     /* numbers of all sensors */
    int lot;          /* vectors for eight equal trees at once */
} device_model;

/* The result of a world in the last call. */
typedef struct device_result {
    int status; /* zw_status */
    int steps;
    int contacts,
        iterations; /* the largest of a step; if a world's capacity was exceeded: contacts needed */
    int rows;       /* likewise */
    int total;      /* iterations of all steps */
    int alone;      /* steps that lanes could not take */
    double certificate; /* the worst */
} device_result;

/* Arrays are [worlds][count]; `status` is not ZW_OK in worlds that have stopped. */
typedef struct device_job {
    const device_model *const *model; /* [models] */
    const int *which;                 /* [worlds] index of the model; NULL: all have the first */
    int worlds, steps;
    double step;
    double *time, *param, *q, *v, *act;
    double *grid;  /* [3] origin, count, and the time that the last step reached */
    double *guess; /* [2 n] initial guess of a */
    int *status;
    device_result *result;
    uint64_t *mark;   /* world_mark where the last step of Coulomb's law ended; 0: there is none */
    int *left;        /* steps that are left to take by Coulomb's law */
    uint64_t *touch;  /* a bit set, folded, of the pairs in contact in the last step */
    const int *order; /* [worlds] the order of worlds in lanes */
    /* Unless 0: no steps; the accelerations and sensors of all worlds are computed, into these.
     * They are NULL where a model has no sensors that a device computes. */
    int senses;
    double *sensor, *a; /* [readings], [n] */
    /* Unless NULL: no steps; the worlds with reset[world] are reset to `start` of their model: t,
     * param, q, v, act */
    const unsigned char *reset;
    const double *const *start; /* [models] */
    /* Set by the backend: scratch for this many worlds at once, and how it is divided. */
    unsigned char *scratch;
    size_t scratch_bytes; /* of each */
    int lanes;            /* threads of a warp that have a world */
    int alone;            /* no world runs in lanes */
    int is_single;        /* lanes are in single precision */
    int is_exact;         /* Coulomb's law with one linearisation */
    /* Of a crew: offsets in its scratch, or bytes per crew in shared memory */
    size_t near, far, near_shared;
    /* Of a warp in lanes: bytes of what its threads share, in shared memory or after the scratch */
    size_t common;
    int common_shared;
    /* And of what it needs to take its worlds one after another (cuda/warp_newton.c): in shared
     * memory, and after all other scratch; 0: it does not */
    size_t desk, stage;
} device_job;

/* Bytes of scratch that a world of this model needs. */
size_t world_bytes(const device_model *model);

/* All steps of one world, or its reset. `memory` has world_bytes bytes of any content, aligned to a
 * cache line. */
void world_move(const device_job *job, int world, void *memory);

/* world_sense.c: the scratch of job->senses, and its part of world_move. */
size_t world_sense_bytes(const device_model *model);
void world_sense(const device_job *job, int world, void *memory);

/* world_lanes.c: the same for LANES worlds; -1: a lane without one. All lanes that run together
 * must make the call at the same time. Memory has three parts: data that is used all the time,
 * contacts, of which there may be many, and what is the same in all lanes that run together, which
 * they share. */
typedef struct device_room {
    size_t near, far, common; /* bytes */
    size_t desk, stage;       /* of a warp of a GPU: soft8_settle_bytes */
} device_room;
typedef struct device_place {
    unsigned char *near, *far, *common;
    void *desk, *stage; /* of a warp: cuda/warp_newton.c; NULL: there is none */
} device_place;
device_room world_lanes_bytes(const device_model *model);
void world_move_lanes(const device_job *job, const int world[LANES], void *memory,
                      const device_place *at);
/* The same in single precision (float_lanes.h). The last step of a call is checked in double
 * precision, by the functions below: soft8_certify with scratch of the given size. */
device_room world_float_bytes(const device_model *model);
void world_move_float(const device_job *job, const int world[LANES], void *memory,
                      const device_place *at);
device_room world_certify_bytes(const device_model *model);
void world_certify(const device_model *model, void *memory, const device_place *at,
                   soft8_clock *const *clock, double *const *x, double *const *moved,
                   double *certificate);
/* world_exact.c: steps by Coulomb's law, as many as are `left`; worlds that lanes cannot step stay
 * where they are. `near` has scratch of its own; `far`: bytes of `memory`. */
device_room world_exact_bytes(const device_model *model);
void world_move_exact(const device_job *job, const int world[LANES], void *memory,
                      const device_place *at);
/* A hash of a state, odd. */
uint64_t world_mark(const zw_system *system, double t, const double *q, const double *v);
/* The same as world_move_lanes, compiled for crews (cuda/crew.h), which have nothing in common. */
device_room world_crew_bytes(const device_model *model);
void world_move_crew(const device_job *job, const int world[1], void *memory,
                     const device_place *at);

#endif
