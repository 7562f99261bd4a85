/* Coulomb's law with one linearisation (step/impulse/impulse_quick.c) for eight worlds at once, one
 * in each lane of the vectors. It corresponds to system/soft8/soft8.h for the soft law, and uses
 * its sweeps, poses and pairs.
 *
 *     H (u - v0) = h (f(q0 (+) h v0, v0) - bias(q0, v0)) + J' lambda,     H = M + h D + h^2 K
 *
 *     gap(q0) + h n . J u >= 0, tangentially Coulomb's law;   phi(q0) + h A u >= 0 for limits
 *
 * gauss/augment/augment.h solves that, here for eight worlds, in step/once8/cones.c for one.
 *
 * A lane has the bits of the world alone:
 *
 * 1. H, f, bias, gaps and rows are computed by the operations of impulse_quick.c, impulse_balance.c
 *    and contact_find.c, in their order.
 * 2. All points and limits within reach are rows for both, in one order; rows that a world does not
 *    have are zeros.
 * 3. The iteration uses only the data of the step, and lanes are independent.
 * 4. Anything else that impulse_step does is not done in lanes: it is checked that there is no
 *    need, and otherwise the world steps alone. That concerns shapes that overlap by more than what
 *    one linearisation leaves (impulse_part.c); energy that comes from nowhere (impulse_gains);
 *    bodies that go farther than they are thick (impulse_sweep.c). Where a comparison involves
 *    numbers that are computed in another order, lanes allow a margin of HAIR.
 *
 * Limits. Motors along single joints, without ranges of force; points with one or three rows; no
 * restitution, activations, sleep. For systems that have more, once8_create returns NULL. */
#ifndef ZW_STEP_ONCE8_H
#define ZW_STEP_ONCE8_H

#include "gauss/augment/augment.h"
#include "step/run.h"
#include "system/contact/contact_path.h"
#include "system/soft8/soft8.h"

/* What is known about a world besides q, v and its parameters. */
typedef struct once8_clock {
    double t, work;
    long steps;         /* since it was read from the state */
    double certificate; /* of the last step */
    int parts;          /* overlaps may have to be separated: impulse_part.c */
} once8_clock;

/* The origin of the block of a row. */
typedef struct once8_about {
    int constraint;     /* a limit; -1: a point */
    int match;          /* the pair, with */
    zw_real8 gap, n[3]; /* gap and normal at q0, */
    zw_mask8 found;     /* in these worlds */
} once8_about;

/* A pair that might pass through each other: once8_ends.c */
typedef struct once8_watch {
    zw_mask8 left; /* worlds in which it has not yet been proved that it does not */
    zw_real8 n[3]; /* a direction */
    zw_real8 low;  /* the least separation of the two along it, over all evaluations; */
    zw_real8 need; /* the separation required between them, */
    zw_real8 bow;  /* where accelerations may reduce it by this much: h^2/8 times their bounds */
} once8_watch;

typedef struct once8 {
    soft8 *of; /* poses and pairs, and memory for q, v, forces */
    double h, falling;
    zw_real8 deepest; /* overlaps that are not separated */
    augment8 it;
    int block_capacity, entries, entry_capacity;
    int needs_blocks, needs_entries; /* for which there was no room */
    once8_about *about;              /* [blocks] */
    zw_real8 *J;
    zw_real8 *limit_J;   /* of limits: [entries of their rows] */
    zw_real8 *H, *r, *u; /* H in its own pattern */
    zw_real8 *v0, *q1, *zero;
    paths_shape straight;
    int *depth, *start, *run;              /* of that */
    zw_real8 *reach;                       /* [geoms] */
    zw_real8 *end;                         /* sweeps of q1 */
    zw_real8 *turn, *twist, *speed, *bend; /* [bodies] bounds along the motion: contact_path.c */
    contact_path path;                     /* of one world */
    zw_real8 *ways;                        /* [geoms] the largest displacement of their points, */
    zw_mask8 *fast;                        /* which exceeds their thickness */
    unsigned char *is_fast;                /* in some world */
    zw_real8 *rush, *bow;                  /* and their speeds and accelerations */
    int ended;                             /* `end` is that of q1 */
    zw_real8 *between;                     /* [nq] some instant of the step, */
    soft8_pose *pose;                      /* [geoms] and all poses there */
    int *first;                  /* [matches] of those that are watched: the first block, or -1 */
    once8_watch *watch;          /* [watched] */
    zw_mask8 *spared;            /* [matches] worlds in which its points were not looked for, */
    zw_real8 *apart;             /* [matches] as the two are at least so far apart */
    int *spares, spare_count;    /* [matches] those with such a world */
    zw_mask8 missed;             /* worlds in which they might have been needed after all: then */
    int thorough;                /* all points are looked for */
    zw_real8 *V;                 /* [6 bodies] velocities of the motion without contacts */
    int knows;                   /* V is known */
    int moved;                   /* those in `of` are of u, else of v0 */
    zw_real8 before[2];          /* energies at the start */
    zw_mask8 *suspect;           /* [matches] that might meet during the step, */
    int *watched, watched_count; /* [matches] those with such a world */
    double *q_alone, *u_alone;   /* [nq], [n] of one world */
    int *rows;                   /* [matches] of their points */
    long taken;                  /* number of steps of worlds so far, */
    long solves;                 /* of eight worlds */
    long marches;                /* worlds whose ways lanes could not prove to be free */
    void *memory;
} once8;

/* Can steps by this plan be taken in lanes? */
int once8_takes_plan(const zw_system *system, const zw_run_options *plan);
/* For steps of length h. NULL, with *failed: no memory; without: worlds of this system
 * step alone. */
once8 *once8_create(const zw_system *system, zw_work *work, double h, int *failed);
void once8_free(once8 *s);
int once8_grow(once8 *s);
static inline int once8_lacks_room(const once8 *s)
{
    return s->needs_blocks > s->block_capacity || s->needs_entries > s->entry_capacity;
}

/* once8_scratch.c: memory, except of the lists of blocks, and what is constant in it. `of`, `h`,
 * `straight` and the lists are there. */
void once8_lay_out(once8 *s, base_arena *arena);
void once8_begin_steps(once8 *s);

/* From a state, and back into it, with everything that zw_step would have left there: x is q, v and
 * the parameters; closed [constraints]: which limits are in contact. */
void once8_read(const zw_system *system, zw_state *state, once8_clock *clock, double *x);
void once8_write(const zw_system *system, const zw_run_options *plan, const once8_clock *clock,
                 const double *x, const unsigned char *closed, zw_state *state);

/* One step of `count` worlds, at most LANES; a world without a clock does not move. Returns the
 * bits of those that succeeded, and the pairs in contact in them (one bit each, folded). The others
 * are unchanged. */
unsigned once8_step(once8 *s, int count, once8_clock *const *clock, double *const *x,
                    unsigned char *const *closed, uint64_t touch[LANES]);

/* once8_force.c: H and r. */
void once8_smooth(once8 *s);
/* once8_rows.c: limits and points within reach, of those pairs that the motion x without contacts
 * does not leave apart. */
void once8_find_rows(once8 *s);
/* once8_ends.c: for which of the current worlds and pairs does it remain to be proved that nothing
 * passes through anything? */
void once8_prove_ways(once8 *s, const zw_mask8 *asked, zw_mask8 *left);
int once8_end_of_pair(const once8 *s, int i); /* the end of the points that begin with block i */
void once8_see_end(once8 *s);                 /* the sweeps of q1 */
/* From here on pairs whose points cannot matter are spared (soft8.spare). Then every motion by
 * which rows may enter is looked at (augment.look). */
void once8_begin_spares(once8 *s);
void once8_look(void *user, const zw_mask8 *asked);
/* once8_ways.c: worlds in which it is not proved that nothing passes through anything, except the
 * slow ones, are marked as not good. */
void once8_check_ways(once8 *s, const zw_mask8 *slow);
void once8_drop_ghosts(once8 *s); /* points of bodies that pass each other, or turn away */
void once8_touching(const once8 *s, zw_real8 *to); /* gaps that are closed */
/* once8_check.c: worlds for which impulse_step does more are marked as not good. */
void once8_check_start(once8 *s);                       /* before the solve */
void once8_check_end(once8 *s, const zw_real8 *gained); /* after it: q1, u, and its work */

#endif
