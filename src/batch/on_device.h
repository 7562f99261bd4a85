/* A batch whose worlds are on a device (device/world.h).
 *
 * The device holds the worlds; the caller's arrays are copies. `mirror` has their contents when
 * they were last updated: a row that differs has been written by the caller, and is set at the next
 * step as zw_state_set does. After steps with ZW_BATCH_STAY the arrays are out of date (`stale`),
 * and only rows written since are taken over. */
#ifndef ZW_BATCH_ON_DEVICE_H
#define ZW_BATCH_ON_DEVICE_H

#include "batch/batch.h"
#include "device/backend.h"
#include "device/image.h"

struct batch_device {
    const device_backend *backend;
    void *handle;
    int threads; /* of the processor, for steps that the device leaves to it */
    int points;  /* capacity for contacts of a world; 0: from the file */

    /* The distinct systems, and the one of each world. */
    int models;
    const zw_system **system;  /* [models] */
    zw_state **start;          /* [models] */
    int *order;                /* [worlds] of the job */
    int *which;                /* [worlds] index of its model */
    double step;               /* the step length of the images; 0: there are none yet */
    void **image;              /* [models] on the device */
    size_t scratch;            /* bytes per world, */
    size_t exact_scratch;      /* and for steps by Coulomb's law, */
    size_t sense_scratch;      /* and for sensors */
    struct batch_exact *exact; /* on_device_exact.c; NULL: there was no such step yet */
    double exact_step;         /* steps of this length can be taken by Coulomb's law */

    device_job job; /* its pointers are on the device */
    void *reset;    /* [worlds] on the device, */
    void **begin;   /* [models] and the initial states there */
    double *mirror[SEEN_WRITTEN];
    int stale;
    int has_sensed; /* sensors and accelerations have been computed */
    int *status;    /* [worlds] after the last call */
    device_result *result;
    int is_looked; /* results are up to date */
    zw_state *state;
    zw_work *work;
};

/* The fields on a device; their arrays in the job; bytes of a row and of all rows; a row. */
static const zw_field_id on_device_field[SEEN_COUNT] = {[SEEN_TIME] = ZW_FIELD_TIME,
                                                        [SEEN_PARAM] = ZW_FIELD_PARAM,
                                                        [SEEN_Q] = ZW_FIELD_Q,
                                                        [SEEN_V] = ZW_FIELD_V,
                                                        [SEEN_ACTIVATION] = ZW_FIELD_ACTIVATION,
                                                        [SEEN_SENSOR] = ZW_FIELD_SENSOR,
                                                        [SEEN_A] = ZW_FIELD_A};

static inline double **on_device_place(device_job *job, int k)
{
    double **place[SEEN_COUNT] = {
        [SEEN_TIME] = &job->time,    [SEEN_PARAM] = &job->param, [SEEN_Q] = &job->q,
        [SEEN_V] = &job->v,          [SEEN_A] = &job->a,         [SEEN_ACTIVATION] = &job->act,
        [SEEN_SENSOR] = &job->sensor};
    return place[k];
}

static inline size_t on_device_row(const zw_batch *batch, int k)
{
    return (size_t)batch->seen[k].count * sizeof(double);
}

static inline size_t on_device_all(const zw_batch *batch, int k)
{
    return (size_t)batch->count * on_device_row(batch, k);
}

static inline double *on_device_at(const zw_batch *batch, double *array, int world, int k)
{
    return array + (size_t)world * (size_t)batch->seen[k].count;
}

/* on_device_copy.c: sends what the caller wrote to the device. */
zw_status on_device_take(zw_batch *batch, zw_error *error);

/* on_device.c */
zw_batch *on_device_create(const zw_batch_def *def, zw_error *error);
void on_device_free(zw_batch *batch);
zw_status on_device_step(zw_batch *batch, const zw_run_options *options, int steps, int flags,
                         zw_error *error);
zw_status on_device_reset(zw_batch *batch, const unsigned char *mask, const zw_state *to,
                          zw_error *error);
/* on_device_exact.c: can these steps be taken by Coulomb's law? And takes them. */
zw_status on_device_check_exact(zw_batch *batch, const zw_run_options *plan, zw_error *error);
zw_status on_device_move_exact(zw_batch *batch, const zw_run_options *options,
                               const zw_run_options *plan, int steps, zw_error *error);
void on_device_free_exact(struct batch_exact *e);
/* Fetches the results of all worlds into batch->result. */
zw_status on_device_look(zw_batch *batch, zw_error *error);

#endif
