/* The core problem: cones only, in energy units; see work.h. Every function reads and improves
 * core->r, and leaves x, w and error of the best r found. */
#ifndef ZW_GAUSS_CORE_H
#define ZW_GAUSS_CORE_H

#include <float.h>
#include <math.h>

#include "gauss/work.h"
#include "math/cone.h"

/* Round-off of a multiplier or of a sum of forces, relative; see certificate.c. */
#define CORE_GRANTED (32.0 * DBL_EPSILON)

/* Newton steps of one polish: where a failure costs little, as another proximal step and another
 * polish follow, and where it is the final attempt. Only there slowly converging steps are
 * accepted. */
enum { CORE_HASTY = 12, CORE_PATIENT = 40 };

/* Limits of one row, other than those of an inequality. */
static inline int core_is_box(const gauss_cone *cone)
{
    return cone->low != 0.0 || cone->high != HUGE_VAL;
}

/* The nearest point of the admissible set of r; p may be z. OUTSIDE: the result is
 * constant near z. */
static inline cone_side core_project(const gauss_cone *cone, const double *z, double *p)
{
    if (cone->rows > 1) {
        return cone_project(cone->rows, z, p);
    }
    int inside = cone->low <= z[0] && z[0] <= cone->high && cone->low < cone->high;
    p[0] = interval_nearest(cone->low, cone->high, z[0]);
    return inside ? CONE_INSIDE : CONE_OUTSIDE;
}

double core_granted(const gauss_core *core, double size); /* of `size`, but little beside R */

/* The caller's bound on factorisations is reached, or he wants to stop: nothing more is started,
 * and the best solution so far is used. */
int core_spent(gauss_core *core);

/* x = B' r and w = B x + c. */
void core_force(const gauss_core *core, const double *r, double *x);
void core_residual(const gauss_core *core, const double *x, double *w);

/* x = B' r, w = B x + c for the present r; the strict residual of the law. */
double core_evaluate(gauss_core *core);

/* R from core->x. */
void core_size(gauss_core *core);

/* R and the strict residual from core->x = B' r and w, where these are known. */
double core_worst(gauss_core *core, const double *r, const double *w);

/* The strict residual of any r and w, for the current R. */
double core_natural(const gauss_core *core, const double *multipliers, const double *residual);

/* The convex problem with core->shift added to the normals, by proximal steps. Returns 1 when the
 * law is solved; 0 when stuck; -1 when the multipliers diverge and prove that nothing is
 * admissible: then the workspace holds the proof. Only if `thorough`, interior points are tried
 * where proximal steps fail. */
int core_convex(gauss_core *core, int thorough);

/* The proximal steps alone, from r = 0, for the cones now in core->cone (rows of others get no
 * force): -1 when they are proved to contradict each other. */
int core_admissible(gauss_core *core);

/* conflict.c: does the direction d of multipliers, with the corresponding part of the equality
 * rows, lead to a proof that nothing is admissible? It is left in the workspace. */
int core_proves(gauss_core *core, const double *d);

typedef enum core_form { CORE_NATURAL, CORE_SPLIT } core_form;

/* Nonsmooth Newton from core->r on the current law, Coulomb's with an extra compliance `delta`;
 * with delta = 0 the result is the best point found. Returns 1 when that solves the law. */
int core_newton(gauss_core *core, core_form form, double delta, int limit);

/* Newton for the convex law, with separate x and r: newton_pair.c. */
int core_newton_pair(gauss_core *core, int limit);

/* Back to the best solution that core_newton has found for the requested law. */
void core_recall(gauss_core *core);

/* r = the multipliers after one Newton step of the convex law from (centre, w): newton_convex.c; x,
 * if not NULL, gets the motion (q + p numbers, of which the first q count). Uses v[6] and v[7]. */
void core_newton_convex(gauss_core *core, double rho, double prox, const double *centre,
                        const double *w, double *r, double *x);

/* The same step from (r, w) for the changes dr and dx (q + p numbers, of which the first q count):
 * t is the part of dx that is known already, and gets what open directions add to it. */
void core_newton_change(gauss_core *core, double rho, double prox, const double *r, const double *w,
                        double *t, double *dr, double *dx);

/* Either law by interior points, from its own start; `polish` is tried on the way. Uses keep and
 * start. Returns 1 when solved. */
int core_interior(gauss_core *core, double ridge, int (*polish)(gauss_core *core));

/* Coulomb's law: Newton from a guess, then the portfolio. Returns 1 when solved, -1 when the
 * normals alone contradict each other (the workspace holds the proof), else 0; `method` names the
 * successful method. */
int core_coulomb(gauss_core *core, int warm, int guess_only, const char **method);

#endif
