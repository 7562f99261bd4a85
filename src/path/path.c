#include "path/path.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static void lay_out(zw_path *path, base_arena *arena, int speeds)
{
    size_t count = (size_t)path->count, n = (size_t)path->n;
    path->t = base_arena_doubles(arena, count);
    path->q = base_arena_doubles(arena, count * n);
    path->v = speeds ? base_arena_doubles(arena, count * n) : NULL;
    path->start = base_arena_bytes(arena, (count + 1) * sizeof(long));
}

zw_path *path_allocate(const zw_system *system, long count, int speeds, zw_error *error)
{
    if (count < 1) {
        base_fail(error, ZW_BAD_INPUT, "the recording has no samples");
        return NULL;
    }
    if (system->nq != system->n) {
        base_fail(error, ZW_BAD_INPUT,
                  "paths with quaternions cannot be tried yet, and there are %d coordinates for %d "
                  "speeds",
                  system->nq, system->n);
        return NULL;
    }
    zw_path *path = base_alloc(sizeof *path);
    base_arena arena = {0};
    if (path) {
        path->n = system->n;
        path->count = count;
        lay_out(path, &arena, speeds);
        path->memory = base_alloc(arena.used + 1);
    }
    if (!path || !path->memory) {
        base_free(path);
        base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
        return NULL;
    }
    arena = (base_arena){.block = path->memory};
    lay_out(path, &arena, speeds);
    return path;
}

void zw_path_free(zw_path *path)
{
    if (path) {
        base_free(path->ignored_as);
        base_free(path->memory);
        base_free(path);
    }
}

static zw_status check_numbers(const zw_path *path, zw_error *error)
{
    for (long i = 0; i < path->count; i++) {
        if (!isfinite(path->t[i])) {
            return base_fail(error, ZW_BAD_INPUT, "sample %ld: the time is no finite number",
                             i + 1);
        }
        if (i > 0 && path->t[i] < path->t[i - 1]) {
            return base_fail(error, ZW_BAD_INPUT,
                             "sample %ld: the time goes back from %.17g to %.17g", i + 1,
                             path->t[i - 1], path->t[i]);
        }
        for (long k = i * path->n; k < (i + 1) * path->n; k++) {
            if (!isfinite(path->q[k]) || (path->v && !isfinite(path->v[k]))) {
                return base_fail(error, ZW_BAD_INPUT,
                                 "at t = %.9g a coordinate or speed is no finite number",
                                 path->t[i]);
            }
        }
    }
    return ZW_OK;
}

static int same(const zw_path *path, long i, long k)
{
    size_t n = (size_t)path->n, bytes = n * sizeof(double);
    return path->t[i] == path->t[k] &&
           memcmp(path->q + (size_t)i * n, path->q + (size_t)k * n, bytes) == 0 &&
           (!path->v || memcmp(path->v + (size_t)i * n, path->v + (size_t)k * n, bytes) == 0);
}

static void move(zw_path *path, long from, long to)
{
    size_t n = (size_t)path->n, bytes = n * sizeof(double);
    path->t[to] = path->t[from];
    memmove(path->q + (size_t)to * n, path->q + (size_t)from * n, bytes);
    if (path->v) {
        memmove(path->v + (size_t)to * n, path->v + (size_t)from * n, bytes);
    }
}

/* A recorder may show a moment more than once: an output that is also an event, what is before and
 * after it. Of a moment, what was first and what was last is kept; once, if they are the same. */
static void thin(zw_path *path)
{
    long kept = 0;
    for (long i = 0; i < path->count; i++) {
        int again = kept > 0 && same(path, kept - 1, i);
        int third = kept > 1 && path->t[kept - 2] == path->t[i];
        if (again && !third) {
            continue;
        }
        kept -= third;
        move(path, i, kept++);
        if (kept > 1 && same(path, kept - 2, kept - 1)) {
            kept--;
        }
    }
    path->count = kept;
}

zw_status path_finish(zw_path *path, zw_error *error)
{
    zw_status status = check_numbers(path, error);
    if (status != ZW_OK) {
        return status;
    }
    thin(path);
    path->pieces = 0;
    for (long i = 0; i < path->count; i++) {
        if (i == 0 || path->t[i] == path->t[i - 1]) {
            path->start[path->pieces++] = i;
        }
    }
    path->start[path->pieces] = path->count;
    return ZW_OK;
}

zw_path *zw_path_create(const zw_system *system, long count, const double *t, const double *q,
                        const double *v, zw_error *error)
{
    zw_path *path = path_allocate(system, count, v != NULL, error);
    if (!path) {
        return NULL;
    }
    size_t size = (size_t)count * (size_t)system->n * sizeof(double);
    memcpy(path->t, t, (size_t)count * sizeof(double));
    memcpy(path->q, q, size);
    if (v) {
        memcpy(path->v, v, size);
    }
    if (path_finish(path, error) != ZW_OK) {
        zw_path_free(path);
        return NULL;
    }
    return path;
}
