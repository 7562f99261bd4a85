/* Many worlds of one system: for reinforcement learning, planning and parameter studies.
 *
 *     zw_batch_def def = {.system = system, .worlds = 4096, .threads = 2};
 *     zw_batch *batch = zw_batch_create(&def, &error);
 *     double *ctrl = zw_batch_field(batch, 0, ZW_FIELD_PARAM);               [4096][params]
 *     for (;;) {
 *         ... write controls, read states and sensors ...
 *         zw_batch_step(batch, &options, 1, ZW_BATCH_SENSE, &error);
 *     }
 *
 * Every world moves, bit for bit, as it would alone by zw_step or zw_run, whatever the number of
 * threads and worlds; one that fails does not affect the others. Equations without constraints,
 * events and kinks are run and stepped eight at a time in the vector unit; so are fixed steps
 * (ZW_METHOD_RK4) of equations with two-sided constraints, and steps of robots by the soft law
 * (without loops, elliptic cones, tendons through space, muscles, activations, dry friction in
 * joints). A batch serves one caller at a time. */
#ifndef ZWANG_BATCH_H
#define ZWANG_BATCH_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_batch zw_batch;

/* ZW_PRECISION_FLOAT: what a step computes is float, for speed; q, v and their sums over time stay
 * double. On a device only, and for systems that are stepped in lanes; others are refused by name.
 * Two runs are equal. The certificate of the last step of each call is evaluated in double
 * precision. */
typedef enum zw_precision { ZW_PRECISION_DOUBLE, ZW_PRECISION_FLOAT } zw_precision;

/* The definition of a batch; unused members are 0. All worlds start in the initial state of the
 * file.
 *
 * For worlds that differ, give one system for each; a system may appear several times in the list.
 * They must have the same numbers of coordinates, parameters and sensors: for example one file read
 * with different settings (zw_read_options.settings, zw_model_set). Each world then has its own
 * scratch memory.
 *
 * With a `device` ("cuda", "cuda:1"; or "emulated": the device code, run by the processor) the
 * worlds are kept there and move by the soft law, or by Coulomb's with one linearisation and
 * without memory, with the same bits as on the processor; features that the device does not support
 * are refused by name. Fields are then copies, which zw_batch_step
 * updates, and zw_batch_state is NULL. */
typedef struct zw_batch_def {
    const zw_system *system;         /* of all worlds, or */
    const zw_system *const *systems; /* [worlds] of each; the list is copied */
    int worlds;
    int threads;          /* threads of the processor; 0: one */
    const char *device;   /* NULL: the processor */
    int contact_capacity; /* contact points for each world on a device; 0: the number in the file,
                             or 48 */
    zw_precision precision;
} zw_batch_def;

/* The systems must outlive the batch. */
zw_batch *zw_batch_create(const zw_batch_def *def, zw_error *error);
void zw_batch_free(zw_batch *batch);

/* For a batch on a device: the address of a field in its memory, [worlds][numbers], to be read and
 * written there between calls. Numbers are taken as they are (quaternions of any length but 0; the
 * soft law pulls states onto their constraints by itself). NULL: the field is not there, or there
 * is no device. */
double *zw_batch_device_field(zw_batch *batch, zw_field_id field);
const char *zw_batch_device_name(const zw_batch *batch); /* NULL: the processor */
/* After ZW_BATCH_STAY: pull copies all fields from the device; push copies one field of all worlds
 * to it, without changing numbers. */
zw_status zw_batch_pull(zw_batch *batch, zw_error *error);
zw_status zw_batch_push(zw_batch *batch, zw_field_id field, zw_error *error);

/* The numbers of a world: TIME [1], Q, V, PARAM (including the controls of motors) and ACTIVATION,
 * to read and write; after steps with ZW_BATCH_SENSE also SENSOR and A, to read. The worlds of a
 * field are contiguous: for world 0 the result is [worlds][numbers], a block whose address never
 * changes. NULL: there is no such field. Written numbers take effect when the world moves next, as
 * with zw_state_set: TIME, Q and V are projected onto the constraints. The last numbers of Q are
 * the poses of mocap bodies: if only these are written, they are set as ZW_FIELD_MOCAP is, and what
 * is welded to them follows. Initial values that the file computes from parameters are not computed
 * again. */
double *zw_batch_field(zw_batch *batch, int world, zw_field_id field);

enum {
    ZW_BATCH_SENSE = 1, /* call zw_look after the last step: fills SENSOR and A */
    ZW_BATCH_STAY = 2   /* on a device: fields are neither read before nor copied after the steps */
};

/* Takes this many steps in every world, with the options of zw_step. A world that fails stands
 * still until it is reset or something is written into it, and so does one that an event with a
 * `stop` line has ended (stopped_by). The status and `error` are those of the first world, by
 * number, that failed in this call; zw_batch_look has those of each. */
zw_status zw_batch_step(zw_batch *batch, const zw_run_options *options, int steps, int flags,
                        zw_error *error);

/* Runs every world to the final time with steps of its own; worlds already there do not move.
 * `every` is not used. Failures are reported as by zw_batch_step.
 *
 * For both calls the observer must be NULL. The poll is called by the calling thread only, often,
 * and also while it waits for the others; nonzero ends the call with ZW_INTERRUPTED. Worlds are
 * then in consistent states, perhaps at different times; none counts as failed, and the next call
 * continues from there. */
zw_status zw_batch_run(zw_batch *batch, const zw_run_options *options, zw_error *error);

typedef struct zw_batch_result {
    zw_status status;
    double end;                        /* the time reached */
    int stopped_by;                    /* the event that stopped it, -1: none */
    double certificate;                /* worst of the last call */
    long steps, rejected, evaluations; /* of the last call */
} zw_batch_result;

/* The result of a world in the last call; and the error of one that failed, else NULL. */
zw_batch_result zw_batch_look(const zw_batch *batch, int world);
const zw_error *zw_batch_why(const zw_batch *batch, int world);

/* Worlds with a nonzero mask[world] (NULL: all) are reset: to the initial state, or to `to` if it
 * is not NULL.
 */
zw_status zw_batch_reset(zw_batch *batch, const unsigned char *mask, const zw_state *to,
                         zw_error *error);

/* The whole state of a world, to be copied or saved; numbers written into its fields become part of
 * it when the world moves. NULL: there is no such world. */
const zw_state *zw_batch_state(const zw_batch *batch, int world);

/* The whole batch as bytes, the same on every machine: states, and which worlds have stopped. They
 * can be restored into a batch of the same systems. Numbers that were written into fields since a
 * world last moved are not included, and of failures only the status is kept. */
size_t zw_batch_bytes(const zw_batch *batch);
zw_status zw_batch_save(const zw_batch *batch, void *bytes, size_t size, zw_error *error);
zw_status zw_batch_restore(zw_batch *batch, const void *bytes, size_t size, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
