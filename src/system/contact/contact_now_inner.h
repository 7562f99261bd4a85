/* Data of contact_now.c, shared with contact_rate.c. */
#ifndef ZW_SYSTEM_CONTACT_NOW_INNER_H
#define ZW_SYSTEM_CONTACT_NOW_INNER_H

#include "system/bodies/bodies.h"
#include "system/contact/contact_now.h"

typedef enum now_way {
    NOW_OPEN,   /* no rows */
    NOW_SMOOTH, /* a normal row */
    NOW_HOLDS,  /* a cone */
    NOW_SLIDES  /* a cone whose direction is known */
} now_way;

typedef struct now_point {
    contact_point point;
    now_way way;
    int ignored, hits;
    int row; /* its first in the solver; -1: none */
    int columns, *column;
    double *J;        /* [rows][columns] */
    double slip[6];   /* u */
    double rate[6];   /* r */
    double way_of[6]; /* if sliding: u_t scaled to |mu u| = 1 */
    double shift[6];  /* and s, */
    double size;      /* the size of k u_t */
    double off;       /* error of the direction of its residual in the last round */
    double force[6];  /* lambda */
    char name[120];
} now_point;

struct contact_now {
    contact_work found, beside; /* at the state, and shortly before and after it */
    unsigned char *ignored;     /* [points found] overlaps that no motion separates */
    double *sweeps, *q;         /* of the points beside; */
    double *J_aside;            /* and rows of one of its points, */
    int *column_aside;          /* with their columns */
    int *role;                  /* [constraints] */
    int count, wide;
    now_point *point;
    double *J;
    int *column;
    system_solver *solver;
    struct gauss_apart *apart; /* of many bodies; NULL: not yet */
    double extent;             /* the largest distance of a centre of mass, at least 1 m */
    const char *jammed;        /* the name of a sliding contact without a solution; NULL: none */
};

/* J v of one point. */
void contact_now_speed(const contact_point *point, int columns, const int *column, const double *J,
                       const double *v, double *out);
/* The size of the smaller geom; and that of the largest finite geom. */
double contact_now_size(const contact_world *world, const contact_point *point);
double contact_now_largest(const contact_world *world);
/* contact_rate.c: J' v of all points. */
zw_status contact_now_rates(const zw_system *system, contact_now *now, const double *sweeps,
                            const double *q, const double *v, zw_error *error);

/* contact_now_stuck.c: which of the points found belong to overlaps deeper than `least` that no
 * motion separates. The sweeps get composite inertias. */
zw_status contact_now_find_stuck(const zw_system *system, contact_now *now, double *sweeps,
                                 double least, zw_error *error);

#endif
