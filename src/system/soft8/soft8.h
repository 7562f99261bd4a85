/* The soft law (system/soft/soft.h) of eight worlds at once, one in each lane of the vectors.
 *
 * All worlds have the same system, so everything that depends on the system alone is the same in
 * all lanes: the tree, which geoms may touch, the columns of every row. Only the states differ. A
 * stage works on all lanes; for something that exists in some worlds only, such as a contact, the
 * stiffness D of its rows is 0 in the others, and with it all contributions.
 *
 * A lane has the same bits as the world alone, because:
 *
 * 1. Every number of the answer is computed by the operations of soft_rows.c, soft_law.c,
 *    soft_block.c and paths.c, in their order. Rows add to sums one after another, so rows that are
 *    not there, which add zeros, change nothing.
 * 2. The pattern of H is that of the rows of all lanes together. For a lane some of its entries are
 *    zeros then, which change nothing either: elimination goes from the last dof to the first and
 *    solves sum over ancestors from the root on, whatever the pattern.
 * 3. The active rows at the minimum do not depend on the path to it, nor do the bits of the
 *    minimum (soft_newton.c). So the search may differ: all lanes together, each frozen when it has
 *    converged.
 *
 * Limitations. No elliptic cones, loops, dry friction in joints, spatial tendons, muscles, fluids;
 * steps by Euler's method. soft8_create refuses systems with these. A world that fails, or takes
 * too long, is left out of the answer (soft8_step), and its step must be taken alone. */
#ifndef ZW_SYSTEM_SOFT8_H
#define ZW_SYSTEM_SOFT8_H

#include "base/memory.h"
#include "math/lane.h"
#include "system/soft/soft.h"

enum { SOFT8_PAIRS = 5, SOFT8_EDGES = 2 * SOFT8_PAIRS };

/* How the points of two geoms are found. */
typedef enum soft8_rule {
    SOFT8_ROUND_ON_PLANE, /* spheres and capsules on a plane of the world: in lanes */
    SOFT8_BOX_ON_PLANE,   /* likewise */
    SOFT8_ROUND,          /* spheres and capsules: whether they touch in lanes, points alone */
    SOFT8_OTHER           /* whether bounding spheres touch in lanes, the rest alone */
} soft8_rule;

/* Two geoms that may touch, and the common data of their points. */
typedef struct soft8_match {
    contact_match of;
    soft8_rule rule;
    int plane, other;     /* geoms, where one is a plane */
    contact_point law;    /* bodies, rows, friction; gap: the margin */
    double frame[9];      /* on a plane: normal, and tangents by contact_span */
    int columns, *column; /* dofs that move only one of the two, */
    double *side;         /* [columns] and their signs: 1, -1 */
    int is_straight;      /* they are all on one path to the root */
    int width;            /* rows of J: 1, 3, 4, 6 */
    double mu[5];
    soft_pair pair;
} soft8_match;

/* One point or limit: what is the same in all worlds. */
typedef struct soft8_row {
    const int *column;
    const double *numbers; /* [columns] J of a limit; or coefficients of friction of a point */
    int J;                 /* of a point: [width][columns] from there on in soft8.J */
    int key;               /* which limit, or point of a pair; increases along the list */
    short columns;
    unsigned char width;
    unsigned char kind; /* SOFT_ABOVE, SOFT_PYRAMID */
    unsigned char is_fixed, is_straight;
    unsigned char any; /* active in some world */
} soft8_row;

/* The rest, in those worlds that have it. */
typedef struct soft8_block {
    zw_real8 D, b[SOFT8_EDGES];
    zw_real8 x[SOFT_WIDE], move[SOFT_WIDE]; /* J a, J a+ */
    zw_real8 rest[SOFT_WIDE], C[SOFT_SQUARE];
    zw_real8 then[SOFT_WIDE];                    /* the force at a+ */
    zw_real8 force[SOFT_WIDE];                   /* and at the minimum */
    zw_mask8 up[SOFT8_PAIRS], down[SOFT8_PAIRS]; /* active edges */
} soft8_block;

/* The pose of a geom in each world. */
typedef struct soft8_pose {
    zw_real8 pos[3], R[9];
} soft8_pose;

typedef struct soft8 soft8;

/* A point of a pair, in the lanes of `on`. */
typedef void soft8_adds(soft8 *s, const soft8_match *match, const zw_mask8 *on, const zw_real8 *pos,
                        const zw_real8 *frame, const zw_real8 *gap);

/* Not on a GPU: there steps with this call read out of bounds. One cause is known (LLVM 14 reads
 * `close` at a wrong address after the call: tools/check-gpu-code finds it), but not all. */
enum { SOFT8_SPARES = LANES > 1 };

/* Takes worlds in which the points of a pair are not needed out of `near`. */
typedef void soft8_spares(soft8 *s, int match, const zw_real8 *close, zw_mask8 *near);

struct soft8 {
    const zw_system *system;
    zw_work *work; /* of the thread, for worlds computed alone */
    soft_problem *alone;
    double h;

    int match_count;
    soft8_match *match;
    int *columns; /* of all of them */
    double *sides;
    soft8_pose *pose; /* [geoms] */

    /* For other users of contact points (step/once8): within reach of a step, with the frames of
     * contact_span */
    const zw_real8 *reach; /* [geoms]; NULL: the soft law, which only uses touching points */
    double margin;         /* beyond that */
    soft8_adds *add;       /* instead of soft8_add_contact */
    soft8_spares *spare;   /* before points are found world by world; may be NULL (SOFT8_SPARES) */
    void *user;

    double *tendon_J;     /* [entries of the rows of constraints] of limits of tendons */
    int *tendon_straight; /* [constraints] */
    /* No two motors act on one length, no two lengths on one dof: for crews */
    int motors_apart, lengths_apart;

    /* The current worlds */
    int lanes;               /* number of worlds; the other lanes repeat the last */
    zw_mask8 good;           /* lanes without failures */
    zw_mask8 repeats;        /* lanes that repeat another */
    int points[LANES];       /* number of points found */
    zw_real8 *q, *v, *param; /* [nq], [n], [params] */
    zw_real8 *sweeps;
    zw_real8 *force, *Q, *scratch; /* [n], [n], [lengths] */
    zw_real8 *a, *x, *Ma, *push, *diagonal;
    uint64_t touch[LANES]; /* which matches touched: one bit each, modulo 64 */

    int blocks, block_capacity, entries, entry_capacity;
    soft8_row *row; /* [blocks] */
    soft8_block *block;
    int actives, *active; /* blocks of lanes that have not converged */
    zw_real8 *J;
    int needs_blocks, needs_entries; /* that did not fit */
    int key;                         /* of the next block */
    /* Blocks of the last step of these worlds, if the caller keeps them (soft8_remember) */
    int lasts, *last_key; /* [blocks] */
    zw_mask8 *last_mode;

    /* The pattern of H */
    paths_shape straight, shape;
    int *parent, *depth, *start, *run; /* [n], [n], [n], [n + 1] of shape where it is bent */
    paths_shape *bent;
    int *of_depth, *of_start, *of_run;  /* of straight */
    int *level;                         /* [n] */
    zw_real8 *H;                        /* [n (n + 1) / 2 + 4 n] */
    zw_real8 *edge_r, *edge_d, *edge_D; /* [edges] along a line: soft8_newton.c */
    struct soft8_gathered *gathered;    /* of a crew: soft8_meet.c */
    /* Of a crew: device/cuda/crew_solve.c, device/world.h */
    const short *above; /* [n][n] */
    short *above_straight, *above_bent;
    double *product; /* [PATHS_RUN][n] */
    const struct device_levels *levels;
    int iterations;
    zw_real8 residual; /* square of M a - force - push, relative to its terms */
    long taken;        /* total steps of worlds */
    /* Of a warp of a GPU: device/cuda/warp_newton.c; NULL: there is no such memory */
    zw_mask8 settled; /* worlds of this step for which it was used */
    void *stage, *desk;
    void *memory;
};

/* NULL: all that soft8_create needs of the system itself; otherwise what is in the way. */
const char *soft8_lacks(const zw_system *system);
/* For steps of length h. NULL with *failed set: no memory; else: this system is computed alone. */
soft8 *soft8_create(const zw_system *system, zw_work *work, double h, int *failed);
void soft8_free(soft8 *s);
/* Did some blocks not fit? Then soft8_grow enlarges the arrays. 0: no memory.
 */
static inline int soft8_lacks_room(const soft8 *s)
{
    return s->needs_blocks > s->block_capacity || s->needs_entries > s->entry_capacity;
}
int soft8_grow(soft8 *s);

/* soft8_scratch.c: scratch that steps write before they read it, and its initialisation. `common`
 * has what is the same in all lanes. */
void soft8_lay_out(soft8 *s, base_arena *arena, base_arena *common);
void soft8_begin_steps(soft8 *s);

/* soft8_force.c: computes sweeps, force and Q at (q, v). */
void soft8_smooth(soft8 *s);
/* soft8_meet.c, soft8_rows.c: the blocks at this state. */
void soft8_meet(soft8 *s);
void soft8_place(soft8 *s);       /* places the geoms */
void soft8_meet_placed(soft8 *s); /* then finds their contacts */
void soft8_place_at(const soft8 *s, const zw_real8 *sweeps, soft8_pose *pose);
/* The lanes in which the geoms of a pair may be within their reach and the margin. */
void soft8_near(const soft8 *s, int match, zw_mask8 *near);
void soft8_limit(soft8 *s);
/* A new block with this row, all but J and key, whose J the caller fills; NULL: it does not fit,
 * and all worlds are computed alone. */
soft8_block *soft8_add(soft8 *s, const soft8_row *row);
/* Rows of a contact at these positions, with these frames, where gap < 0 in the lanes of `on`. */
void soft8_add_contact(soft8 *s, const soft8_match *match, const zw_mask8 *on, const zw_real8 *pos,
                       const zw_real8 *frame, const zw_real8 *gap);
/* Bytes of what a crew gathers. */
size_t soft8_gathered_bytes(void);
/* soft8_newton.c: push, and a if needed. */
void soft8_minimise(soft8 *s);
/* Afterwards: the residual of (M + diagonal) a = force + push. */
void soft8_compare(soft8 *s, const zw_real8 *a);
/* x = (M + diagonal) \ x */
void soft8_damp(soft8 *s, zw_real8 *x);

#endif
