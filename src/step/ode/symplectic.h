/* What the structure-preserving methods need to know about a mechanical system. See symplectic.c
 * for the equations. */
#ifndef ZW_STEP_SYMPLECTIC_H
#define ZW_STEP_SYMPLECTIC_H

#include "zwang/status.h"

/* A Lagrangian K(q, v, t) - V(q, t) with forces Q(q, v, t) and m constraint rows. All arrays of the
 * callbacks have n or m entries, q has nq; q, v and results never overlap. */
typedef struct step_lagrangian {
    int n, m;
    int nq;               /* number of coordinates, if it exceeds that of speeds; 0: n */
    const int *holonomic; /* [m] row i is phi_i(q, t) = 0, else psi_i(q, v, t) = 0; NULL: all are
                             holonomic. Not copied: must outlive the integrator. */
    int linear;  /* K is quadratic and all rows are linear in v, so that M and A do not depend on v
                  */
    double size; /* the size of what rows are computed from, besides q: 1 where q has angles, whose
                    round-off is not that of a small angle; 0: nothing */
    void *user;

    /* p = K_v */
    zw_status (*momentum)(void *user, double t, const double *q, const double *v, double *p,
                          zw_error *error);
    /* g = K_q - V_q + Q or, where v are not the rates of coordinates, everything that changes p;
     * non-ideal forces too, if they do not depend on the reaction */
    zw_status (*force)(void *user, double t, const double *q, const double *v, double *g,
                       zw_error *error);
    /* r_i = phi_i(q, t) for the holonomic rows; the others are ignored */
    zw_status (*position)(void *user, double t, const double *q, double *r, zw_error *error);
    /* r_i = phi_q v + phi_t for the holonomic rows, psi_i(q, v, t) for the others */
    zw_status (*velocity)(void *user, double t, const double *q, const double *v, double *r,
                          zw_error *error);

    /* Where q is not moved by adding h v. (next, next_low) = (q, low) moved along v for a time h,
     * and the middle of the way. NULL: q + h v. */
    void (*move)(void *user, const double *q, const double *low, double h, const double *v,
                 double *next, double *next_low, double *middle);
    /* Where the way curves: the part sigma of the momenta at both ends. NULL: 0. */
    void (*bend)(void *user, double h, const double *v, const double *p, const double *g,
                 double *sigma);

    /* Set up M = K_vv and the rows A (phi_q or psi_v) at this point for the solves to come. It must
     * last until the next call of `linearise` in the same step; the callbacks above are called in
     * between, at other points. */
    zw_status (*linearise)(void *user, double t, const double *q, const double *v, zw_error *error);
    /* Gauss's problem in velocities: minimise 1/2 u' M u - u . impulse subject to A u = wanted;
     * that is, M u = impulse + reaction with reaction = A' lambda. m = 0: u = M \ impulse.
     * ZW_INACCURATE: an answer, good enough to iterate with. */
    zw_status (*solve)(void *user, const double *impulse, const double *wanted, double *u,
                       double *reaction, zw_error *error);
} step_lagrangian;

#endif
