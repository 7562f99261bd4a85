/* The memory of a warp that takes its worlds one after another (warp_newton.c). */
#ifndef ZW_DEVICE_CUDA_WARP_DESK_H
#define ZW_DEVICE_CUDA_WARP_DESK_H

#include "system/soft8/soft8_block.h"
#include "tree/sweeps.h"

#define LAW_BLOCK soft8_block
#define LAW_NUMBER zw_real8
#include "system/soft8/soft8_law.h"

enum {
    BLOCKS = 32,   /* of a world: one for each thread */
    POINTS = 16,   /* contacts among them */
    COLUMNS = 176, /* of their J */
    ROWS = 3,      /* of a contact */
    ENTRIES = ROWS * COLUMNS,
    DOFS = 32 /* of a system */
};

/* ---- The stage ------------------------------------------------------------------------------- */

/* Numbers of a block: D, b, which edges are active; its force, and which are active at the end. */
enum { AT_D, AT_B, AT_MODE = AT_B + 4, AT_FORCE, AT_END = AT_FORCE + ROWS, AT_NUMBERS };

/* A block of some world of the warp. */
typedef struct known {
    const int *column;
    zw_scalar mu[2]; /* or J of a limit, and 0 */
    short J, dof;    /* the first column */
    unsigned char columns, index, is_limit, is_bent, is_other;
} known;

/* Where the parts begin, for as many blocks and numbers of J as there can be. */
typedef struct stage {
    known *known;
    zw_scalar *of; /* number k of lane l is of[WARP_LANES k + l] */
    int M, force, a, damped, block, J, numbers;
} stage;

static stage stage_of(const soft8 *s, void *memory)
{
    const zw_system *system = s->system;
    stage t = {.known = memory};
    t.of = (zw_scalar *)((char *)memory + (size_t)s->block_capacity * sizeof(known));
    t.force = t.M + system->tree->start[system->n];
    t.a = t.force + system->n;
    t.damped = t.a + system->n;
    t.block = t.damped + system->n;
    t.J = t.block + s->block_capacity * AT_NUMBERS;
    t.numbers = t.J + s->entry_capacity;
    return t;
}

ZW_INLINE zw_scalar *staged(const stage *t, int lane, int number)
{
    return t->of + (size_t)number * WARP_LANES + lane;
}

ZW_INLINE zw_scalar *staged_block(const stage *t, int lane, int block, int number)
{
    return staged(t, lane, t->block + block * AT_NUMBERS + number);
}

/* Four at a time, so that their loads overlap. */
ZW_INLINE void put(const stage *t, int lane, int to, int count, const zw_near8 *from)
{
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        zw_scalar x = from[k][0], y = from[k + 1][0], z = from[k + 2][0], w = from[k + 3][0];
        *staged(t, lane, to + k) = x;
        *staged(t, lane, to + k + 1) = y;
        *staged(t, lane, to + k + 2) = z;
        *staged(t, lane, to + k + 3) = w;
    }
    for (; k < count; k++) {
        *staged(t, lane, to + k) = from[k][0];
    }
}

ZW_INLINE int mode_of(const soft8_near_block *k, int pairs)
{
    int mode = 0;
    for (int j = 0; j < pairs; j++) {
        mode |= (k->up[j][0] ? UP << j : 0) | (k->down[j][0] ? DOWN << j : 0);
    }
    return mode;
}

/* The world of this thread. */
ZW_INLINE void put_world(const soft8 *s, const stage *t)
{
    const tree_mechanism *tree = s->system->tree;
    int lane = WARP_LANE;
    put(t, lane, t->M, tree->start[tree->nv], NEAR8(s->sweeps) + tree->at.M);
    put(t, lane, t->force, tree->nv, NEAR8(s->force));
    put(t, lane, t->J, s->entries, NEAR8(s->J));
    for (int i = 0; i < s->blocks; i++) {
        const soft8_near_block *k = soft8_block_at(s, i);
        int width = s->row[i].width, edges = width == ROWS ? 4 : 1;
        *staged_block(t, lane, i, AT_D) = k->D[0];
        for (int e = 0; e < edges; e++) {
            *staged_block(t, lane, i, AT_B + e) = k->b[e][0];
        }
        *staged_block(t, lane, i, AT_MODE) = (zw_scalar)mode_of(k, edges / 2 + edges % 2);
    }
}

/* What the warp found for it, if it is settled. */
ZW_INLINE void get_world(soft8 *s, const stage *t)
{
    int lane = WARP_LANE;
    for (int i = 0; i < s->blocks; i++) {
        soft8_near_block *k = soft8_block_at(s, i);
        int width = s->row[i].width, pairs = width == ROWS ? 2 : 1;
        int is_here = k->D[0] > 0, mode = is_here ? (int)*staged_block(t, lane, i, AT_END) : 0;
        for (int r = 0; r < width && is_here; r++) {
            k->force[r][0] = *staged_block(t, lane, i, AT_FORCE + r);
        }
        for (int j = 0; j < pairs; j++) {
            k->up[j][0] = -(zw_whole)((mode & UP << j) != 0);
            k->down[j][0] = -(zw_whole)((mode & DOWN << j) != 0);
        }
    }
    for (int d = 0; d < s->system->n; d++) {
        NEAR8(s->a)[d][0] = *staged(t, lane, t->a + d);
    }
}

/* ---- The desk -------------------------------------------------------------------------------- */

/* Sizes are constants, so that few addresses are kept in registers. */
typedef struct desk {
    zw_scalar x[DOFS];             /* right-hand side and solution */
    zw_scalar diagonal[DOFS];      /* h times the damping of joints */
    zw_scalar C[POINTS][6];        /* of each contact, */
    zw_scalar rest[POINTS][ROWS];  /* and rest or force, */
    zw_scalar along[POINTS][ROWS]; /* J x */
    zw_scalar w[ROWS * DOFS];      /* C J of the current block */
    zw_scalar J[ENTRIES];          /* of the contacts, one after another */
    known known[BLOCKS];           /* the world's blocks: limits, then contacts */
    short start[DOFS];             /* rows of H */
    short row[COLUMNS];            /* of each column of J: row of H, */
    unsigned char level[COLUMNS];  /* place in the rows below it, */
    unsigned char column[COLUMNS]; /* and which column it is */
    unsigned char depth[DOFS], parent[DOFS];
    unsigned char columns[POINTS],
        first[POINTS];           /* of a contact: number and first of its columns */
    unsigned char is_on[POINTS]; /* some edge is active */
} desk;

typedef WARP_DESK zw_scalar desk_number;
typedef WARP_DESK short desk_short;
typedef WARP_DESK unsigned char desk_byte;

/* After it: H by rows, as in soft_lane.c; the places of the numbers of M in it; the dofs above each
 * dof, from the root on. */
typedef struct places {
    WARP_DESK desk *d;
    desk_number *H;
    desk_short *place;
    desk_byte *above; /* [n][n] */
} places;

ZW_INLINE int H_entries(int n)
{
    return n * (n + 1) / 2 + 4 * n;
}

ZW_INLINE places places_on(void *memory, int n, int entries)
{
    places p = {.d = (WARP_DESK desk *)memory};
    p.H = (desk_number *)(p.d + 1);
    p.place = (desk_short *)(p.H + H_entries(n));
    p.above = (desk_byte *)(p.place + entries);
    return p;
}

/* The pattern of H. */
ZW_INLINE void tabulate(const zw_system *system, const paths_shape *shape, const places *p)
{
    WARP_DESK desk *d = p->d;
    const tree_mechanism *tree = system->tree;
    int n = shape->n;
    CREW_MEET();
    CREW_FOR (k, n) {
        d->start[k] = (short)shape->start[k];
        d->depth[k] = (unsigned char)shape->depth[k];
        d->parent[k] = (unsigned char)shape->parent[k];
    }
    CREW_MEET();
    CREW_FOR (k, n) {
        for (int up = k, t = d->depth[k] - 1; t >= 0; t--, up = d->parent[up]) {
            p->above[k * n + t] = (unsigned char)up;
        }
    }
    CREW_MEET();
    CREW_FOR (k, n) {
        for (int e = tree->start[k]; e < tree->start[k + 1]; e++) {
            p->place[e] = (short)(d->start[k] + d->depth[tree->column[e]] - 1);
        }
    }
    CREW_MEET();
}

#endif
