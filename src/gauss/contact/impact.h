/* One law of impact, for equations and for bodies. impact.c states and derives it.
 *
 *     gauss_impact *x = gauss_impact_create();
 *     gauss_impact_begin(x, n, &metric);
 *     gauss_impact_block(x, &block, contact);       a contact, or (contact NULL) what always holds,
 *     gauss_impact_row(x, count, column, value, b); and each of its rows: A v - b is its speed;
 *     gauss_impact_add(x, problem, k, first, contact); both for a block of a problem
 *     gauss_impact_solve(x, law, ZW_CONTACT_COULOMB, v, &answer, &error);
 *     gauss_impact_free(x);
 *
 * The object can be used again and again; arrays grow and stay. Running out of memory while
 * appending is reported by gauss_impact_solve. */
#ifndef ZW_GAUSS_IMPACT_H
#define ZW_GAUSS_IMPACT_H

#include "zwang/gauss.h"

/* Gaps up to this count as closed, for equations and for bodies alike. `size` is that of the terms
 * subtracted in a gap: in equations the sum of |dgap/dq_i q_i|, for bodies the same with their
 * centres of mass for q. Pairs that are farther apart meet later, in a separate impact. */
static inline double gauss_touch(double size)
{
    return 1e-12 * (1 + size);
}

typedef struct gauss_impact gauss_impact;

/* What a block of kind ZW_INEQUALITY (one row) or ZW_CONE has for its restitution. */
typedef struct gauss_impact_contact {
    int pair; /* contacts of one pair of surfaces have the same number, from 0 on; they are resolved
                 together */
    double restitution; /* 0 to 1 */
    double slow;        /* largest speed of approach without restitution */
} gauss_impact_contact;

typedef struct gauss_impact_answer {
    double loss;  /* energy dissipated by the contacts; negative only by round-off */
    double work;  /* energy supplied by moving rows (b is not 0) */
    double share; /* smallest factor applied to the coefficients of restitution so that no energy is
                     gained; 1: none was needed */
    int rounds;   /* problems of the kernel whose answers follow one another */
    int any;      /* 0: nothing approached or was kicked, and v is unchanged */
    int relaxed;  /* rounds in which Coulomb's law had no answer: the convex law was used */
    double certificate; /* the worst of all rounds */
} gauss_impact_answer;

gauss_impact *gauss_impact_create(void); /* NULL: no memory */
void gauss_impact_free(gauss_impact *x);

/* The metric is diagonal or compressed, and must last until gauss_impact_solve. */
void gauss_impact_begin(gauss_impact *x, int n, const zw_metric *metric);
/* Permanent rows require other speeds: there is an impact even if nothing approaches. */
void gauss_impact_kick(gauss_impact *x);
/* Name and friction are those of `block`; contact NULL: equalities, which always hold, or the cone
 * of one with friction, whose normal row holds in both directions. Its number. */
int gauss_impact_block(gauss_impact *x, const zw_block *block, const gauss_impact_contact *contact);
/* column NULL: the row has `count` = n values. */
void gauss_impact_row(gauss_impact *x, int count, const int *column, const double *value, double b);
/* Block k of this problem, whose rows begin at `first`; nothing else of the problem is used. */
void gauss_impact_add(gauss_impact *x, const zw_gauss *problem, int k, int first,
                      const gauss_impact_contact *contact);

/* From the speeds before to those after, in v[n]. ZW_IMPACT_DEFAULT is the sequential law. */
zw_status gauss_impact_solve(gauss_impact *x, zw_impact_law law, zw_contact_law contact, double *v,
                             gauss_impact_answer *answer, zw_error *error);
/* The impulses of all rounds of the last impact along the rows of a block. */
const double *gauss_impact_impulse(const gauss_impact *x, int block);

/* For derivatives: what acts at once. For each act of the last impact, if they are recorded: the
 * speeds before and after it, its impulses along all rows, and whether a block is part of it. */
typedef struct gauss_impact_act {
    const double *before, *after; /* [n] */
    const double *impulse;        /* [rows] */
    const double *part;           /* [blocks] 1 or 0 */
} gauss_impact_act;
void gauss_impact_keep(gauss_impact *x, int keeps);
int gauss_impact_acts(const gauss_impact *x);
gauss_impact_act gauss_impact_act_of(const gauss_impact *x, int act);
int gauss_impact_first_row(const gauss_impact *x, int block);

#endif
