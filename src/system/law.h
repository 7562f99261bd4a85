/* The laws of Kozlov (2000): nonholonomic, vakonomic, and the family between them, (15)-(18).
 *
 * A row Phi(q, v, t) = 0 with speeds in it says which speeds are possible, not what holds them so.
 * Kozlov's (18) has two numbers for that:
 *
 *     [T] = F - alpha ((lambda Phi_v)' - lambda Phi_q) - beta lambda Phi_v,     Phi = 0,
 *
 * alpha = 0 being the nonholonomic law (Chetaev's), beta = 0 the vakonomic one (15). It is the
 * limit N -> oo of free systems with the added mass alpha N Phi^2/2 and the friction beta N
 * Phi^2/2, (17). With lambda = N Phi these are (18) word for word, since [N Phi^2/2] = (lambda
 * Phi_v)' - lambda Phi_q; only, Phi = lambda/N in place of Phi = 0. So one system covers all:
 * lambda is part of the state, and with flex = 1/N
 *
 *     L~ = L + alpha (lambda Phi - flex lambda^2/2),     psi = Phi - flex lambda = 0.
 *
 * Its Lagrange equations, lambda being some function of time, are those of system.h with L~ for L:
 * M~ = d2L~/dv2 and force~ hold lambda, and what its rate does is left over:
 *
 *     M~ a = force~ + Phi_v' mu,     mu = -(alpha lambda' + beta lambda).
 *
 * So mu is the kernel's multiplier, and lambda' = -(mu + beta lambda)/alpha comes out of Gauss's
 * problem. The row is Phi_v a + D Phi = flex lambda', that is,
 *
 *     A a - (b - flex beta lambda/alpha) + flex/alpha mu = 0:
 *
 * the kernel's row with the compliance 1/(alpha N). No N, however large, makes it stiff or
 * ill-conditioned. alpha = 0 with N finite is friction alone ("loose"): mu = -beta lambda is known,
 * so that the row does not take part in Gauss's problem but follows from it,
 *
 *     M a = force - beta lambda Phi_v',     lambda' = N (A a - b).
 *
 * That is stiff, with times of 1/(beta N). But v does not hold the stiffness, as it would with N
 * Phi in place of lambda: there round-off of v, and what a step leaves of it, is a force N times as
 * large, and implicit steps fail of that. Here the error of v that the steps make is taken away by
 * the projection onto psi = 0, as in all rows.
 *
 * M~ need not be a metric: Legendre's condition asks it to be positive only along the motions that
 * Phi admits. Where it is not elsewhere, gamma A'A is added to it; as A a = b is given, that
 * changes nothing but mu by gamma b. Projections are in the metric of T itself.
 *
 * Energy: E~ = v . L~_v - L~. Since lambda Phi_v . v does no more than change E~'s own term,
 * dE~/dt = Q . v - beta lambda Phi_v . v - dL~/dt, and for Phi homogeneous in v, E~ is E + alpha N
 * Phi^2/2. Holonomic rows move alike under all laws. */
#ifndef ZW_SYSTEM_LAW_H
#define ZW_SYSTEM_LAW_H

#include "system/list.h"
#include "system/work.h"

/* ---- Compiling ------------------------------------------------------------------------------ */

/* Which law, which rows: fills system->law. */
zw_status law_read(zw_system *system, zw_error *error);
/* psi[m] of the rows that follow it becomes Phi - flex lambda. */
void law_rows(const zw_system *system, expr_id *psi);
/* What it adds to b of row r: -flex beta lambda/alpha. */
expr_id law_offset(const zw_system *system, int r);
/* What it adds to the Lagrangian and to Rayleigh's function. */
expr_id law_lagrangian(const zw_system *system);
expr_id law_rayleigh(const zw_system *system);
/* Is it linear in the speeds? Fills law.curved. */
zw_status law_curvature(zw_system *system);
/* Outputs of PART_REACTION: for each carried lambda and the coordinates of its pattern
 * alpha ((Phi_v)' - Phi_q) + beta Phi_v, accelerations included. */
zw_status law_reaction(zw_system *system, system_list *out);

/* ---- Running -------------------------------------------------------------------------------- */

/* The compliance of the rows, after solver_fill. */
void law_set_up(const zw_system *system, system_solver *solver);
/* After ZW_NOT_A_METRIC: with gamma A'A added, if rows are rigid. */
zw_status law_solve_convex(const zw_system *system, zw_work *work, zw_error *error);
/* lambda' of all that is carried, from work->push or, if loose, from the accelerations; answers
 * what it adds to the power. */
double law_rates(const zw_system *system, const zw_work *work, const double *v, const double *a,
                 double *rate);
/* After the motion is known: work->lambda for the user, and PART_REACTION. */
zw_status law_show(const zw_system *system, zw_work *work, double t, const double *q,
                   const double *v, zw_error *error);
/* The force of row r into force[n]; 0: it carries no multiplier, its force is A' push. */
int law_add_force(const zw_system *system, const zw_work *work, int r, double *force);
/* After a jump of the state: speeds are free where N is finite, and lambda is N Phi again. */
zw_status law_follow(const zw_system *system, zw_work *work, double t, const double *q, double *v,
                     zw_error *error);
/* Constraint c is loose: it has no part in the problem of accelerations. */
int law_lets_go(const zw_system *system, int c);

#endif
