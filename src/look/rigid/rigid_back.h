/* Internals of the backward pass over steps of method impulse: rigid_phi.c the numbers z . F and
 * their derivatives, rigid_back.c the solves and the sweep. */
#ifndef ZW_LOOK_RIGID_BACK_H
#define ZW_LOOK_RIGID_BACK_H

#include "look/rigid/rigid.h"

/* Slopes of phi. */
typedef struct rigid_slopes {
    double *q0, *v0, *u, *v1; /* [n]; v0, v1 of an impact: before and after */
    double *param;            /* [params] */
    double sigma;
} rigid_slopes;

/* A force along a constant direction: slopes_pull.h. */
typedef struct rigid_pull {
    int count, first, param, motor;
    double by_length, by_rate, by_control;
} rigid_pull;

struct rigid_way {
    const zw_system *system;
    zw_work *work;
    const rigid_record *it;
    int law;              /* Coulomb's */
    back_place place[3];  /* q0, qm, q1 */
    back_place *at, *mid; /* where impulses act, and where the momenta of u are */
    double *P0, *Pm, *P1; /* [bodies][6] momenta of v0, u and v1 */
    double *qf, *qm;      /* [nq] */
    double *qf_by;        /* [n] */
    double *none;         /* [n] what is not asked for */
    int pulls, pull_capacity, terms, term_capacity;
    rigid_pull *pull;
    int *dof;
    double *coef;
    double *y; /* [rows] */
    double *K; /* [2] transposed, and a copy */
    double *z; /* [SIDES][size] */
    size_t y_capacity, K_capacity, z_capacity, n_capacity;
    double *numbers; /* slopes of both sides */
    void *memory;
};

/* way->it is another record: what is the same for all phi of it. 0: no memory. */
int rigid_way_open(rigid_way *way, sens_rigid *r);
/* Slopes of z . F, of z . G (second), or of an impact, added. */
void rigid_find_slopes(rigid_way *way, int second, const double *z, rigid_slopes *to);
/* Those by sigma become slopes by q0. */
void rigid_follow_sigma(rigid_way *way, rigid_slopes *to);

#endif
