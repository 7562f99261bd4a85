/* Copying between the device and the caller's arrays. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "batch/on_device.h"

/* Fetches the rows that the caller has not written since the last update. */
static zw_status pull(zw_batch *batch, int k, zw_error *error)
{
    batch_device *d = batch->device;
    size_t bytes = on_device_row(batch, k);
    double *seen = batch->seen[k].data, *mirror = d->mirror[k];
    if (bytes == 0) {
        return ZW_OK;
    }
    if (memcmp(seen, mirror, on_device_all(batch, k)) == 0) {
        zw_status status = d->backend->get(d->handle, mirror, *on_device_place(&d->job, k),
                                           on_device_all(batch, k), error);
        memcpy(seen, mirror, on_device_all(batch, k));
        return status;
    }
    double *now = base_alloc(on_device_all(batch, k));
    zw_status status = now ? d->backend->get(d->handle, now, *on_device_place(&d->job, k),
                                             on_device_all(batch, k), error)
                           : base_no_memory(error);
    for (int i = 0; i < batch->count && status == ZW_OK; i++) {
        double *own = on_device_at(batch, seen, i, k), *was = on_device_at(batch, mirror, i, k);
        const double *is = on_device_at(batch, now, i, k);
        if (memcmp(own, was, bytes) == 0) {
            memcpy(own, is, bytes);
        }
        memcpy(was, is, bytes);
    }
    base_free(now);
    return status;
}

zw_status zw_batch_pull(zw_batch *batch, zw_error *error)
{
    zw_status status = ZW_OK;
    batch_device *d = batch->device;
    for (int k = 0; d && k < SEEN_WRITTEN && status == ZW_OK; k++) {
        status = pull(batch, k, error);
    }
    for (int k = SEEN_WRITTEN; d && d->has_sensed && k < SEEN_COUNT && status == ZW_OK; k++) {
        status = d->backend->get(d->handle, batch->seen[k].data, *on_device_place(&d->job, k),
                                 on_device_all(batch, k), error);
    }
    if (d && status == ZW_OK) {
        d->stale = 0;
    }
    return status;
}

static int seen_of(zw_field_id field)
{
    for (int k = 0; k < SEEN_COUNT; k++) {
        if (on_device_field[k] == field) {
            return k;
        }
    }
    return -1;
}

zw_status zw_batch_push(zw_batch *batch, zw_field_id field, zw_error *error)
{
    int k = seen_of(field);
    if (!batch->device) {
        return ZW_OK; /* it is up to date */
    }
    if (k < 0 || k >= SEEN_WRITTEN) {
        return base_fail(error, ZW_BAD_INPUT, "this field is computed: it cannot be set");
    }
    memcpy(batch->device->mirror[k], batch->seen[k].data, on_device_all(batch, k));
    return batch->device->backend->put(batch->device->handle,
                                       *on_device_place(&batch->device->job, k),
                                       batch->seen[k].data, on_device_all(batch, k), error);
}

double *zw_batch_device_field(zw_batch *batch, zw_field_id field)
{
    int k = seen_of(field);
    return batch->device && k >= 0 && batch->seen[k].count > 0
               ? *on_device_place(&batch->device->job, k)
               : NULL;
}

const char *zw_batch_device_name(const zw_batch *batch)
{
    return batch->device ? batch->device->backend->name(batch->device->handle) : NULL;
}

/* ---- What the caller wrote ------------------------------------------------------------------- */

static int differs(const zw_batch *batch, int world, int k)
{
    size_t bytes = on_device_row(batch, k);
    return bytes > 0 && memcmp(on_device_at(batch, batch->seen[k].data, world, k),
                               on_device_at(batch, batch->device->mirror[k], world, k), bytes) != 0;
}

/* Sets numbers of the state as zw_state_set does, in a state that otherwise equals the world's. */
static zw_status set_state(zw_batch *batch, int world, zw_error *error)
{
    batch_device *d = batch->device;
    const zw_system *system = d->system[d->which[world]];
    zw_work *work = system == d->system[0] ? d->work : zw_work_create(system, error);
    zw_status status =
        work ? zw_state_copy(d->start[d->which[world]], &d->state, error) : ZW_NO_MEMORY;
    for (int k = 0; k < SEEN_WRITTEN && status == ZW_OK; k++) {
        zw_view view = zw_field(system, d->state, work, on_device_field[k]);
        memcpy((double *)view.data, on_device_at(batch, d->mirror[k], world, k),
               on_device_row(batch, k));
    }
    for (int k = 0; k < SEEN_WRITTEN && status == ZW_OK; k++) {
        if (differs(batch, world, k)) {
            status =
                zw_state_set(system, d->state, work, on_device_field[k], 0, batch->seen[k].count,
                             on_device_at(batch, batch->seen[k].data, world, k), error);
        }
    }
    for (int k = 0; k < SEEN_WRITTEN && status == ZW_OK; k++) {
        zw_view view = zw_field(system, d->state, work, on_device_field[k]);
        memcpy(on_device_at(batch, batch->seen[k].data, world, k), view.data,
               on_device_row(batch, k));
    }
    if (work != d->work) {
        zw_work_free(work);
    }
    return status;
}

static zw_status take_world(zw_batch *batch, int world, int *anew, zw_error *error)
{
    int written = 0;
    for (int k = 0; k < SEEN_WRITTEN; k++) {
        int own = differs(batch, world, k);
        written |= own;
        *anew |= own && k != SEEN_PARAM;
    }
    if (!written) {
        return ZW_OK;
    }
    batch->device->status[world] = ZW_OK;
    if (*anew) {
        return set_state(batch, world, error);
    }
    const double *param = on_device_at(batch, batch->seen[SEEN_PARAM].data, world, SEEN_PARAM);
    for (int i = 0; i < batch->seen[SEEN_PARAM].count; i++) {
        if (!isfinite(param[i])) {
            return base_fail(error, ZW_BAD_INPUT, "%s cannot be set to %g",
                             zw_name(batch->system, ZW_KIND_PARAM, i), param[i]);
        }
    }
    return ZW_OK;
}

/* The clocks of worlds that were set do not continue the time grid of their last steps. */
static zw_status start_clocks(zw_batch *batch, const unsigned char *anew, zw_error *error)
{
    batch_device *d = batch->device;
    zw_status status = ZW_OK;
    double none = NAN;
    for (int i = 0; i < batch->count && status == ZW_OK; i++) {
        if (anew[i]) {
            status = d->backend->put(d->handle, d->job.grid + 3 * (size_t)i + 2, &none, sizeof none,
                                     error);
        }
    }
    return status;
}

static zw_status refuse(zw_batch *batch, int world, const zw_error *why)
{
    batch->device->status[world] = (int)why->status;
    batch_fail(batch, world, why);
    for (int k = 0; k < SEEN_WRITTEN; k++) { /* the caller's change is undone */
        memcpy(on_device_at(batch, batch->seen[k].data, world, k),
               on_device_at(batch, batch->device->mirror[k], world, k), on_device_row(batch, k));
    }
    return why->status;
}

zw_status on_device_take(zw_batch *batch, zw_error *error)
{
    batch_device *d = batch->device;
    unsigned char *anew = base_alloc((size_t)batch->count);
    zw_status status = anew ? ZW_OK : base_no_memory(error);
    for (int i = 0; i < batch->count && status == ZW_OK; i++) {
        zw_error why = {.status = ZW_OK};
        int again = 0;
        if (take_world(batch, i, &again, &why) != ZW_OK) {
            refuse(batch, i, &why);
            again = 0;
        }
        anew[i] = (unsigned char)again;
    }
    for (int k = 0; k < SEEN_WRITTEN && status == ZW_OK; k++) {
        if (memcmp(batch->seen[k].data, d->mirror[k], on_device_all(batch, k)) != 0) {
            status = zw_batch_push(batch, on_device_field[k], error);
        }
    }
    status = status == ZW_OK ? start_clocks(batch, anew, error) : status;
    if (status == ZW_OK) {
        status = d->backend->put(d->handle, d->job.status, d->status,
                                 (size_t)batch->count * sizeof *d->status, error);
    }
    base_free(anew);
    return status;
}
