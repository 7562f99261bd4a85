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
 * threads and worlds; one that fails does not disturb the others. Equations without constraints,
 * events and kinks run and step eight at a time in the vector unit; so do fixed steps
 * (ZW_METHOD_RK4) of equations with two-sided constraints, and steps of robots by the soft law
 * (without loops, elliptic cones, tendons through space, muscles, activations, dry friction in
 * joints, and without ZW_BATCH_SENSE). A batch serves one caller at a time. */
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

/* What a batch is made of; what is not given is 0. All worlds start as the file says.
 *
 * Worlds that vary have a system each, which may stand in the list several times: those of one file
 * with other settings (zw_read_options.settings, zw_model_set), with the same numbers of
 * coordinates, parameters and sensors. Each world has scratch of its own then.
 *
 * With a `device` ("cuda", "cuda:1"; or "emulated": the code for devices, on the processor) the
 * worlds live there and move by the soft law, with the bits that they have here; what the device
 * does not support is refused by name. Fields are copies then, which zw_batch_step brings up to
 * date; zw_batch_state is NULL. */
typedef struct zw_batch_def {
    const zw_system *system;         /* of all worlds, or */
    const zw_system *const *systems; /* [worlds] of each; the list is copied */
    int worlds;
    int threads;          /* of the processor, computing at once; 0: one */
    const char *device;   /* NULL: the processor */
    int contact_capacity; /* contact points that fit a world on a device; 0: those that the file
                             gives, or 48 */
} zw_batch_def;

/* The systems must outlive the batch. */
zw_batch *zw_batch_create(const zw_batch_def *def, zw_error *error);
void zw_batch_free(zw_batch *batch);

/* Of a batch on a device. Where a field is in its memory, [worlds][numbers]: to be read and written
 * there between calls, as it is (quaternions of any length but 0; the soft law brings states onto
 * their constraints by itself). NULL: not there, or no device. */
double *zw_batch_device_field(zw_batch *batch, zw_field_id field);
const char *zw_batch_device_name(const zw_batch *batch); /* NULL: the processor */
/* After ZW_BATCH_STAY: all fields from there; one field of all worlds to there, as it is. */
zw_status zw_batch_pull(zw_batch *batch, zw_error *error);
zw_status zw_batch_push(zw_batch *batch, zw_field_id field, zw_error *error);

/* Numbers of a world: TIME [1], Q, V, PARAM (with the controls of motors) and ACTIVATION, to read
 * and to write; after steps with ZW_BATCH_SENSE also SENSOR and A, to read. The worlds of a field
 * stand one after another: that of world 0 is [worlds][numbers], in one block that stays where it
 * is. NULL: there is none. What was written acts when the world moves next, as zw_state_set would
 * have it: what is written of TIME, Q and V is brought onto the constraints. A start that the file
 * derives from parameters is not derived again. */
double *zw_batch_field(zw_batch *batch, int world, zw_field_id field);

enum {
    ZW_BATCH_SENSE = 1, /* zw_look after the last step: SENSOR and A */
    ZW_BATCH_STAY = 2   /* on a device: fields are neither read before nor copied after the steps */
};

/* So many steps of every world, with the options of zw_step. A world that fails stops until
 * it is reset or something is written into it, and so does one that a `stop` line has ended
 * (stopped_by), at that time. The status and `error` are those of the first world,
 * by number, that failed in this call; zw_batch_look has those of each. */
zw_status zw_batch_step(zw_batch *batch, const zw_run_options *options, int steps, int flags,
                        zw_error *error);

/* Every world by its own steps to the final time; those already there stay. `every` is not used.
 * Failures as of zw_batch_step.
 *
 * Of both calls: the observer must be NULL. The poll is asked by the calling thread alone, often,
 * and while it waits for the others; nonzero ends the call with ZW_INTERRUPTED. Worlds that moved
 * then stand where they were, consistent and perhaps at different times; none has failed by that,
 * and the next call moves them on. */
zw_status zw_batch_run(zw_batch *batch, const zw_run_options *options, zw_error *error);

typedef struct zw_batch_result {
    zw_status status;
    double end;                        /* the time reached */
    int stopped_by;                    /* the event that stopped it, -1: none */
    double certificate;                /* worst of the last call */
    long steps, rejected, evaluations; /* of the last call */
} zw_batch_result;

/* How a world did in the last call; and why it failed: NULL: it did not. */
zw_batch_result zw_batch_look(const zw_batch *batch, int world);
const zw_error *zw_batch_why(const zw_batch *batch, int world);

/* Worlds with a nonzero mask[world] (NULL: all) are reset: to the initial state, or to `to` if it
 * is not NULL.
 */
zw_status zw_batch_reset(zw_batch *batch, const unsigned char *mask, const zw_state *to,
                         zw_error *error);

/* The whole state of a world, to be copied or saved; what is written into its fields is not in it
 * before it moves. NULL: there is no such world. */
const zw_state *zw_batch_state(const zw_batch *batch, int world);

/* The whole batch as bytes, the same on every machine: states, and which worlds have stopped. They
 * are read into a batch of the same systems; what has been written into fields and has not moved
 * yet is not in them. Reasons of failures become their statuses. */
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
