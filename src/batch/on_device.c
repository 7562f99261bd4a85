#include "batch/on_device.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* ---- Creation -------------------------------------------------------------------------------- */

/* The distinct systems, in the order of their first worlds. */
static zw_status list_systems(zw_batch *batch, const zw_batch_def *def, zw_error *error)
{
    batch_device *d = batch->device;
    int most = def->systems ? def->worlds : 1;
    d->system = base_alloc((size_t)most * sizeof *d->system);
    d->which = base_alloc((size_t)def->worlds * sizeof *d->which);
    if (!d->system || !d->which) {
        return base_no_memory(error);
    }
    for (int i = 0; i < def->worlds; i++) {
        const zw_system *own = def->systems ? def->systems[i] : def->system;
        int k = i > 0 && d->system[d->which[i - 1]] == own ? d->which[i - 1] : 0;
        while (k < d->models && d->system[k] != own) {
            k++;
        }
        if (k == d->models) {
            d->system[d->models++] = own;
            zw_status status = image_check(own, error);
            if (status != ZW_OK) {
                return status;
            }
        }
        d->which[i] = k;
    }
    return ZW_OK;
}

static zw_status make_starts(batch_device *d, zw_error *error)
{
    d->start = base_alloc((size_t)d->models * sizeof *d->start);
    d->image = base_alloc((size_t)d->models * sizeof *d->image);
    d->begin = base_alloc((size_t)d->models * sizeof *d->begin);
    if (!d->start || !d->image || !d->begin) {
        return base_no_memory(error);
    }
    for (int k = 0; k < d->models; k++) {
        zw_work *work = zw_work_create(d->system[k], error);
        d->start[k] = work ? zw_state_create(d->system[k], work, NULL, error) : NULL;
        zw_work_free(work);
        if (!d->start[k]) {
            return error && error->status != ZW_OK ? error->status : ZW_NO_MEMORY;
        }
        if (d->start[k]->nq != d->start[0]->nq || d->start[k]->n != d->start[0]->n ||
            d->start[k]->carried != d->start[0]->carried ||
            d->start[k]->params != d->start[0]->params) {
            return base_fail(error, ZW_BAD_INPUT,
                             "the worlds of a batch have the same numbers of coordinates, "
                             "parameters and activations");
        }
    }
    d->work = zw_work_create(d->system[0], error);
    return d->work ? zw_state_copy(d->start[0], &d->state, error) : ZW_NO_MEMORY;
}

static void *take(batch_device *d, size_t bytes, int *failed)
{
    void *block = d->backend->take(d->handle, bytes > 0 ? bytes : 8);
    *failed |= block == NULL;
    return block;
}

static zw_status put_order(zw_batch *batch, zw_error *error)
{
    batch_device *d = batch->device;
    return d->backend->put(d->handle, (void *)d->job.order, d->order,
                           (size_t)batch->count * sizeof *d->order, error);
}

/* Allocates the arrays of all worlds, on the device and on the host. */
static zw_status make_arrays(zw_batch *batch, zw_error *error)
{
    batch_device *d = batch->device;
    size_t worlds = (size_t)batch->count, n = (size_t)d->system[0]->n;
    int failed = 0;
    device_job *job = &d->job;
    for (int k = 0; k < SEEN_COUNT; k++) {
        int count = zw_field(d->system[0], d->state, d->work, on_device_field[k]).count;
        batch->seen[k] = (batch_seen){.field = on_device_field[k], .count = count};
        batch->seen[k].data = base_alloc(on_device_all(batch, k) + 1);
        failed |= !batch->seen[k].data;
        *on_device_place(job, k) = take(d, on_device_all(batch, k), &failed);
    }
    for (int k = 0; k < SEEN_WRITTEN; k++) {
        d->mirror[k] = base_alloc(on_device_all(batch, k) + 1);
        failed |= !d->mirror[k];
    }
    job->grid = take(d, 3 * worlds * sizeof(double), &failed);
    job->guess = take(d, 2 * n * worlds * sizeof(double), &failed);
    job->status = take(d, worlds * sizeof(int), &failed);
    job->result = take(d, worlds * sizeof(device_result), &failed);
    job->model = take(d, (size_t)d->models * sizeof(void *), &failed);
    job->start = take(d, (size_t)d->models * sizeof(void *), &failed);
    job->mark = take(d, worlds * sizeof *job->mark, &failed);
    job->left = take(d, worlds * sizeof *job->left, &failed);
    job->touch = take(d, worlds * sizeof *job->touch, &failed);
    job->order = take(d, worlds * sizeof *job->order, &failed);
    batch->touch = base_alloc(worlds * sizeof *batch->touch);
    batch->place = base_alloc(2 * worlds * sizeof *batch->place);
    d->order = base_alloc(worlds * sizeof *d->order);
    failed |= !batch->touch || !batch->place || !d->order;
    d->reset = take(d, worlds, &failed);
    int *which = d->models > 1 ? take(d, worlds * sizeof(int), &failed) : NULL;
    job->which = which;
    job->worlds = batch->count;
    batch->result = base_alloc(worlds * sizeof *batch->result);
    batch->why = base_alloc(worlds * sizeof *batch->why);
    batch->failed = base_alloc(worlds);
    d->status = base_alloc(worlds * sizeof *d->status);
    d->result = base_alloc(worlds * sizeof *d->result);
    if (failed || !batch->result || !batch->why || !batch->failed || !d->status || !d->result) {
        return base_fail(error, ZW_NO_MEMORY, "no memory for %d worlds on %s", batch->count,
                         d->backend->name(d->handle));
    }
    for (int i = 0; i < batch->count; i++) {
        d->order[i] = i;
    }
    zw_status status = put_order(batch, error);
    return which && status == ZW_OK
               ? d->backend->put(d->handle, which, d->which, worlds * sizeof(int), error)
               : status;
}

/* Single precision is for worlds in lanes. */
static zw_status check_single(const batch_device *d, zw_error *error)
{
    const char *lack = d->models > 1 ? "worlds of different systems" : soft8_lacks(d->system[0]);
    return lack ? base_fail(error, ZW_BAD_INPUT, "there is no single precision for %s", lack)
                : ZW_OK;
}

static zw_status make(zw_batch *batch, const zw_batch_def *def, zw_error *error)
{
    batch_device *d = batch->device;
    int number = 0;
    zw_status status = list_systems(batch, def, error);
    if (status != ZW_OK) {
        return status;
    }
    status = def->precision == ZW_PRECISION_FLOAT ? check_single(d, error) : ZW_OK;
    if (status != ZW_OK) {
        return status;
    }
    d->job.is_single = def->precision == ZW_PRECISION_FLOAT;
    d->points = def->contact_capacity;
    d->threads = def->threads > 0 ? def->threads : 1;
    batch->system = d->system[0];
    d->backend = device_find(def->device, &number, error);
    d->handle = d->backend ? d->backend->open(number, error) : NULL;
    if (!d->handle) {
        return error && error->status != ZW_OK ? error->status : ZW_BAD_INPUT;
    }
    status = make_starts(d, error);
    status = status == ZW_OK ? make_arrays(batch, error) : status;
    return status;
}

zw_batch *on_device_create(const zw_batch_def *def, zw_error *error)
{
    zw_batch *batch = base_alloc(sizeof *batch);
    batch_device *d = batch ? base_alloc(sizeof *d) : NULL;
    if (!d) {
        base_free(batch);
        base_no_memory(error);
        return NULL;
    }
    batch->device = d;
    batch->count = def->worlds;
    if (make(batch, def, error) != ZW_OK || on_device_reset(batch, NULL, NULL, error) != ZW_OK) {
        on_device_free(batch);
        return NULL;
    }
    return batch;
}

static void free_arrays(zw_batch *batch)
{
    batch_device *d = batch->device;
    device_job *job = &d->job;
    void *own[] = {job->grid,          job->guess,         job->status, job->result,
                   (void *)job->model, (void *)job->start, d->reset,    (void *)job->which,
                   job->touch,         (void *)job->order, job->mark,   job->left};
    for (int k = 0; k < SEEN_COUNT; k++) {
        base_free(batch->seen[k].data);
        d->backend->give(d->handle, *on_device_place(job, k));
    }
    for (int k = 0; k < SEEN_WRITTEN; k++) {
        base_free(d->mirror[k]);
    }
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        d->backend->give(d->handle, own[k]);
    }
    for (int k = 0; k < d->models && d->image && d->begin; k++) {
        d->backend->give(d->handle, d->image[k]);
        d->backend->give(d->handle, d->begin[k]);
    }
    d->backend->close(d->handle);
}

void on_device_free(zw_batch *batch)
{
    batch_device *d = batch->device;
    on_device_free_exact(d->exact);
    if (d->handle) {
        free_arrays(batch);
    }
    for (int i = 0; batch->why && i < batch->count; i++) {
        base_free(batch->why[i]);
    }
    for (int k = 0; d->start && k < d->models; k++) {
        zw_state_free(d->start[k]);
    }
    zw_state_free(d->state);
    zw_work_free(d->work);
    void *own[] = {d->system, d->which,     d->start,      d->image,   d->begin,
                   d->status, d->result,    batch->result, batch->why, batch->failed,
                   d->order,  batch->touch, batch->place,  d};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        base_free(own[k]);
    }
    base_free(batch);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The images of the systems for steps of this length. */
static zw_status make_images(batch_device *d, double step, zw_error *error)
{
    zw_status status = ZW_OK;
    d->scratch = d->sense_scratch = 0;
    d->job.alone = d->models > 1;
    for (int k = 0; k < d->models && status == ZW_OK; k++) {
        device_image image;
        d->backend->give(d->handle, d->image[k]);
        status = image_make(d->system[k], step, d->points, &image, error);
        d->image[k] = status == ZW_OK ? d->backend->take(d->handle, image.used) : NULL;
        if (status == ZW_OK && !d->image[k]) {
            status = base_no_memory(error);
        }
        if (status == ZW_OK) {
            image_settle(&image, image.block); /* on the host, to compute its size */
            const device_model *model = (const device_model *)(const void *)image.block;
            size_t bytes = world_bytes(model);
            d->job.alone |= !model->lanes;
            size_t senses = world_sense_bytes(model);
            d->scratch = bytes > d->scratch ? bytes : d->scratch;
            d->sense_scratch = senses > d->sense_scratch ? senses : d->sense_scratch;
            d->exact_scratch = model->lanes ? world_exact_bytes(model).far : 0;
            image_settle(&image, d->image[k]);
            status = d->backend->put(d->handle, d->image[k], image.block, image.used, error);
        }
        image_free(&image);
    }
    if (status == ZW_OK && d->job.is_single && d->job.alone) {
        status = base_fail(error, ZW_BAD_INPUT,
                           "there is no single precision for loops and very deep trees");
    }
    d->step = status == ZW_OK ? step : 0;
    return status == ZW_OK ? d->backend->put(d->handle, (void *)d->job.model, d->image,
                                             (size_t)d->models * sizeof *d->image, error)
                           : status;
}

static void explain(const zw_batch *batch, int world, zw_error *why)
{
    const batch_device *d = batch->device;
    const device_result *r = &d->result[world];
    switch (r->status) {
    case ZW_TOO_LARGE:
        base_fail(why, ZW_TOO_LARGE,
                  "%d contacts, more than a world on the device has room for: set contact_capacity",
                  r->contacts);
        break;
    case ZW_NOT_A_METRIC:
        base_fail(why, ZW_NOT_A_METRIC, "the masses are not positive");
        break;
    case ZW_INACCURATE:
        base_fail(why, ZW_INACCURATE,
                  "a step led to numbers that are not finite, or the soft law could not be solved");
        break;
    default:
        base_fail_as(why, (zw_status)r->status);
        break;
    }
    base_fail_more(why, " (on the device, after %d steps of this call)", r->steps);
}

zw_status on_device_look(zw_batch *batch, zw_error *error)
{
    batch_device *d = batch->device;
    double *time = d->mirror[SEEN_TIME];
    if (d->is_looked) {
        return ZW_OK;
    }
    zw_status status = d->backend->get(d->handle, d->result, d->job.result,
                                       (size_t)batch->count * sizeof *d->result, error);
    for (int i = 0; i < batch->count && status == ZW_OK; i++) {
        const device_result *r = &d->result[i];
        batch->result[i] = (zw_batch_result){.status = (zw_status)d->status[i],
                                             .end = time[i],
                                             .stopped_by = -1,
                                             .certificate = r->certificate,
                                             .steps = r->steps,
                                             .evaluations = r->total};
    }
    d->is_looked = status == ZW_OK;
    return status;
}

/* Records the worlds that failed in this call; returns the failure of the first. `before`: their
 * statuses before it. */
static zw_status see_failures(zw_batch *batch, const int *before, zw_error *error)
{
    batch_device *d = batch->device;
    zw_status first = ZW_OK;
    for (int i = 0; i < batch->count; i++) {
        int known = batch->why[i] && batch->failed[i]; /* refused, or failed on the processor */
        int failed = d->status[i] != ZW_OK && before[i] == ZW_OK;
        if (!known && !failed) {
            continue;
        }
        zw_error why = known ? *batch->why[i] : (zw_error){.status = ZW_OK};
        if (!known) {
            zw_status status = on_device_look(batch, error);
            if (status != ZW_OK) {
                return status;
            }
            explain(batch, i, &why);
            batch_fail(batch, i, &why);
        }
        if (first == ZW_OK) {
            first = base_fail(error, why.status, "world %d: %s", i, why.text);
        }
    }
    return first;
}

/* Sorts worlds so that those with the same contacts are neighbours. */
static zw_status sort(zw_batch *batch, zw_error *error)
{
    batch_device *d = batch->device;
    size_t worlds = (size_t)batch->count;
    uint64_t any = 0;
    if (d->job.alone || !d->system[0]->bodies->contact->touches) {
        return ZW_OK;
    }
    zw_status status = d->backend->get(d->handle, batch->touch, d->job.touch,
                                       worlds * sizeof *batch->touch, error);
    for (int i = 0; i < batch->count && status == ZW_OK; i++) {
        any |= batch->touch[i];
    }
    if (status != ZW_OK || !any) {
        return status;
    }
    batch_sort(batch);
    for (int i = 0; i < batch->count; i++) {
        d->order[i] = batch->place[i].world;
    }
    return put_order(batch, error);
}

static zw_status take_steps(zw_batch *batch, const zw_run_options *options,
                            const zw_run_options *plan, int steps, zw_error *error)
{
    batch_device *d = batch->device;
    d->job.steps = steps;
    d->job.step = d->step;
    d->job.reset = NULL;
    return plan->method == ZW_METHOD_SOFT
               ? d->backend->move(d->handle, &d->job, d->scratch, error)
               : on_device_move_exact(batch, options, plan, steps, error);
}

/* Computes sensors and accelerations. */
static zw_status sense(zw_batch *batch, zw_error *error)
{
    batch_device *d = batch->device;
    d->job.senses = 1;
    zw_status status = d->backend->move(d->handle, &d->job, d->sense_scratch, error);
    d->job.senses = 0;
    d->has_sensed = 1;
    return status;
}

static zw_status move(zw_batch *batch, const zw_run_options *options, const zw_run_options *plan,
                      int steps, int flags, zw_error *error)
{
    batch_device *d = batch->device;
    size_t bytes = (size_t)batch->count * sizeof *d->status;
    int *before = base_alloc(bytes);
    if (!before) {
        return base_no_memory(error);
    }
    memcpy(before, d->status, bytes);
    zw_status status = sort(batch, error);
    status = status == ZW_OK ? take_steps(batch, options, plan, steps, error) : status;
    status = status == ZW_OK && flags & ZW_BATCH_SENSE ? sense(batch, error) : status;
    d->is_looked = 0;
    d->stale = 1;
    status = status == ZW_OK ? d->backend->get(d->handle, d->status, d->job.status, bytes, error)
                             : status;
    if (status == ZW_OK && !(flags & ZW_BATCH_STAY)) {
        status = zw_batch_pull(batch, error);
    }
    status = status == ZW_OK ? see_failures(batch, before, error) : status;
    base_free(before);
    return status;
}

/* Are there sensors and accelerations after steps with this plan? */
static zw_status check_senses(const batch_device *d, const zw_run_options *plan, zw_error *error)
{
    const char *lack = plan->method != ZW_METHOD_SOFT ? "steps by Coulomb's law" : NULL;
    for (int k = 0; k < d->models && !lack; k++) {
        int same =
            zw_count(d->system[k], ZW_KIND_READING) == zw_count(d->system[0], ZW_KIND_READING);
        lack = same ? image_senses(d->system[k]) : "worlds with other numbers of sensors";
    }
    return lack ? base_fail(error, ZW_BAD_INPUT,
                            "a batch on a device has no sensors and accelerations for %s", lack)
                : ZW_OK;
}

zw_status on_device_step(zw_batch *batch, const zw_run_options *options, int steps, int flags,
                         zw_error *error)
{
    batch_device *d = batch->device;
    zw_run_options plan;
    zw_status status = step_plan(batch->system, d->start[0], options, &plan, error);
    if (status == ZW_OK && flags & ZW_BATCH_SENSE) {
        status = check_senses(d, &plan, error);
    }
    if (status == ZW_OK && plan.method != ZW_METHOD_SOFT) {
        status = on_device_check_exact(batch, &plan, error);
    }
    if (status == ZW_OK && plan.step != d->step) {
        status = make_images(d, plan.step, error);
    }
    memset(batch->failed, 0, (size_t)batch->count);
    if (status == ZW_OK && !(flags & ZW_BATCH_STAY)) {
        status = d->stale ? zw_batch_pull(batch, error) : ZW_OK;
        status = status == ZW_OK ? on_device_take(batch, error) : status;
    }
    return status == ZW_OK ? move(batch, options, &plan, steps, flags, error) : status;
}

/* ---- Resets ---------------------------------------------------------------------------------- */

/* The initial state of a model in the device's order: t, param, q, v, act. */
static zw_status put_start(zw_batch *batch, int k, const zw_state *from, zw_error *error)
{
    static const int order[SEEN_WRITTEN] = {SEEN_TIME, SEEN_PARAM, SEEN_Q, SEEN_V, SEEN_ACTIVATION};
    batch_device *d = batch->device;
    size_t used = 0, bytes = 0;
    for (int i = 0; i < SEEN_WRITTEN; i++) {
        bytes += on_device_row(batch, i);
    }
    unsigned char *all = base_alloc(bytes);
    d->begin[k] = d->begin[k] ? d->begin[k] : d->backend->take(d->handle, bytes);
    zw_status status = all && d->begin[k] ? ZW_OK : base_no_memory(error);
    for (int i = 0; i < SEEN_WRITTEN && status == ZW_OK; i++) {
        zw_view view = zw_field(d->system[k], (zw_state *)from, d->work, on_device_field[order[i]]);
        memcpy(all + used, view.data, on_device_row(batch, order[i]));
        used += on_device_row(batch, order[i]);
    }
    status = status == ZW_OK ? d->backend->put(d->handle, d->begin[k], all, bytes, error) : status;
    base_free(all);
    return status;
}

/* The mask, and the initial states. */
static zw_status prepare_reset(zw_batch *batch, const unsigned char *mask, const zw_state *to,
                               zw_error *error)
{
    batch_device *d = batch->device;
    zw_status status = ZW_OK;
    unsigned char *all = base_alloc((size_t)batch->count);
    if (!all) {
        return base_no_memory(error);
    }
    memset(all, 1, (size_t)batch->count);
    status = d->backend->put(d->handle, d->reset, mask ? mask : all, (size_t)batch->count, error);
    base_free(all);
    for (int k = 0; k < d->models && status == ZW_OK; k++) {
        if (to && to->fingerprint != d->system[k]->fingerprint) {
            return base_fail(error, ZW_BAD_INPUT, "the initial state belongs to another system");
        }
        status = put_start(batch, k, to ? to : d->start[k], error);
    }
    return status == ZW_OK ? d->backend->put(d->handle, (void *)d->job.start, d->begin,
                                             (size_t)d->models * sizeof *d->begin, error)
                           : status;
}

zw_status on_device_reset(zw_batch *batch, const unsigned char *mask, const zw_state *to,
                          zw_error *error)
{
    batch_device *d = batch->device;
    zw_status status = prepare_reset(batch, mask, to, error);
    if (status == ZW_OK && d->step == 0) {
        double step = d->system[0]->bodies->timestep;
        status = make_images(d, step > 0 ? step : 0.001, error);
    }
    if (status == ZW_OK) {
        d->job.reset = d->reset;
        status = d->backend->move(d->handle, &d->job, d->scratch, error);
        d->job.reset = NULL;
        d->stale = 1;
        d->is_looked = 0;
    }
    for (int i = 0; i < batch->count && status == ZW_OK; i++) {
        if (!mask || mask[i]) {
            d->status[i] = ZW_OK;
            for (int k = 0; k < SEEN_WRITTEN; k++) { /* discard what the caller wrote there */
                memcpy(on_device_at(batch, batch->seen[k].data, i, k),
                       on_device_at(batch, d->mirror[k], i, k), on_device_row(batch, k));
            }
        }
    }
    return status == ZW_OK ? zw_batch_pull(batch, error) : status;
}
