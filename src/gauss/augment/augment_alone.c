/* Memory for one world. */
#include "base/memory.h"
#include "gauss/augment/augment.h"

static void lay_out(augment_alone *a, int count, base_arena *arena)
{
    size_t n = (size_t)count, entries = n * (n + 1) / 2 + 4 * n;
    a->H = base_arena_doubles(arena, entries);
    int **ints[] = {&a->depth, &a->start, &a->run};
    for (int k = 0; k < 3; k++) {
        *ints[k] = base_arena_ints(arena, n + 1);
    }
    augment_lay_out1(&a->it, count, arena);
}

int augment_alone_create(augment_alone *a, int n, const int *parent)
{
    base_arena arena = {0};
    *a = (augment_alone){0};
    lay_out(a, n, &arena);
    a->memory = base_alloc(arena.used);
    if (!a->memory) {
        return 0;
    }
    arena = (base_arena){.block = a->memory};
    lay_out(a, n, &arena);
    a->straight = paths_find(n, parent, a->depth, a->start, a->run);
    a->it.n = n;
    a->it.straight = &a->straight;
    a->it.H = a->H;
    return 1;
}

void augment_alone_free(augment_alone *a)
{
    base_free(a->it.block);
    base_free(a->memory);
    *a = (augment_alone){0};
}

int augment_alone_grow(augment_alone *a, int blocks)
{
    if (blocks > a->block_capacity) {
        base_free(a->it.block);
        a->block_capacity = 0;
        a->it.block = base_alloc(2 * (size_t)blocks * sizeof *a->it.block);
        if (!a->it.block) {
            return 0;
        }
        a->block_capacity = 2 * blocks;
    }
    return 1;
}
