/* A batch as bytes: a header, then for each world its status and its state, preceded by the length.
 * Numbers are little-endian. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "batch/batch.h"

enum { HEAD = 16, EACH = 24 };
static const char mark[8] = "zwbatch1";

static void put(unsigned char *to, uint64_t word)
{
    for (int i = 0; i < 8; i++) {
        to[i] = (unsigned char)(word >> 8 * i & 0xff);
    }
}

static uint64_t get(const unsigned char *from)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        word |= (uint64_t)from[i] << 8 * i;
    }
    return word;
}

size_t zw_batch_bytes(const zw_batch *batch)
{
    size_t bytes = HEAD;
    if (batch->device) {
        return bytes;
    }
    batch_let_see(batch, -1);
    for (int i = 0; i < batch->count; i++) {
        bytes += EACH + zw_state_bytes(batch->state[i]);
    }
    return bytes;
}

zw_status zw_batch_save(const zw_batch *batch, void *bytes, size_t size, zw_error *error)
{
    unsigned char *to = bytes;
    if (batch->device) {
        return base_fail(error, ZW_BAD_INPUT, "a batch on a device is not saved");
    }
    if (size < zw_batch_bytes(batch)) {
        return base_fail(error, ZW_TOO_LARGE, "the batch has %zu bytes, and there is room for %zu",
                         zw_batch_bytes(batch), size);
    }
    memcpy(to, mark, sizeof mark);
    put(to + 8, (uint64_t)batch->count);
    to += HEAD;
    for (int i = 0; i < batch->count; i++) {
        size_t length = zw_state_bytes(batch->state[i]);
        put(to, (uint64_t)length);
        put(to + 8, (uint64_t)batch->stuck[i] << 32 | (uint32_t)batch->result[i].status);
        put(to + 16, (uint64_t)(int64_t)batch->result[i].stopped_by);
        zw_status status = zw_state_save(batch->state[i], to + EACH, length, error);
        if (status != ZW_OK) {
            return status;
        }
        to += EACH + length;
    }
    return ZW_OK;
}

/* Restores one world if its bytes are complete; *used is their number. */
static zw_status restore_world(zw_batch *batch, int world, const unsigned char *from, size_t left,
                               zw_state **state, size_t *used, zw_error *error)
{
    uint64_t length = left >= EACH ? get(from) : 0;
    if (left < EACH || length > left - EACH || (uint32_t)get(from + 8) > ZW_INTERRUPTED) {
        return base_fail(error, ZW_BAD_INPUT, "the bytes of world %d are damaged", world);
    }
    *used = EACH + (size_t)length;
    *state = zw_state_restore(batch_system(batch, world), from + EACH, (size_t)length, error);
    return *state ? ZW_OK : error ? error->status : ZW_BAD_INPUT;
}

/* All or nothing: the batch changes only after every state has been read. */
zw_status zw_batch_restore(zw_batch *batch, const void *bytes, size_t size, zw_error *error)
{
    const unsigned char *from = bytes, *at = from + HEAD;
    zw_status status = ZW_OK;
    if (batch->device) {
        return base_fail(error, ZW_BAD_INPUT, "a batch on a device is not restored");
    }
    if (size < HEAD || memcmp(from, mark, sizeof mark) || get(from + 8) != (uint64_t)batch->count) {
        return base_fail(error, ZW_BAD_INPUT, "these bytes are not a saved batch of %d worlds",
                         batch->count);
    }
    zw_state **state = base_alloc((size_t)batch->count * sizeof *state);
    if (!state) {
        return base_no_memory(error);
    }
    for (int i = 0; i < batch->count && status == ZW_OK; i++) {
        size_t used = 0;
        status = restore_world(batch, i, at, size - (size_t)(at - from), &state[i], &used, error);
        at += used;
    }
    at = from + HEAD;
    for (int i = 0; i < batch->count; i++) {
        if (status == ZW_OK) {
            uint64_t stands = get(at + 8);
            zw_state_free(batch->state[i]);
            batch->state[i] = state[i];
            if (batch->is_ahead) {
                batch->is_ahead[i] = 0;
            }
            batch->stuck[i] = stands >> 32 != 0;
            batch->result[i] = (zw_batch_result){.status = (zw_status)(uint32_t)stands,
                                                 .end = state[i]->t,
                                                 .stopped_by = (int)(int64_t)get(at + 16)};
            base_free(batch->why[i]);
            batch->why[i] = NULL;
            batch_show(batch, i, NULL);
            at += EACH + (size_t)get(at);
        } else {
            zw_state_free(state[i]);
        }
    }
    base_free(state);
    return status;
}
