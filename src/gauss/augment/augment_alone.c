/* Memory for one world, and the last of eight.
 *
 * Worlds take different numbers of steps: a humanoid that flails (bench/batch) six on average, one
 * in forty more than twelve. Eight that wait for the slowest of them would take eleven, in half of
 * which no more than two are unsolved. So once FEW are left, each of these continues as a world
 * alone, with its own points only, where a step costs about a quarter of one of eight. The
 * operations are the same, and so are the bits. */
#include "base/memory.h"
#include "gauss/augment/augment.h"

/* ---- Room ----------------------------------------------------------------------------------- */

static void lay_out(augment_alone *a, int count, base_arena *arena)
{
    size_t n = (size_t)count, entries = n * (n + 1) / 2 + 4 * n;
    double **square[] = {&a->H, &a->it.lower, &a->it.upper};
    for (int k = 0; k < 3; k++) {
        *square[k] = base_arena_doubles(arena, entries);
    }
    double **line[] = {&a->r, &a->v0, &a->it.x, &a->it.to};
    for (size_t k = 0; k < sizeof line / sizeof *line; k++) {
        *line[k] = base_arena_doubles(arena, n);
    }
    int **ints[] = {&a->depth,    &a->start,    &a->run,    &a->it.parent,
                    &a->it.depth, &a->it.start, &a->it.run, &a->it.level};
    for (int k = 0; k < 8; k++) {
        *ints[k] = base_arena_ints(arena, n + 1);
    }
}

int augment_alone_create(augment_alone *a, int n, const int *parent)
{
    base_arena arena = {0};
    *a = (augment_alone){0};
    lay_out(a, n, &arena);
    a->memory = base_alloc(arena.used + 1);
    if (!a->memory) {
        return 0;
    }
    arena = (base_arena){.block = a->memory};
    lay_out(a, n, &arena);
    a->straight = paths_find(n, parent, a->depth, a->start, a->run);
    a->it.n = n;
    a->it.straight = &a->straight;
    a->it.H = a->H;
    a->it.r = a->r;
    a->it.v0 = a->v0;
    return 1;
}

void augment_alone_free(augment_alone *a)
{
    base_free(a->it.block);
    base_free(a->it.active);
    base_free(a->J);
    base_free(a->memory);
    *a = (augment_alone){0};
}

int augment_alone_grow(augment_alone *a, int blocks, int entries)
{
    if (blocks > a->block_capacity) {
        base_free(a->it.block);
        base_free(a->it.active);
        a->block_capacity = 0;
        a->it.block = base_alloc(2 * (size_t)blocks * sizeof *a->it.block);
        a->it.active = base_alloc(2 * (size_t)blocks * sizeof *a->it.active);
        if (!a->it.block || !a->it.active) {
            return 0;
        }
        a->block_capacity = 2 * blocks;
    }
    if (entries > a->entry_capacity) {
        base_free(a->J);
        a->entry_capacity = 0;
        a->J = base_alloc(2 * (size_t)entries * sizeof *a->J);
        if (!a->J) {
            return 0;
        }
        a->entry_capacity = 2 * entries;
    }
    return 1;
}

/* ---- The last of eight ---------------------------------------------------------------------- */

enum { FEW = 2 };

static void take_block(const augment_block8 *from, int lane, double *J, augment_block1 *to)
{
    *to = (augment_block1){.width = from->width,
                           .columns = from->columns,
                           .column = from->column,
                           .J = J,
                           .is_straight = from->is_straight,
                           .mu = from->mu,
                           .b = from->b[lane],
                           .on = 1,
                           .G = from->G[lane],
                           .natural = from->natural[lane],
                           .t = {from->t[0][lane], from->t[1][lane]},
                           .turn = from->turn[lane],
                           .closed = from->closed[lane] != 0,
                           .slides = from->slides[lane] != 0};
    for (int e = 0; e < from->width * from->columns; e++) {
        J[e] = from->J[e][lane];
    }
    for (int r = 0; r < from->width; r++) {
        to->w0[r] = from->w0[r][lane];
        to->lambda[r] = from->lambda[r][lane];
        to->z[r] = from->z[r][lane];
        to->found[r] = from->found[r][lane];
    }
}

static void take_out(const augment8 *s, int lane, augment_alone *alone)
{
    augment1 *to = &alone->it;
    double *J = alone->J;
    for (int e = 0; e < s->straight->entries; e++) {
        alone->H[e] = s->H[e][lane];
    }
    for (int i = 0; i < s->n; i++) {
        alone->r[i] = s->r[i][lane];
        alone->v0[i] = s->v0[i][lane];
        to->x[i] = s->x[i][lane];
    }
    to->blocks = 0;
    for (int i = 0; i < s->blocks; i++) {
        const augment_block8 *k = &s->block[i];
        if (k->on[lane]) {
            take_block(k, lane, J, &to->block[to->blocks++]);
            J += k->width * k->columns;
        }
    }
    to->good = to->live = 1;
    to->iterations = s->iterations;
    to->fastest = s->fastest[lane];
    to->stiff = s->stiff[lane];
    to->careful = s->careful[lane] != 0;
    to->before = s->before[lane];
    to->best = s->best[lane];
}

static void put_back(const augment1 *from, augment8 *s, int lane)
{
    for (int i = 0; i < s->n; i++) {
        s->x[i][lane] = from->x[i];
    }
    for (int i = 0, at = 0; i < s->blocks; i++) {
        augment_block8 *k = &s->block[i];
        for (int r = 0; r < k->width && k->on[lane]; r++) {
            k->found[r][lane] = from->block[at].found[r];
        }
        at += k->on[lane] != 0;
    }
    s->good[lane] = from->good ? -1 : 0;
    s->best[lane] = from->best;
}

void augment_solve8(augment8 *s, augment_alone *alone, long *steps)
{
    augment_begin8(s);
    augment_go_on8(s, FEW);
    for (int lane = 0; lane < LANES; lane++) {
        if (s->live[lane]) {
            take_out(s, lane, alone);
            augment_go_on1(&alone->it, 0);
            put_back(&alone->it, s, lane);
            *steps += alone->it.iterations - s->iterations;
        }
    }
    augment_end8(s);
}
