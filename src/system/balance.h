/* The momentum of bodies over a step; for step/impulse.c, which has the equations. */
#ifndef ZW_SYSTEM_BALANCE_H
#define ZW_SYSTEM_BALANCE_H

#include "system/bodies.h"

/* P[bodies][6] = (J omega, m v) of every body about its centre of mass, along the axes of the
 * world. After tree_velocities. */
void balance_momenta(const zw_system *system, const double *sweeps, double *P);

/* tau_d = sum of S_d . F_i over the bodies that d moves. F[bodies][6], moments about the centres of
 * mass, is used up. After tree_kinematics. */
void balance_gather(const zw_system *system, const double *sweeps, double *F, double *tau);

/* The lower triangle of H = M + h D + h^2 K, n x n: M from tree_composite of `sweeps`; D and K are
 * the slopes of dampers and springs. Motors are the caller's. */
void balance_metric(const zw_system *system, const double *sweeps, const double *q, double h,
                    double *H);
/* H += weight c c' with c[k] on dof[k]: the lower triangle. */
void balance_stiffen(int n, double weight, int count, const int *dof, const double *coef,
                     double *H);

/* How implicit a step of length h should be, 0 to 1: 0 where nothing swings or is carried round by
 * more than 0.008 of a radian in a step, 1 from a quarter on. (Spinning about an axis of its own
 * does not count.) After tree_velocities. */
double balance_theta(const zw_system *system, const double *sweeps, const double *v, double h);

#endif
