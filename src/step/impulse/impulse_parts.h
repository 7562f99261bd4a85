/* What the parts of a step keep: overlaps, derivatives of formulas, points that roll or stay,
 * landings, limits, contacts, Newton's method. impulse.h has the functions. */
#ifndef ZW_STEP_IMPULSE_PARTS_H
#define ZW_STEP_IMPULSE_PARTS_H

#include "gauss/contact/impact.h"
#include "gauss/contact/prox_law.h"
#include "system/contact/contact_path.h"
#include "system/contact/contacts.h"

/* Rewritten only where another point takes its place. */
typedef struct impulse_label {
    contact_key key;
    char text[120];
} impulse_label;

typedef struct impulse_deep {
    uint32_t geom[2];
    int body[2];
    double left; /* depth that may remain after the step */
    int held;    /* deeper than IMPULSE_OVERLAP: kept at its depth, */
    int fixed;   /* and deeper than IMPULSE_INSIDE: points and normals are those of q0 */
} impulse_deep;

/* Two overlapping bodies that cannot be separated: impulse_part.c. */
typedef struct impulse_stuck {
    int a, b; /* bodies of the tree; for static geoms: -1 - geom */
} impulse_stuck;

typedef struct impulse_parting impulse_parting;

/* Derivatives of formulas: impulse_slopes.c. */
typedef struct impulse_stiff {
    int count;     /* number of dofs that they couple; 0: there are none */
    int *at, *dof; /* [n] the index of a dof, -1: none; [count] the reverse */
    int *row_dof;  /* [n] scratch */
    double *S, *V; /* [count][count] the derivatives; their eigenvectors */
    double *size;  /* [count] of masses */
    double *by;    /* [count] scratch */
    double *row;   /* [n] scratch */
} impulse_stiff;

/* A point that is closed at q0: impulse_roll.c. */
typedef struct impulse_roller {
    contact_key key;
    int columns, alone;
    double frame[9], arm[2][3]; /* of the point at q0, relative to the centres of mass */
    double part;                /* 0: the impulse acts at q0; 1: at q1; -1: unknown yet */
    double found;               /* the same before it was rounded up, for the first entry */
    int body[2], first;         /* the first entry of these two bodies */
    double b[3];                /* right-hand sides for the iterate, */
    double off;                 /* and their difference from those of the last, as displacements */
    double slip[2];             /* in the step: the argument of the law of friction */
    double begun[6]; /* the relative motion of its bodies at (q0, v0), in the world frame */
} impulse_roller;

typedef struct impulse_rolling {
    int off; /* all as at q1 */
    int count;
    impulse_roller *list; /* [points], by geoms */
    int *of;              /* [points found] the entry of each; -1: none */
    double *J;            /* [points][2][6 * wide] rows at q0, and those that are used */
} impulse_rolling;

/* A point of the last round, as a point of either body: impulse_stay.c. */
typedef struct impulse_stays {
    contact_point point;
    uint32_t origin; /* the feature as which it was found; its key may have another */
    int carried;     /* it comes from an earlier round */
    int found;       /* the present search has found it; if not: */
    int from;        /* it is the present position of this one of the last round, */
    int leads;       /* and its frame is that of a point which was found, */
    uint32_t lead;   /* with this feature; or as it was */
    double x[2][3];  /* in the frames of the geoms, */
    double n[2][3];  /* and its normal */
    int follows;     /* it follows the shapes, however fast */
} impulse_stays;

typedef struct impulse_staying {
    int count, found, capacity;
    impulse_stays *list; /* [capacity] of the last round, */
    impulse_stays *next; /* [capacity] and of this one */
    int differs; /* derivatives are being computed: nothing is recorded, and points that jump stay
                  */
    int follows; /* rounds can follow a point along a rim; */
    int merged;  /* one has just come down to that; */
    int apart;   /* it was in vain */
} impulse_staying;

/* A point that is open at q0, and its closing speed there: impulse_land.c. */
typedef struct impulse_begun {
    contact_key key;
    double gap, speed;
} impulse_begun;

/* The impulse of a contact, along the axes of the world. */
typedef struct impulse_pushed {
    contact_key key;
    double by[6];
    int slides; /* its last part was at the limit of friction; -1: it is a part without force */
} impulse_pushed;

/* Pairs that overlap where a motion begins: their number, and the deepest. */
enum { IMPULSE_NAMED = 3, IMPULSE_APART = 4 };

typedef struct impulse_overlap {
    int pairs;
    int stuck; /* of them, those that cannot be separated: impulse_part.c */
    contact_key key[IMPULSE_NAMED];
    double depth[IMPULSE_NAMED];
} impulse_overlap;

/* The end of a flight while it is being determined: impulse_seek.c. */
typedef struct impulse_seeking {
    int moves;        /* number of moves of its end that remain */
    double low, high; /* bounds of the search */
    double exact;     /* gaps up to this are closed */
    double moved;     /* its last move */
    double depth,
        rest; /* of the first contact, at the iterate; its closing speed by gravity alone */
} impulse_seeking;

typedef struct impulse_landing {
    impulse_seeking seek;
    int begun_count, count, capacity;
    int watched, seen; /* rounds shall end when a landing is found; and one was found in them */
    int cut;           /* the step is taken in flights between impacts: */
    int cuts;          /* number of pairs of bodies that have been left out until they meet; */
    int sum_count, flight_count; /* impulses of contacts, */
    impulse_pushed *sum;         /* [points] in the whole step, */
    impulse_pushed *flight;      /* [points] and in the current flight */
    double step;                 /* the length of the whole step */
    int pairs;                   /* number of pairs of bodies that land in the last piece, */
    double loss;                 /* and the energy lost by that */
    double late;                 /* the time from the first landing to the end of that piece */
    int slow;                    /* it contains a landing too slow to be among them */
    impulse_begun *begun;        /* [points] */
    contact_key *list;           /* [points] those that are left out, until they meet */
    unsigned char *too_slow;     /* [points] or have been found to be no landings */
    unsigned char
        *now; /* [points found] it lands in this step; or is being separated: IMPULSE_APART */
} impulse_landing;

/* One-sided rows of joints and tendons: impulse_limit.c. */
typedef struct impulse_limits {
    int any, count;     /* there are some; number of those left out until they are reached */
    double *gap;        /* [m] at the beginning of the current piece, */
    double *speed;      /* [m] and its closing speed there */
    unsigned char *now; /* [m] it is reached in the last piece */
    unsigned char *out; /* [m] it is left out */
} impulse_limits;

/* Loops that cannot move: impulse_lock.c. */
typedef struct impulse_lock impulse_lock;

typedef struct impulse_locks {
    int count;
    impulse_lock *list;
} impulse_locks;

/* Two geoms that were found close to each other: impulse_sweep.c. */
typedef struct impulse_swept {
    int a, b, flies; /* flies: they are not part of the problem */
    double gap, n[3];
} impulse_swept;

typedef struct impulse_sweep {
    contact_path path;
    int pairs;
    impulse_swept *pair; /* [points] as found in the last round */
    int fast_count;
    int *list;            /* [geoms] the fast ones */
    double *way;          /* [geoms] upper bound of the displacement of their points; find_fast */
    unsigned char *fast;  /* [geoms] it moves farther than a fraction of its thickness */
    unsigned char *wild;  /* [geoms] it moves farther than the range of the contact search */
    int linear;           /* the step has one linearisation, at q0 */
    int has_mesh, strict; /* strict: bodies are fast, and the step can be divided */
    int sure;             /* all steps since this was set were proved to be free */
} impulse_sweep;

/* Points of contact of the current iterate, and their rows. */
typedef struct impulse_contacts {
    int is_there; /* contacts are possible */
    int wide;     /* largest number of columns of a row */
    contact_work found;
    double *J;                   /* [points][6 * wide] the rows of each, one after another */
    int *column;                 /* [points][wide] */
    int *columns;                /* [points] */
    double *b;                   /* [points] of the normal row */
    struct impulse_label *label; /* [points] their names */
    int *listed;                 /* [points] their index in the list for users, from 1; 0: none */
    int bounces;                 /* some pair may bounce */
    int flying;                  /* points of pairs that bounce are left out, except these */
    int deep_count;
    struct impulse_deep *deep; /* [points] pairs that overlapped at the start, */
    int deep_points;
    contact_point *deep_point; /* [points] and their points there, by geoms */
    int overlaps_ignored; /* deep overlaps are ignored: no motion was found that separates them */
    double sunk;          /* the deepest of the others at the start of the piece; */
    int sinks;            /* they stay as deep as they are, for the same reason */
    int stuck_count;
    struct impulse_stuck *stuck; /* [points] overlaps that cannot be separated */
    impulse_parting *parting;    /* NULL: not needed yet */
    double whole;                /* the length of a step that is divided at impacts; 0: it is not */
    gauss_impact *law;           /* of impacts */
    double near;                 /* points are found at least up to this gap */
    int flown;                   /* at the end of a flight: stuck pairs are those of its start */
    int rest_count;
    contact_key *rest; /* [points] pairs at rest, whatever their features */
    impulse_rolling rolling;
    impulse_staying stay;
    impulse_sweep sweep;
    impulse_landing land;
} impulse_contacts;

/* Newton's method with known modes: impulse_chord.c. */
enum { CHORD_MOST = 64 }; /* speeds: beyond this the matrix is too large to be dense */
enum { CHORD_ROWS = 96 }; /* of problems solved by sweeps */

typedef struct impulse_chord {
    int is_there;
    int small;   /* contact problems are left to the kernel, which decides how a load is shared */
    int n, wide; /* wide: n rounded up to a multiple of eight */
    int units, coulomb, row_capacity;
    uint64_t blocks;                     /* the blocks of the factors */
    prox_unit *unit;                     /* [row_capacity] rows and cones */
    double *K, *U, *N;                   /* [n][wide] the factors; derivatives of r, */
    double *way, *inverse, *first;       /* [wide] the step; 1/sqrt(H_ii); scratch; */
    double *lack;                        /* [wide] the residual of the balance before it */
    double *nearing;                     /* [wide] how u closes a gap: impulse_seek.c */
    double *gain, *growth;               /* [wide], [row_capacity] d u/dh, and that of lambda; */
    double *drift;                       /* [wide] what that was found to lack, as a force */
    double *scratch;                     /* of balance_slopes */
    double *B, *G;                       /* [row_capacity][wide] in scaled units */
    double *scale, *lambda, *z, *change; /* [row_capacity] */
    double *speed;                       /* [row_capacity] k w, */
    double *dw, *moved; /* and the change of w by the last step; the sum of changes since then */
    double *stiff, *stiffer; /* weights of what sticks, relative to k, and what they can become; */
    double *off;             /* k w of the iterate */
    double *W, *answer;      /* [most][most], [most][wide] of impulse_modes.c */
    void *memory, *rows;
} impulse_chord;

#endif
