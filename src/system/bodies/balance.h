/* The momentum of bodies over a step; for step/impulse/impulse.c, which has the equations. */
#ifndef ZW_SYSTEM_BALANCE_H
#define ZW_SYSTEM_BALANCE_H

#include "system/bodies/bodies.h"

/* P[bodies][6] = (J omega, m v) of every body about its centre of mass, along the axes of the
 * world. After tree_velocities. */
void balance_momenta(const zw_system *system, const double *sweeps, double *P);

/* tau_d = sum of S_d . F_i over the bodies that d moves. F[bodies][6], moments about the centres of
 * mass, is overwritten. After tree_kinematics. */
void balance_gather(const zw_system *system, const double *sweeps, double *F, double *tau);

/* How implicit a step should be, 0 to 1, if it rotates a body by an angle with this square: 0 up to
 * a fifth of a radian, 1 from a half on. */
double balance_ramp(double square);

/* The same for a step of length h and the body that swings, tumbles or is moved around most in it.
 * (Spinning about a principal axis does not count.) After tree_velocities. */
double balance_theta(const zw_system *system, const double *sweeps, const double *v, double h);

/* exp(f (w + d)) = exp(f w) exp(f T d), up to d^2, with T = 1 - part[0] w x + part[1] w x w x. */
void balance_turning(const double *w, double f, double part[2]);

/* Momenta of the bodies after they have gone the way f v, gathered at the places of `place`. */
typedef struct balance_step {
    const double *place;  /* sweeps after tree_kinematics */
    const double *sweeps; /* those at q (+) f v, with the speeds v */
    const double *v;
    double f;
} balance_step;

/* N += the derivatives of balance_gather(place, balance_momenta(sweeps)) by v, row by row with
 * this stride. scratch[balance_slopes_scratch]. */
void balance_slopes(const zw_system *system, const balance_step *step, double *scratch, double *N,
                    int stride);
size_t balance_slopes_scratch(const zw_system *system);

#endif
