/* Robots with loops, contacts and all else that acts along directions that turn: slopes_bodies.c
 * has the slopes of their equations, slopes_equations.c these, slopes_hold.c what holds. */
#ifndef ZW_LOOK_SLOPES_BODIES_H
#define ZW_LOOK_SLOPES_BODIES_H

#include "look/sensitivity/number.h"
#include "look/slopes/slopes.h"
#include "system/contact/contacts.h"

typedef enum slopes_hold_kind {
    HOLD_ROW,  /* a row of the system */
    HOLD_DRY,  /* friction of a joint that rests */
    HOLD_SLIP, /* of one that slides: a force that is known, no unknown */
    HOLD_POINT /* a point of contact */
} slopes_hold_kind;

typedef enum slopes_way {
    WAY_HELD,   /* all its rows hold */
    WAY_SLIDES, /* the normal holds; friction is against its slip u = J v, */
    WAY_BEGINS  /* or, where that is zero, against x = J a + J' v */
} slopes_way;

/* A block of rows that holds now. */
typedef struct slopes_hold {
    slopes_hold_kind kind;
    slopes_way way;
    int index;       /* row of the system, or constraint */
    contact_key key; /* of a point */
    int rows;        /* that it has, one or all of its point */
    int at;          /* its first unknown, after the accelerations; */
    int unknowns;    /* so many */
    int first;       /* its first number among rates, and among slips */
    double lambda[6], mu[5];
    double turn[6];      /* u or x, whichever gives the direction of friction */
    contact_point point; /* as it is, */
    double local[12];    /* its place and frame on its first body, */
    int carried;         /* which carries it, since it is not there where bodies are moved a bit */
    int weak;            /* it touches without force */
} slopes_hold;

typedef struct slopes_bodies {
    const zw_system *system;
    zw_work *work; /* where equations are looked at */
    int simple;    /* M a - force is differentiated by sweeps; only rows are left for differences */
    int moves;     /* some speed is not zero */
    int holds, hold_capacity;
    slopes_hold *hold;
    int values, unknowns; /* rows of all holds; unknowns among them */
    contact_work found;
    double *q, *v, *param, *sweeps, *w; /* [nq] [n] [params] [tree] [n] */
    double *J;                          /* rows of one point */
    int *column;
    double *B; /* [values][n] the rows here */
    size_t B_capacity;
    double *y; /* 5 tables of what look() writes: four places, and their slopes */
    size_t y_capacity;
    double *psi_by; /* [2 n][values] slips by q and v */
    size_t psi_capacity;
    double *K, *by;
    size_t K_capacity, by_capacity;
    double reach; /* how far shapes are looked for */
    int lost;     /* a point was not there */
    void *memory;
} slopes_bodies;

slopes_bodies *slopes_bodies_create(const zw_system *system, int simple, zw_error *error);
void slopes_bodies_free(slopes_bodies *s);

/* slopes_hold.c: what holds after the last zw_forward of the slopes' work. */
zw_status slopes_hold_find(zw_slopes *slopes, slopes_bodies *s, zw_state *state, zw_error *error);

/* slopes_number.c: a number of the model; where its equations are looked at. */
typedef struct slopes_variant {
    number_systems of;
    slopes_bodies *at[4];
} slopes_variant;
zw_status slopes_numbers_create(zw_slopes *slopes, zw_model *model, const char *const *number,
                                zw_error *error);
void slopes_numbers_free(zw_slopes *slopes);
/* How the equations change with one, into table 4 of s->y, with what holds as it is; and the
 * friction of what slides: added to push[n]. */
zw_status slopes_number_differ(zw_slopes *slopes, zw_state *state, int number, zw_error *error);
void slopes_number_friction(const zw_slopes *slopes, int number, double *push);

/* All columns, where s->simple is set with known[] of M a - force filled before. */
zw_status slopes_bodies_look(zw_slopes *slopes, zw_state *state, zw_error *error);

/* slopes_equations.c: known [n], push [n], rates and slips [values] of each, and A w [m]. */
typedef struct slopes_equation {
    double *known, *push, *rate, *slip, *Aw;
} slopes_equation;

#define SLOPES_SMALL 0x1p-10 /* how far states are moved, */
extern const double slopes_place[4];
size_t slopes_width(const slopes_bodies *s); /* numbers of all that */
slopes_equation slopes_part(const slopes_bodies *s, double *y);
/* B: the rows, or NULL. */
zw_status slopes_equations(slopes_bodies *s, double t, const double *q, const double *v,
                           const double *param, const double *a, double *y, double *B,
                           zw_error *error);

/* Points of contact at (q); those that hold are found again by their keys. */
zw_status slopes_points_find(slopes_bodies *s, const double *sweeps, zw_error *error);
const contact_point *slopes_point(const slopes_bodies *s, const contact_key *key);
void slopes_point_keep(const zw_system *system, const double *sweeps, slopes_hold *it);

#endif
