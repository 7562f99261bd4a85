/* Scenes: seeded Gauss problems, shared by tests, benchmarks and fuzzing.
 *
 * Every scene is a zw_gauss with its own memory, a name, and what is known of it by construction: a
 * motion that all blocks admit (`witness`), or the blocks that contradict each other (`conflict`).
 * The same seed gives the same scene.
 *
 *     scene_random   convex campaign: all kinds of rows, metrics, ranks and units
 *     scene_contact  rigid bodies in contact, velocity form: Coulomb's law
 *     scene_chain    points on a string; scene_net, points of a net: large and sparse
 *
 * A function that needs memory and gets none ends the program. */
#ifndef ZWANG_TEST_SCENE_H
#define ZWANG_TEST_SCENE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "zwang/gauss.h"

typedef struct scene {
    zw_gauss problem;   /* its arrays are those below */
    char name[64];      /* family and seed */
    int m;              /* rows of all blocks */
    zw_contact_law law; /* the law the scene is meant for */

    double *witness; /* [n] a motion that all blocks admit; NULL: there is none, or none is known */
    double margin;   /* how deep the cones' residuals of the witness lie in their dual cones, over
                        their size: at least 0; 0 is a scene that can jam; 1 without cones */
    int conflict_count; /* 0: consistent */
    int *conflict;      /* blocks that cannot all be satisfied, in rising order */

    /* The arrays of `problem` again, to write to; NULL where `problem` has none. */
    zw_block *block;
    double *metric; /* [metric_count] */
    double *row;    /* [row_count] dense or compressed values of A */
    double *free, *force, *b, *compliance, *C;
    size_t metric_count, row_count;

    struct scene_memory *memory; /* one list of chunks, released by scene_free */
} scene;

/* An empty scene to fill by hand: all arrays through scene_alloc, released together. */
scene *scene_new(const char *name, int n);
void *scene_alloc(scene *s, size_t count, size_t size); /* zeroed */
const char *scene_text(scene *s, const char *text);     /* a copy that lives as long as the scene */
scene *scene_copy(const scene *s);
void scene_free(scene *s);

/* ---- Random convex problems --------------------------------------------------------------- */

/* Bits of `kinds`. */
enum {
    SCENE_EQUALITY = 1 << ZW_EQUALITY,
    SCENE_INEQUALITY = 1 << ZW_INEQUALITY,
    SCENE_CONE = 1 << ZW_CONE,
    SCENE_ALL_KINDS = SCENE_EQUALITY | SCENE_INEQUALITY | SCENE_CONE
};

/* Bits of `features`. */
enum {
    SCENE_REDUNDANT = 1,   /* rows and blocks copied, scaled, summed; equalities in disguise */
    SCENE_PARALLEL = 2,    /* nearly parallel rows */
    SCENE_COMPLIANT = 4,   /* compliance on some blocks */
    SCENE_NONIDEAL = 8,    /* a non-ideal force C in some */
    SCENE_UNITS = 16,      /* unknowns and rows in units of their own */
    SCENE_COMPRESSED = 32, /* some with compressed rows */
    SCENE_FORCE = 64,      /* some with `force` instead of `free`, or neither */
    SCENE_MASSLESS = 128,  /* singular M, held by equality rows; not among SCENE_ALL_FEATURES */
    SCENE_ALL_FEATURES = 127
};

typedef struct scene_random_params {
    int n_min, n_max;  /* unknowns; 0: 1 and 60 */
    double row_ratio;  /* rows are at most this times n, and some; 0: 2 */
    unsigned kinds;    /* of blocks; 0: all */
    unsigned metrics;  /* bits 1 << zw_metric_kind; 0: all but operators */
    unsigned features; /* 0: none */
    double difficulty; /* 0 well conditioned ... 1: condition 1e8, mass ratio 1e6, units 1e+-3,
                          angles between rows 1e-5 */
    int infeasible;    /* 1: blocks that contradict each other, listed in `conflict` */
} scene_random_params;

/* Everything at this difficulty. */
scene_random_params scene_random_everything(double difficulty);

/* NULL parameters: everything, full range. Scenes with a witness have a solution with multipliers:
 * the witness lies strictly inside all cones (Slater). `conflict` is a conflicting set, known by
 * its construction; where other rows are redundant it need not be the smallest. */
scene *scene_random(uint64_t seed, const scene_random_params *params);

/* ---- Contact ------------------------------------------------------------------------------ */

typedef enum scene_family {
    SCENE_ISOSTATIC,      /* spheres and boxes on at most three points each */
    SCENE_STACK,          /* 1 to 10 boxes, four corners each; masses alike to 1e6 : 1 */
    SCENE_STACK_TALL,     /* 11 to 20 boxes */
    SCENE_WEDGE,          /* a body in a groove; narrow ones jam */
    SCENE_GRIPPER,        /* an object squeezed between two fingers, free or on rails */
    SCENE_ARCH,           /* voussoirs, four contacts a joint */
    SCENE_HEAVY_ON_LIGHT, /* a heavy box on light bodies */
    SCENE_MANY_ON_FEW,    /* 20 to 40 contacts on 1 to 5 bodies; some surrounded and jammed */
    SCENE_IMPACT,         /* fast approach, restitution */
    SCENE_PAINLEVE,       /* thin steep rods, rough floor */
    SCENE_ROLLING,        /* spheres with spin and roll friction: 4 and 6 rows */
    SCENE_PILE,           /* 5 to 20 spheres, dropped */
    SCENE_ROBOT,          /* a humanoid: 27 unknowns, dense metric, 12 cones */
    SCENE_JOINTED,        /* boxes on joints, with and without limits, standing on the floor */
    SCENE_ELLIPTIC,       /* a stack or many contacts with two coefficients each */
    SCENE_FAMILIES,       /* the number of families that have solutions */
    SCENE_WEDGE_CLOSING = SCENE_FAMILIES /* walls closing on a body: no solution */
} scene_family;

const char *scene_family_name(scene_family family);
scene *scene_contact(scene_family family, uint64_t seed);

/* ---- Large and sparse --------------------------------------------------------------------- */

/* Point masses in space (diagonal metric, compressed rows), the distance of neighbours kept: one
 * equality block link[i] each, at acceleration level, consistent with random velocities. A chain
 * hangs from a fixed point; a net of nx by ny points (at least 3 by 2) swings about two fixed
 * corners. */
scene *scene_chain(int links);
scene *scene_net(int nx, int ny);

/* ---- Variations: what must not change the motion ------------------------------------------- */

/* Every block three times: all blocks, all with "again" after their names, all with "again again".
 * Compliances are three times as large, so that the motion stays. */
scene *scene_triple(const scene *s);

/* Multiply all rows, or those of one block: the motion stays. */
void scene_rescale_rows(scene *s, double factor);
void scene_rescale_block(scene *s, int block, double factor);

/* Measure every second unknown (0, 2, ...), or this one, in units `factor` times as large: its
 * number in the motion is divided by factor. An identity metric becomes a diagonal one. */
void scene_rescale_units(scene *s, double factor);
void scene_rescale_unit(scene *s, int unknown, double factor);

/* All masses and forces: the motion stays, multipliers grow with them. */
void scene_rescale_masses(scene *s, double factor);

/* ---- Looking ------------------------------------------------------------------------------ */

void scene_times_M(const scene *s, const double *x, double *y); /* y = M x */
void scene_times_A(const scene *s, const double *x, double *y); /* y = A x */

/* How far motion a is from admissible: the worst row or cone, over its size |A||a| + |b|.
 * Compliance is left out. 0: admissible. */
double scene_violation(const scene *s, const double *a);

/* As scene.margin, for any motion; negative outside. */
double scene_margin(const scene *s, const double *a);

/* Text for other programs, 17 digits, words separated by blanks, in this order:
 *
 *     problem NAME                            (NAME without blanks)
 *     N M BLOCKS convex|coulomb
 *     metric                                  then n lines of n numbers
 *     free|force                              then one line of n numbers
 *     block KIND ROWS F1 F2 F3 F4 F5 NAME     one line each; KIND equality|inequality|cone
 *     A                                       then m lines of n numbers
 *     b                                       then one line of m numbers
 *     compliance                              then one line of m numbers
 *     C                                       then one line of n numbers
 *     conflict K INDEX ...
 *     end
 */
void scene_write(const scene *s, FILE *out);

#endif
