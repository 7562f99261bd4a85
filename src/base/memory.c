#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Arrays start on cache lines, so that lanes load whole lines. */
enum { ARENA_LINE = 64 };
#define ARENA_MOST (SIZE_MAX / 4)

static _Thread_local int fail_countdown;

void base_alloc_fail_after(int k)
{
    fail_countdown = k;
}

void *base_alloc(size_t bytes)
{
    if (fail_countdown > 0 && --fail_countdown == 0) {
        return NULL;
    }
    if (bytes > ARENA_MOST) {
        return NULL;
    }
    /* on a cache line, with what calloc gave standing before it */
    unsigned char *given = calloc(1, bytes + 2 * ARENA_LINE);
    if (given == NULL) {
        return NULL;
    }
    uintptr_t line = ((uintptr_t)given + 2 * ARENA_LINE - 1) / ARENA_LINE * ARENA_LINE;
    unsigned char *block = given + (line - (uintptr_t)given);
    memcpy(block - sizeof given, &given, sizeof given);
    return block;
}

void base_free(void *block)
{
    void *given = NULL;
    if (block != NULL) {
        memcpy(&given, (unsigned char *)block - sizeof given, sizeof given);
    }
    free(given);
}

void *base_arena_bytes(base_arena *arena, size_t count)
{
    if (count > ARENA_MOST || arena->used > ARENA_MOST) { /* counting only: nobody has that much */
        arena->used = SIZE_MAX;
        return NULL;
    }
    size_t start = (arena->used + ARENA_LINE - 1) / ARENA_LINE * ARENA_LINE;
    arena->used = start + count;
    return arena->block != NULL ? arena->block + start : NULL;
}

double *base_arena_doubles(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena, count > ARENA_MOST / sizeof(double) ? SIZE_MAX
                                                                       : count * sizeof(double));
}

int *base_arena_ints(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena,
                            count > ARENA_MOST / sizeof(int) ? SIZE_MAX : count * sizeof(int));
}
