#include "path/path.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static void lay_out(zw_path *path, base_arena *arena, int speeds)
{
    size_t count = (size_t)path->count, n = (size_t)path->n;
    size_t v = (size_t)path->speeds;
    path->t = base_arena_doubles(arena, count);
    path->q = base_arena_doubles(arena, count * n);
    path->v = speeds ? base_arena_doubles(arena, count * v) : NULL;
    path->start = base_arena_bytes(arena, (count + 1) * sizeof(long));
}

zw_path *path_allocate(const zw_system *system, long count, int speeds, zw_error *error)
{
    if (count < 1) {
        base_fail(error, ZW_BAD_INPUT, "the recording has no samples");
        return NULL;
    }
    zw_path *path = base_alloc(sizeof *path);
    base_arena arena = {0};
    if (path) {
        path->n = system->nq;
        path->speeds = system->n;
        path->count = count;
        lay_out(path, &arena, speeds);
        path->memory = base_alloc(arena.used + 1);
    }
    if (!path || !path->memory) {
        base_free(path);
        base_no_memory(error);
        return NULL;
    }
    arena = (base_arena){.block = path->memory};
    lay_out(path, &arena, speeds);
    return path;
}

zw_status path_fail(const zw_path *path, zw_error *error, zw_status status, int line,
                    const char *format, ...)
{
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    base_fail(error, status, "%s", message);
    if (error) {
        snprintf(error->file, sizeof error->file, "%s", path->file);
        error->line = path->file[0] ? line : 0;
        error->column = error->line > 0;
    }
    return status;
}

void zw_path_free(zw_path *path)
{
    if (path) {
        base_free(path->ignored_as);
        base_free(path->known);
        base_free(path->memory);
        base_free(path);
    }
}

static zw_status check_numbers(const zw_path *path, zw_error *error)
{
    for (long i = 0; i < path->count; i++) {
        if (!isfinite(path->t[i])) {
            return base_fail(error, ZW_BAD_INPUT, "sample %ld: the time is not a finite number",
                             i + 1);
        }
        if (i > 0 && path->t[i] < path->t[i - 1]) {
            return base_fail(error, ZW_BAD_INPUT,
                             "sample %ld: the time decreases from %.17g to %.17g", i + 1,
                             path->t[i - 1], path->t[i]);
        }
        int finite = 1;
        for (long k = i * path->n; k < (i + 1) * path->n; k++) {
            finite &= isfinite(path->q[k]) != 0;
        }
        for (long k = i * path->speeds; path->v && k < (i + 1) * path->speeds; k++) {
            finite &= isfinite(path->v[k]) != 0;
        }
        if (!finite) {
            return base_fail(error, ZW_BAD_INPUT,
                             "at t = %.9g a coordinate or speed is not a finite number",
                             path->t[i]);
        }
    }
    return ZW_OK;
}

static int same(const zw_path *path, long i, long k)
{
    size_t n = (size_t)path->n, v = (size_t)path->speeds, one = sizeof(double);
    return path->t[i] == path->t[k] &&
           memcmp(path->q + (size_t)i * n, path->q + (size_t)k * n, n * one) == 0 &&
           (!path->v || memcmp(path->v + (size_t)i * v, path->v + (size_t)k * v, v * one) == 0);
}

static void move(zw_path *path, long from, long to)
{
    size_t n = (size_t)path->n, v = (size_t)path->speeds, one = sizeof(double);
    path->t[to] = path->t[from];
    memmove(path->q + (size_t)to * n, path->q + (size_t)from * n, n * one);
    if (path->v) {
        memmove(path->v + (size_t)to * v, path->v + (size_t)from * v, v * one);
    }
}

/* A recorder may write one instant more than once: an output that is also an event, or the states
 * before and after it. The first and the last sample of an instant are kept, or one of them if they
 * are equal. */
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
    size_t one = (size_t)count * sizeof(double);
    memcpy(path->t, t, one);
    memcpy(path->q, q, (size_t)system->nq * one);
    if (v) {
        memcpy(path->v, v, (size_t)system->n * one);
    }
    if (path_finish(path, error) != ZW_OK) {
        zw_path_free(path);
        return NULL;
    }
    return path;
}
