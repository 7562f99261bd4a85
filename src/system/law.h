/* The laws of Kozlov (2000): nonholonomic, vakonomic, and the family between them, (15)-(18).
 *
 * A row Phi(q, v, t) = 0 with speeds restricts the speeds, but does not define the reaction.
 * Kozlov's (18) has two parameters for that:
 *
 *     [T] = F - alpha ((lambda Phi_v)' - lambda Phi_q) - beta lambda Phi_v,     Phi = 0,
 *
 * alpha = 0 being the nonholonomic law (Chetaev's), beta = 0 the vakonomic one (15). It is the
 * limit N -> oo of free systems with the added mass alpha N Phi^2/2 and the friction beta N
 * Phi^2/2, (17). With lambda = N Phi these are exactly (18), since [N Phi^2/2] = (lambda Phi_v)' -
 * lambda Phi_q, except that Phi = lambda/N in place of Phi = 0. So one system covers all: lambda is
 * part of the state, and with flex = 1/N
 *
 *     L~ = L + alpha (lambda Phi - flex lambda^2/2),     psi = Phi - flex lambda = 0.
 *
 * Its Lagrange equations, lambda being some function of time, are those of system.h with L~ for L:
 * M~ = d2L~/dv2 and force~ depend on lambda, and the terms with its rate remain:
 *
 *     M~ a = force~ + Phi_v' mu,     mu = -(alpha lambda' + beta lambda).
 *
 * So mu is the kernel's multiplier, and lambda' = -(mu + beta lambda)/alpha comes out of Gauss's
 * problem. The row is Phi_v a + D Phi = flex lambda', that is,
 *
 *     A a - (b - flex beta lambda/alpha) + flex/alpha mu = 0:
 *
 * the kernel's row with the compliance 1/(alpha N). It is not stiff or ill-conditioned for any N.
 * alpha = 0 with N finite is friction alone ("loose"): mu = -beta lambda is known, so that the row
 * is not part of Gauss's problem but follows from it,
 *
 *     M a = force - beta lambda Phi_v',     lambda' = N (A a - b).
 *
 * That is stiff, with time constants of 1/(beta N). But the stiffness does not act on errors of v,
 * as it would with N Phi in place of lambda: there round-off and step errors of v would cause
 * forces N times as large, and implicit steps fail. Here the errors of v are removed by the
 * projection onto psi = 0, as for all rows.
 *
 * M~ need not be a metric: Legendre's condition requires it to be positive only along the motions
 * that Phi admits. If it is not positive elsewhere, gamma A'A is added to it; as A a = b is given,
 * that only changes mu by gamma b. Projections are in the metric of T itself.
 *
 * Energy: E~ = v . L~_v - L~. Since lambda Phi_v . v only changes the corresponding term of E~,
 * dE~/dt = Q . v - beta lambda Phi_v . v - dL~/dt, and for Phi homogeneous in v, E~ is E + alpha N
 * Phi^2/2. Systems with holonomic rows only move alike under all laws. */
#ifndef ZW_SYSTEM_LAW_H
#define ZW_SYSTEM_LAW_H

#include "system/list.h"
#include "system/work.h"

/* ---- Compiling ------------------------------------------------------------------------------ */

/* Which law, which rows: fills system->law. */
zw_status law_read(zw_system *system, zw_error *error);
/* psi[m] of the rows that follow it becomes Phi - flex lambda. */
void law_rows(const zw_system *system, expr_id *psi);
/* The term of b of row r: -flex beta lambda/alpha. */
expr_id law_offset(const zw_system *system, int r);
/* The terms of the Lagrangian and of Rayleigh's function. */
expr_id law_lagrangian(const zw_system *system);
expr_id law_rayleigh(const zw_system *system);
/* Is it linear in the speeds? Fills law.curved. */
zw_status law_curvature(zw_system *system);
/* Outputs of PART_REACTION: for each integrated lambda and the coordinates of its pattern alpha
 * ((Phi_v)' - Phi_q) + beta Phi_v, including accelerations. */
zw_status law_reaction(zw_system *system, system_list *out);

/* ---- Running -------------------------------------------------------------------------------- */

/* The compliance of the rows, after solver_fill. */
void law_set_up(const zw_system *system, system_solver *solver);
/* After ZW_NOT_A_METRIC: with gamma A'A added, if rows are rigid. */
zw_status law_solve_convex(const zw_system *system, zw_work *work, zw_error *error);
/* lambda' of all integrated multipliers, from work->push or, if loose, from the accelerations;
 * returns its contribution to the power. */
double law_rates(const zw_system *system, const zw_work *work, const double *v, const double *a,
                 double *rate);
/* After the motion has been found: work->lambda for the user, and PART_REACTION. */
zw_status law_show(const zw_system *system, zw_work *work, double t, const double *q,
                   const double *v, zw_error *error);
/* The force of row r into force[n]; 0: its multiplier is not integrated, and its force is A'
 * push. */
int law_add_force(const zw_system *system, const zw_work *work, int r, double *force);
/* After a jump of the state: speeds are free where N is finite, and lambda is N Phi again. */
zw_status law_follow(const zw_system *system, zw_work *work, double t, const double *q, double *v,
                     zw_error *error);
/* Is constraint c loose, so that it is not part of the problem for accelerations? */
int law_is_loose(const zw_system *system, int c);

#endif
