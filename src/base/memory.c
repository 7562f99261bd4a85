#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "zwang/memory.h"

/* Arrays start on cache lines, so that lanes load whole lines. */
enum { ARENA_LINE = 64 };
#define ARENA_MOST (SIZE_MAX / 4)

static _Thread_local int fail_countdown;

void base_alloc_fail_after(int k)
{
    fail_countdown = k;
}

static void *by_calloc(void *user, size_t bytes)
{
    (void)user;
    return calloc(1, bytes);
}

static void by_free(void *user, void *block)
{
    (void)user;
    free(block);
}

static const zw_memory usual = {by_calloc, by_free, NULL};
static zw_memory memory = {by_calloc, by_free, NULL};

void zw_memory_use(const zw_memory *use)
{
    memory = use ? *use : usual;
}

/* What precedes a block: where it begins, and which function frees it. */
typedef struct origin {
    void *given;
    void (*release)(void *user, void *block);
    void *user;
} origin;
_Static_assert(sizeof(origin) <= ARENA_LINE, "there is one line before a block");

void *base_alloc(size_t bytes)
{
    if (fail_countdown > 0 && --fail_countdown == 0) {
        return NULL;
    }
    if (bytes > ARENA_MOST) {
        return NULL;
    }
    /* on a cache line, with its origin standing before it */
    unsigned char *given = memory.allocate(memory.user, bytes + 2 * ARENA_LINE);
    if (given == NULL) {
        return NULL;
    }
    uintptr_t line = ((uintptr_t)given + 2 * ARENA_LINE - 1) / ARENA_LINE * ARENA_LINE;
    unsigned char *block = given + (line - (uintptr_t)given);
    const origin from = {given, memory.release, memory.user};
    memcpy(block - sizeof from, &from, sizeof from);
    if (memory.allocate != by_calloc) {
        memset(block, 0, bytes);
    }
    return block;
}

void base_free(void *block)
{
    origin from;
    if (block != NULL) {
        memcpy(&from, (unsigned char *)block - sizeof from, sizeof from);
        from.release(from.user, from.given);
    }
}

void *base_arena_bytes(base_arena *arena, size_t count)
{
    if (count > ARENA_MOST ||
        arena->used > ARENA_MOST) { /* counting only: there is no such memory */
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
