/* The one place that allocates memory, and the arena that carves a single block into arrays.
 *
 * A workspace is laid out by one function that is run twice: first on an arena without a block,
 * which only counts, then on one with the block, which hands out the arrays. So the size and the
 * layout cannot disagree. */
#ifndef ZW_BASE_MEMORY_H
#define ZW_BASE_MEMORY_H

#include <stddef.h>

void *base_alloc(size_t bytes); /* zeroed; NULL when there is none */
void base_free(void *block);

/* For tests: the k-th call of base_alloc from now on in this thread fails, once; 0 switches off. */
void base_alloc_fail_after(int k);

typedef struct base_arena {
    unsigned char *block; /* NULL: count only */
    size_t used;
} base_arena;

double *base_arena_doubles(base_arena *arena, size_t count);
int *base_arena_ints(base_arena *arena, size_t count);
void *base_arena_bytes(base_arena *arena, size_t count);

#endif
