/* Robots with loops, contacts and other forces along directions that turn: slopes_bodies.c has the
 * slopes of their equations, slopes_equations.c the equations, slopes_hold.c the active set. A
 * "hold" is a block of rows that is active. */
#ifndef ZW_LOOK_SLOPES_BODIES_H
#define ZW_LOOK_SLOPES_BODIES_H

#include "look/sensitivity/number.h"
#include "look/slopes/slopes.h"
#include "system/contact/contacts.h"

/* Relative to the accelerations: zero. look/slopes_touch bounds it from above: blocks that begin to
 * slide or separate slowly. What rest.c leaves at the edge of friction is the same. */
#define SLOPES_STILL 1e-7

typedef enum slopes_hold_kind {
    HOLD_ROW,  /* a row of the system */
    HOLD_DRY,  /* static friction of a joint */
    HOLD_SLIP, /* sliding friction of a joint: a known force, not an unknown */
    HOLD_POINT /* a point of contact */
} slopes_hold_kind;

typedef enum slopes_way {
    WAY_HELD,   /* all its rows are active */
    WAY_SLIDES, /* the normal row is active; friction opposes the slip u = J v */
    WAY_BEGINS  /* the same where u is 0: friction opposes x = J a + J' v */
} slopes_way;

/* A block of rows that is active at this instant. */
typedef struct slopes_hold {
    slopes_hold_kind kind;
    slopes_way way;
    int index;       /* row of the system, or constraint */
    contact_key key; /* of a point */
    int rows;        /* number of its rows: 1, or all rows of the point */
    int at;          /* its first unknown, after the accelerations */
    int unknowns;    /* number of its unknowns */
    int first;       /* its first index among the rates and among the slips */
    double lambda[6], mu[5];
    double turn[6];      /* u or x, whichever gives the direction of friction */
    contact_point point; /* the contact point at this state */
    double local[12];    /* its position and frame on its first body */
    int carried;         /* it moves with its first body, as it is not found after small motions */
    int weak;            /* it touches without force */
} slopes_hold;

typedef struct slopes_bodies {
    const zw_system *system;
    zw_work *work; /* for the evaluation of equations */
    int simple; /* M a - force is differentiated by sweeps; differences are needed for rows alone */
    int moves;  /* some speed is not zero */
    int holds, hold_capacity;
    slopes_hold *hold;
    int values, unknowns; /* numbers of rows of all holds, and of unknowns among them */
    contact_work found;
    double *q, *v, *param, *sweeps, *w; /* [nq] [n] [params] [tree] [n] */
    double *J;                          /* rows of one point */
    int *column;
    double *B; /* [values][n] the rows here */
    size_t B_capacity;
    double *y; /* 7 tables of width slopes_width(): five of scratch, of which the last has the
                  slopes in the end, the equations here, and slopes */
    size_t y_capacity;
    double *psi_by; /* [2 n][values] slips by q and v */
    size_t psi_capacity;
    double *K, *by;
    size_t K_capacity, by_capacity;
    int *control_side; /* [params] bodies_control_sides */
    double reach;      /* distance within which contacts are searched for */
    double nearer;     /* part of the way along q (+) s v for B' v; 0: not chosen yet */
    int lost;          /* a point was not found */
    void *memory;
} slopes_bodies;

slopes_bodies *slopes_bodies_create(const zw_system *system, int simple, zw_error *error);
void slopes_bodies_free(slopes_bodies *s);

/* slopes_hold.c: the active set after the last zw_forward of the work of the slopes. */
zw_status slopes_hold_find(zw_slopes *slopes, slopes_bodies *s, zw_state *state, zw_error *error);

/* slopes_number.c: a number of the model, and the systems in which the equations are evaluated. */
typedef struct slopes_variant {
    number_systems of;
    slopes_bodies *at[NUMBER_SYSTEMS];
} slopes_variant;
zw_status slopes_numbers_create(zw_slopes *slopes, zw_model *model, const char *const *number,
                                zw_error *error);
void slopes_numbers_free(zw_slopes *slopes);
/* The slopes of the equations by one number, with the active set fixed, into table 4 of s->y; those
 * of sliding friction are added to push[n]. */
zw_status slopes_number_differ(zw_slopes *slopes, zw_state *state, int number, zw_error *error);
void slopes_number_friction(zw_slopes *slopes, int number, double *push);

/* All columns. If s->simple is set, known[] of M a - force has been filled before. */
zw_status slopes_bodies_look(zw_slopes *slopes, zw_state *state, zw_error *error);

/* slopes_equations.c: known [n], push [n], rates and slips [values] of each, and A w [m]. */
typedef struct slopes_equation {
    double *known, *push, *rate, *slip, *Aw;
} slopes_equation;

#define SLOPES_SMALL 0x1p-10 /* the step of the differences, if those of its half agree to */
#define SLOPES_ENOUGH 1e-5   /* the error is the square of that */
#define SLOPES_TURNS 1e-9    /* error of B' v; of 1 m/s^2 if it is less */
#define SLOPES_END 1e-12     /* relative: a control this close to the end of its range is at it */
size_t slopes_width(const slopes_bodies *s); /* the number of all these values */
slopes_equation slopes_part(const slopes_bodies *s, double *y);
/* B: the rows, or NULL. */
zw_status slopes_equations(slopes_bodies *s, double t, const double *q, const double *v,
                           const double *param, const double *a, double *y, double *B,
                           zw_error *error);

/* Contact points at the position of these sweeps; active ones are identified by their keys. */
zw_status slopes_points_find(slopes_bodies *s, const double *sweeps, zw_error *error);
const contact_point *slopes_point(const slopes_bodies *s, const contact_key *key);
void slopes_point_keep(const zw_system *system, const double *sweeps, slopes_hold *it);

#endif
